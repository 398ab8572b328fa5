import { encodeAbiParameters, keccak256, recoverAddress, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { address, hash } from "#kernel/bytes";
import { localOperator } from "../../../../facilitator/chain/evm/index.ts";
import { type OrderTerms, orderDigest } from "../../../../facilitator/chain/evm/order.ts";

const key = `0x${"42".repeat(32)}` as const;
const router = address(`0x${"ab".repeat(20)}`);
const order: OrderTerms = {
  paymentRef: hash(keccak256(stringToHex("pi_01K2C0Z0000000000000000000"))),
  token: address("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"),
  payTo: address(`0x${"cd".repeat(20)}`),
  amount: 49_990_000n,
  deadline: 1_786_000_000n,
};
const at = { chainId: 8453, router };

/** EIP-712 written out, from its text rather than from a library. */
function written(verifyingContract: string): string {
  const word = (type: string) => ({ type });
  const text = (value: string) => keccak256(stringToHex(value));
  const domain = encodeAbiParameters(["bytes32", "bytes32", "bytes32", "uint256", "address"].map(word), [
    text("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
    text("Farebox"),
    text("1"),
    8453n,
    verifyingContract,
  ]);
  const struct = encodeAbiParameters(
    ["bytes32", "bytes32", "address", "address", "uint256", "uint256"].map(word),
    [
      text("Order(bytes32 paymentRef,address token,address payTo,uint256 amount,uint256 deadline)"),
      ...Object.values(order),
    ],
  );
  return keccak256(`0x1901${keccak256(domain).slice(2)}${keccak256(struct).slice(2)}`);
}

describe("orderDigest", () => {
  it("is the order's EIP-712 digest for its router, or for no contract", () => {
    expect(orderDigest(at, order)).toBe(written(router));
    expect(orderDigest({ ...at, router: null }, order)).toBe(written(`0x${"00".repeat(20)}`));
  });

  it.each<[string, Partial<OrderTerms>]>([
    ["reference", { paymentRef: hash(`0x${"01".repeat(32)}`) }],
    ["token", { token: router }],
    ["payee", { payTo: router }],
    ["amount", { amount: order.amount + 1n }],
    ["deadline", { deadline: order.deadline + 1n }],
  ])("is another for another %s", (_, change) => {
    expect(orderDigest(at, { ...order, ...change })).not.toBe(orderDigest(at, order));
  });

  it("is another on another chain", () => {
    expect(orderDigest({ ...at, chainId: 1 }, order)).not.toBe(orderDigest(at, order));
  });
});

describe("localOperator", () => {
  it("signs a digest as the key's account", async () => {
    const operator = localOperator(key);
    const digest = orderDigest(at, order);
    const signature = await operator.sign(digest);
    expect(signature).toHaveLength(2 + 130);
    expect(address(await recoverAddress({ hash: digest, signature }))).toBe(operator.address);
    expect(operator.address).toBe(privateKeyToAccount(key).address.toLowerCase());
  });
});
