import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ExactEvmSchemeV1 } from "@x402/evm/exact/v1/client";
import fc from "fast-check";
import { hashTypedData, recoverTypedDataAddress } from "viem";
import { describe, expect, it } from "vitest";
import { type Address, address, checksum, type Hex } from "#kernel/bytes";
import { exactEvm } from "../../../../facilitator/scheme/exact-evm/exact-evm.ts";
import type { Authorization } from "../../../../facilitator/scheme/port.ts";
import { account, domain, formsOf, sign, stranger, typedData, unsigned } from "../samples.ts";

const forms = formsOf(await sign(unsigned));
const digest = hashTypedData(typedData(domain, unsigned));

function check(signature: Hex, authorization: Partial<Authorization> = {}, over = domain) {
  return exactEvm.checkSignature(over, { ...unsigned, ...authorization, signature });
}

describe("a signature of the payer's key", () => {
  it.each(["canonical", "bare", "compact"] as const)("%s: recovers, and comes back as 65 bytes", (form) => {
    expect(check(forms[form])).toEqual({ kind: "recovered", signature: forms.canonical });
  });

  it("recovers with either parity", async () => {
    const seen = new Set<number>();
    for (let value = 1n; seen.size < 2; value++) {
      const { recovery, bare, compact } = formsOf(await sign({ ...unsigned, value }));
      expect(check(bare, { value }).kind).toBe("recovered");
      expect(check(compact, { value }).kind).toBe("recovered");
      seen.add(recovery);
    }
    expect([...seen].sort()).toEqual([0, 1]);
  });

  it("recovers to the address that viem recovers", async () => {
    const recovered = await recoverTypedDataAddress({
      ...typedData(domain, unsigned),
      signature: forms.canonical,
    });
    expect(check(forms.canonical, { payer: address(recovered) }).kind).toBe("recovered");
  });

  it("with a high s is refused", () => {
    expect(check(forms.high)).toMatchObject({
      kind: "refused",
      refusal: { reason: "invalid_exact_evm_signature" },
    });
  });
});

describe("a signature that is not the payer's", () => {
  const onlyCodeCanTell = { kind: "contract-or-forged", digest };

  it("by another key: only code at the payer's address can make it right", async () => {
    expect(check(formsOf(await sign(unsigned, stranger)).canonical)).toEqual(onlyCodeCanTell);
  });
  it("with the wrong parity", () => {
    expect(check(forms.full(28 - forms.recovery))).toEqual(onlyCodeCanTell);
  });
  it.each([
    ["cut short by a byte", forms.canonical.slice(0, -4)],
    ["cut to half", forms.canonical.slice(0, 66)],
    ["one byte longer", `${forms.canonical}00`],
    ["with a strange v", forms.full(31)],
    ["of zeros", `0x${"00".repeat(65)}`],
  ])("%s", (_name, signature) => {
    expect(check(signature as Hex)).toEqual(onlyCodeCanTell);
  });
  it("wrapped for an undeployed wallet: refused", () => {
    expect(check(`${forms.canonical}${"6492".repeat(16)}`)).toMatchObject({
      kind: "refused",
      refusal: { reason: "eip6492_factory_not_allowed" },
    });
  });

  it("over any field that was changed afterwards", () => {
    const changes: readonly Partial<Authorization>[] = [
      { payer: unsigned.payTo },
      { payTo: unsigned.payer },
      { value: unsigned.value + 1n },
      { validAfter: 1n },
      { validBefore: unsigned.validBefore + 1n },
      { nonce: `0x${"a8".repeat(32)}` as Authorization["nonce"] },
    ];
    for (const change of changes) expect(check(forms.canonical, change).kind).toBe("contract-or-forged");
  });
  it("over any other domain", () => {
    const others = [
      { name: "USDC" },
      { version: "1" },
      { chainId: 1 },
      { verifyingContract: unsigned.payTo },
    ];
    for (const other of others) {
      expect(check(forms.canonical, {}, { ...domain, ...other }).kind).toBe("contract-or-forged");
    }
  });
  it("whatever single bit was flipped", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 511 }), (bit) => {
        const bytes = Buffer.from(forms.canonical.slice(2), "hex");
        bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(check(`0x${bytes.toString("hex")}`).kind).not.toBe("recovered");
      }),
      { numRuns: 60 },
    );
  });
});

describe("what the stock client signs", () => {
  const requirements = {
    scheme: "exact",
    network: "eip155:31337" as const,
    amount: "1500000",
    asset: checksum(domain.verifyingContract),
    payTo: checksum(unsigned.payTo),
    maxTimeoutSeconds: 60,
    extra: { name: domain.name, version: domain.version },
  };

  it("v2: reads, recovers and names what was asked", async () => {
    const { payload } = await new ExactEvmScheme(account).createPaymentPayload(2, requirements);
    const authorization = readable(payload);
    expect(authorization).toMatchObject({ payer: unsigned.payer, payTo: unsigned.payTo, value: 1_500_000n });
    expect(exactEvm.checkSignature(domain, authorization).kind).toBe("recovered");
  });

  it("v2 with a Permit2 option: is answered as a method that is not offered", async () => {
    const extra = { ...requirements.extra, assetTransferMethod: "permit2" };
    const { payload } = await new ExactEvmScheme(account).createPaymentPayload(2, { ...requirements, extra });
    expect(exactEvm.read(payload)).toMatchObject({ reason: "unsupported_payload_type" });
  });

  it("v1: reads and recovers all the same", async () => {
    const overSepolia = { ...domain, chainId: 84_532 };
    const v1 = {
      ...requirements,
      network: "base-sepolia",
      maxAmountRequired: "1500000",
      resource: "https://a.test/b",
    };
    const { payload } = await new ExactEvmSchemeV1(account).createPaymentPayload(1, v1 as never);
    expect(exactEvm.checkSignature(overSepolia, readable(payload)).kind).toBe("recovered");
  });

  function readable(payload: unknown): Authorization {
    const read = exactEvm.read(payload);
    if ("reason" in read) throw new Error(read.message);
    return read;
  }
});

it("the nonces of an EIP-3009 authorization are kept by its token", () => {
  const token: Address = domain.verifyingContract;
  expect(exactEvm.nonceDomain(token)).toBe(token);
  expect(exactEvm.digest(domain, { ...unsigned, signature: forms.bare })).toBe(digest);
});
