import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { problemOf, proofKey } from "../../../api/documents/proof.ts";
import type { SettlementProof } from "../../../api/documents/schema.ts";

const key = proofKey("a master secret");
const proof: SettlementProof = {
  version: 1,
  paymentIntentId: "pi_01K2C0Z0000000000000000000",
  clearingTransactionId: "clr_01K2C0Z0000000000000000000",
  merchant: { id: "mer_01K2C0Z0000000000000000000", name: "Café Ünïcode ☕" },
  merchantReference: null,
  amount: { amount: "49.99", asset: "USD" },
  settlementAmount: { amount: "49.990000", asset: "USDC" },
  fee: { amount: "0.249950", asset: "USDC" },
  netAmount: { amount: "49.740050", asset: "USDC" },
  chain: "local",
  network: "eip155:31337",
  token: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  transfers: [
    {
      transactionHash: `0x${"ab".repeat(32)}`,
      logIndex: 3,
      blockNumber: 17,
      blockHash: `0x${"cd".repeat(32)}`,
      from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
      amount: "49990000",
    },
  ],
  ledgerEntryId: "je_01K2C0Z0000000000000000000",
  completedAt: "2026-08-11T09:30:00.000Z",
};
const signed = key.sign(proof);

describe("a settlement proof", () => {
  it("holds as it was signed, whatever the order of its fields", () => {
    const turned = Object.fromEntries(Object.entries(signed.proof).reverse());
    expect(problemOf(signed, key.publicKey)).toBeNull();
    expect(problemOf({ ...signed, proof: turned }, null)).toBeNull();
  });

  it("is the same each time, and each master secret has a key of its own", () => {
    expect(proofKey("a master secret").sign(proof)).toEqual(signed);
    expect(proofKey("another").publicKey).not.toBe(key.publicKey);
  });

  it("fails when any byte of it is another", () => {
    const text = JSON.stringify(signed);
    const anywhere = fc.record({
      place: fc.integer({ min: 0, max: text.length - 1 }),
      char: fc.constantFrom("0", "1", "a", "Z", "/", " "),
    });
    fc.assert(
      fc.property(anywhere, ({ place, char }) => {
        const changed = `${text.slice(0, place)}${char}${text.slice(place + 1)}`;
        const read = parsed(changed);
        if (read === undefined || JSON.stringify(read) === text) return;
        expect(problemOf(read, key.publicKey)).not.toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });

  it("fails with a field more or less", () => {
    expect(problemOf({ ...signed, proof: { ...proof, extra: true } }, null)).toBe("digest-differs");
    const { merchantReference: _, ...less } = proof;
    expect(problemOf({ ...signed, proof: less }, null)).toBe("not-a-proof");
    expect(problemOf({}, null)).toBe("not-a-proof");
    expect(problemOf(null, null)).toBe("not-a-proof");
  });

  it("says when another key signed it, and when nobody did", () => {
    const other = proofKey("another").sign(proof);
    expect(problemOf(other, key.publicKey)).toBe("other-key");
    expect(problemOf({ ...signed, signature: other.signature }, null)).toBe("bad-signature");
    expect(problemOf({ ...signed, publicKey: "AAAA" }, null)).toBe("bad-signature");
    expect(problemOf({ ...signed, publicKey: other.publicKey }, null)).toBe("bad-signature");
  });
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
