import { createSiweMessage, parseSiweMessage } from "viem/siwe";
import { describe, expect, it } from "vitest";
import { systemRandom } from "#kernel/system";
import { noncesOf, signInText } from "../../../api/refund/siwe.ts";

const at = new Date("2026-08-11T09:30:00.000Z");
const later = new Date("2026-08-11T09:45:00.000Z");
const account = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" as const;
const nonces = noncesOf("a master secret", systemRandom);

describe("the sign-in message", () => {
  it.each(["https://pay.example", "http://127.0.0.1:4020", "http://localhost:4020"])(
    "is what a foreign library writes and reads, at %s",
    (baseUrl) => {
      const nonce = nonces.make("pi_1", at);
      const statement = `Send the refund of 10.00 USDC on local to ${account}.`;
      const text = signInText({
        ...{ baseUrl, path: "/checkout/pi_1/refund", account, statement, chainId: 31337, nonce },
        ...{ issuedAt: at, expiresAt: later },
      });
      const fields = {
        address: account,
        chainId: 31337,
        domain: new URL(baseUrl).host,
        issuedAt: at,
        expirationTime: later,
        nonce,
        statement,
        uri: `${baseUrl}/checkout/pi_1/refund`,
        version: "1" as const,
      };
      expect(text).toBe(createSiweMessage(fields));
      expect(parseSiweMessage(text)).toMatchObject(fields);
    },
  );
});

describe("a nonce", () => {
  it("says when it was made, to who made it and for what it was made", () => {
    const nonce = nonces.make("pi_1", at);
    expect(nonces.madeAt("pi_1", nonce)).toEqual(at);
    expect(noncesOf("a master secret", systemRandom).madeAt("pi_1", nonce)).toEqual(at);
    expect(nonces.madeAt("pi_2", nonce)).toBeNull();
    expect(noncesOf("another", systemRandom).madeAt("pi_1", nonce)).toBeNull();
    expect(nonces.make("pi_1", at)).not.toBe(nonce);
  });

  it("is nobody's with one letter changed, or of another form", () => {
    const nonce = nonces.make("pi_1", at);
    for (let i = 0; i < nonce.length; i += 1) {
      const letter = nonce[i] === "0" ? "1" : "0";
      expect(nonces.madeAt("pi_1", nonce.slice(0, i) + letter + nonce.slice(i + 1))).toBeNull();
    }
    for (const other of ["", nonce.slice(1), `${nonce}0`, nonce.toUpperCase(), "é".repeat(60)])
      expect(nonces.madeAt("pi_1", other)).toBeNull();
  });
});
