import {
  type Address,
  decodeErrorResult,
  decodeEventLog,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  parseAbi,
  parseSignature,
  serializeSignature,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { address, hash } from "#kernel/bytes";
import { localOperator } from "../../facilitator/chain/evm/index.ts";
import { type OrderTerms, orderDigest } from "../../facilitator/chain/evm/order.ts";
import type { KeyPair } from "../../src/dev/deploy.ts";
import { rpc } from "../../src/dev/rpc.ts";
import { artifact, openChain, type TestChain } from "./chain.ts";

const tokenAbi = parseAbi([
  "function mint(address, uint256)",
  "function approve(address, uint256) returns (bool)",
  "function balanceOf(address) view returns (uint256)",
  "function block(address)",
  "function unblock(address)",
  "function setMode(uint8)",
  "function setCallback(address, bytes)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);
const routerAbi = parseAbi([
  "struct Order { bytes32 paymentRef; address token; address payTo; uint256 amount; uint256 deadline; }",
  "function pay(Order order, bytes operatorSignature)",
  "function digestOf(Order order) view returns (bytes32)",
  "function operator() view returns (address)",
  "function isPaid(bytes32) view returns (bool)",
  "constructor(address operator)",
  "event PaymentReceived(bytes32 indexed paymentRef, address indexed payer, address indexed token, address payTo, uint256 amount)",
  "error OperatorMissing()",
  "error OrderExpired(uint256 deadline)",
  "error OrderNotSigned()",
  "error AlreadyPaid(bytes32 paymentRef)",
  "error AmountNotExact(uint256 amount, uint256 taken, uint256 given)",
  "error ReentrancyGuardReentrantCall()",
  "error SafeERC20FailedOperation(address token)",
  "error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error AccountBlocked(address account)",
]);
/** Modes of `OddToken`. */
const odd = { honest: 0, keepsFee: 1, takesFee: 2, saysFalse: 3, liesTrue: 4, callsBack: 5 } as const;

let chain: TestChain;
let oddToken: Address;
let payer: KeyPair;

beforeAll(async () => {
  chain = await openChain();
  oddToken = await deploy("oddToken");
}, 30_000);
afterAll(() => chain.close(), 30_000);

/** A payer per test: nobody's money or allowance is another test's. */
beforeEach(async () => {
  const privateKey = generatePrivateKey();
  payer = { privateKey, address: privateKeyToAccount(privateKey).address };
  await rpc(chain.url, "anvil_setBalance", [payer.address, "0xde0b6b3a7640000"]);
});

const usdc = () => chain.contracts.assets.USDC;
const router = () => chain.contracts.router;
const asOwner = (token: Address, functionName: "mint" | "block" | "unblock", args: readonly unknown[]) =>
  succeed(
    chain.contracts.deployer,
    token,
    encodeFunctionData({ abi: tokenAbi, functionName, args } as never),
  );
const asAnybody = (functionName: "setMode" | "setCallback", args: readonly unknown[]) =>
  succeed(
    chain.contracts.deployer,
    oddToken,
    encodeFunctionData({ abi: tokenAbi, functionName, args } as never),
  );
const balance = (token: string, of: string) =>
  chain.client.readContract({
    address: token as Address,
    abi: tokenAbi,
    functionName: "balanceOf",
    args: [of as Address],
  });
const isPaid = ({ paymentRef }: OrderTerms) =>
  chain.client.readContract({
    address: router(),
    abi: routerAbi,
    functionName: "isPaid",
    args: [paymentRef],
  });

async function succeed(from: KeyPair, to: Address | null, data: Hex) {
  const receipt = await chain.send(from, to, data);
  expect(receipt.status).toBe("success");
  return receipt;
}

async function deploy(name: "oddToken" | "paymentRouter", args: readonly unknown[] = []): Promise<Address> {
  const { abi, bytecode } = await artifact(name);
  const receipt = await succeed(chain.contracts.deployer, null, encodeDeployData({ abi, bytecode, args }));
  return receipt.contractAddress ?? "0x";
}

/** The payer holds and allows `amount`; nothing else. */
async function fund(token: Address, { holds, allows }: { holds: bigint; allows: bigint }): Promise<void> {
  await asOwner(token, "mint", [payer.address, holds]);
  const data = encodeFunctionData({ abi: tokenAbi, functionName: "approve", args: [router(), allows] });
  await succeed(payer, token, data);
}

/** An order of five units to a payee of its own, payable for an hour. */
async function orderOf(change: Partial<OrderTerms> = {}): Promise<OrderTerms> {
  const { timestamp } = await chain.client.getBlock();
  return {
    paymentRef: hash(generatePrivateKey()),
    token: address(usdc()),
    payTo: address(privateKeyToAccount(generatePrivateKey()).address),
    amount: 5n,
    deadline: timestamp + 3600n,
    ...change,
  };
}

const sign = (order: OrderTerms, at: { chainId?: number; router?: string } = {}, key?: Hex) =>
  localOperator(key ?? chain.contracts.operator.privateKey).sign(
    orderDigest({ chainId: at.chainId ?? 31337, router: address(at.router ?? router()) }, order),
  );
const payData = (order: OrderTerms, signature: Hex) =>
  encodeFunctionData({ abi: routerAbi, functionName: "pay", args: [order, signature] });

async function pay(order: OrderTerms, signature?: Hex) {
  return succeed(payer, router(), payData(order, signature ?? (await sign(order))));
}

/** What the payer's call fails with, in words; now, or in a block of that time. Null when it does not. */
async function failure(to: Address | undefined, data: Hex, time?: bigint): Promise<unknown> {
  const block = time === undefined ? ["latest"] : ["latest", {}, { time: `0x${time.toString(16)}` }];
  const params = [{ from: payer.address, to, data }, ...block];
  const said = await fetch(chain.url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params }),
  });
  const { error } = (await said.json()) as { error?: { data?: Hex } };
  if (!error) return null;
  if (!error.data) throw new Error("the node did not run the call");
  const { errorName, args = [] } = decodeErrorResult({ abi: routerAbi, data: error.data });
  return [errorName, ...args];
}

/** Pays in a real transaction that must revert, and looks that nothing has moved. */
async function refuses(order: OrderTerms, signature: Hex, error: readonly unknown[]): Promise<void> {
  const before = [await balance(order.token, payer.address), await balance(order.token, order.payTo)];
  const wasPaid = await isPaid(order);
  const data = payData(order, signature);
  expect(await failure(router(), data)).toEqual(error);
  const receipt = await chain.send(payer, router(), data);
  expect(receipt).toMatchObject({ status: "reverted", logs: [] });
  expect([await balance(order.token, payer.address), await balance(order.token, order.payTo)]).toEqual(
    before,
  );
  expect(await isPaid(order)).toBe(wasPaid);
}

describe("PaymentRouter pays", () => {
  it("exactly, once, and tells of it right behind the token's Transfer", async () => {
    await fund(usdc(), { holds: 12n, allows: 12n });
    const order = await orderOf();
    expect(await isPaid(order)).toBe(false);

    const { logs } = await pay(order);

    expect([await balance(usdc(), payer.address), await balance(usdc(), order.payTo)]).toEqual([7n, 5n]);
    expect(await balance(usdc(), router())).toBe(0n);
    expect(await isPaid(order)).toBe(true);
    expect(logs.map(({ address: emitter }) => address(emitter))).toEqual([order.token, address(router())]);
    const [moved, told] = logs;
    expect(told?.logIndex).toBe((moved?.logIndex ?? 0) + 1);
    const read = (log = moved) =>
      decodeEventLog({ abi: [...tokenAbi, ...routerAbi], ...(log ?? { topics: [], data: "0x" }) });
    const payTo = getAddress(order.payTo);
    expect(read()).toMatchObject({
      eventName: "Transfer",
      args: { from: payer.address, to: payTo, value: 5n },
    });
    expect(read(told)).toEqual({
      eventName: "PaymentReceived",
      args: { paymentRef: order.paymentRef, payer: payer.address, token: usdc(), payTo, amount: 5n },
    });
  });

  it("up to the very second of the deadline", async () => {
    await fund(usdc(), { holds: 5n, allows: 5n });
    const order = await orderOf();
    const data = payData(order, await sign(order));
    expect(await failure(router(), data, order.deadline)).toBeNull();
    expect(await failure(router(), data, order.deadline + 1n)).toEqual(["OrderExpired", order.deadline]);
  });

  it("an order that was signed again with a later deadline", async () => {
    await fund(usdc(), { holds: 5n, allows: 5n });
    const { timestamp } = await chain.client.getBlock();
    const first = await orderOf({ deadline: timestamp - 1n });
    await refuses(first, await sign(first), ["OrderExpired", first.deadline]);
    await pay({ ...first, deadline: timestamp + 3600n });
    expect(await balance(usdc(), first.payTo)).toBe(5n);
  });

  it("with any token that moves exactly", async () => {
    await asAnybody("setMode", [odd.honest]);
    await fund(oddToken, { holds: 5n, allows: 5n });
    const order = await orderOf({ token: address(oddToken) });
    await pay(order);
    expect(await balance(oddToken, order.payTo)).toBe(5n);
  });
});

describe("PaymentRouter refuses, and moves nothing for,", () => {
  beforeEach(() => fund(usdc(), { holds: 12n, allows: 12n }));

  it("a second payment of the same reference, whatever the second order says", async () => {
    const order = await orderOf();
    await pay(order);
    await refuses(order, await sign(order), ["AlreadyPaid", order.paymentRef]);
    const again = { ...order, amount: 1n, deadline: order.deadline + 1n };
    await refuses(again, await sign(again), ["AlreadyPaid", order.paymentRef]);
  });

  it.each<[string, Partial<OrderTerms>]>([
    ["reference", { paymentRef: hash(`0x${"ab".repeat(32)}`) }],
    ["payee", { payTo: address(`0x${"ab".repeat(20)}`) }],
    ["amount", { amount: 4n }],
    ["deadline", { deadline: 2n ** 40n }],
  ])("another %s than was signed", async (_, change) => {
    const order = await orderOf();
    await refuses({ ...order, ...change }, await sign(order), ["OrderNotSigned"]);
  });

  it("another token than was signed", async () => {
    const order = await orderOf();
    const other = { ...order, token: address(chain.contracts.assets.EURC) };
    await refuses(other, await sign(order), ["OrderNotSigned"]);
  });

  it("an order of another key, chain or contract", async () => {
    const order = await orderOf();
    await refuses(order, await sign(order, {}, payer.privateKey), ["OrderNotSigned"]);
    await refuses(order, await sign(order, { chainId: 1 }), ["OrderNotSigned"]);
    await refuses(order, await sign(order, { router: usdc() }), ["OrderNotSigned"]);
  });

  it("bytes that are no signature, and the malleable twin of one", async () => {
    const order = await orderOf();
    const { r, s, yParity } = parseSignature(await sign(order));
    const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const twin = serializeSignature({
      r,
      s: `0x${(n - BigInt(s)).toString(16).padStart(64, "0")}`,
      yParity: 1 - yParity,
    });
    for (const bytes of ["0x", `0x${"00".repeat(65)}`, `0x${"ff".repeat(65)}`, twin] as const)
      await refuses(order, bytes, ["OrderNotSigned"]);
  });

  it("an expired order", async () => {
    const { timestamp } = await chain.client.getBlock();
    const order = await orderOf({ deadline: timestamp - 1n });
    await refuses(order, await sign(order), ["OrderExpired", order.deadline]);
  });

  it("a payer who allowed too little, has too little, or is blocked", async () => {
    const dear = await orderOf({ amount: 13n });
    await refuses(dear, await sign(dear), ["ERC20InsufficientAllowance", router(), 12n, 13n]);
    await fund(usdc(), { holds: 0n, allows: 13n });
    await refuses(dear, await sign(dear), ["ERC20InsufficientBalance", payer.address, 12n, 13n]);
    const order = await orderOf();
    await asOwner(usdc(), "block", [payer.address]);
    await refuses(order, await sign(order), ["AccountBlocked", payer.address]);
  });

  it("a payer who is the payee: nothing would move", async () => {
    const order = await orderOf({ payTo: address(payer.address) });
    await refuses(order, await sign(order), ["AmountNotExact", 5n, 0n, 0n]);
  });

  it("an address without a contract in place of a token", async () => {
    const nobody = privateKeyToAccount(generatePrivateKey()).address;
    const order = await orderOf({ token: address(nobody) });
    const data = payData(order, await sign(order));
    const receipt = await chain.send(payer, router(), data);
    expect(receipt).toMatchObject({ status: "reverted", logs: [] });
    expect(await isPaid(order)).toBe(false);
  });
});

describe("PaymentRouter does not fall for a token that", () => {
  beforeEach(() => fund(oddToken, { holds: 12n, allows: 12n }));

  it.each<[string, number, (token: Address) => readonly unknown[]]>([
    ["gives the payee less", odd.keepsFee, () => ["AmountNotExact", 5n, 5n, 4n]],
    ["takes more of the payer", odd.takesFee, () => ["AmountNotExact", 5n, 6n, 5n]],
    ["says false", odd.saysFalse, (token) => ["SafeERC20FailedOperation", getAddress(token)]],
    ["says true and moves nothing", odd.liesTrue, () => ["AmountNotExact", 5n, 0n, 0n]],
  ])("%s", async (_, mode, error) => {
    await asAnybody("setMode", [mode]);
    const order = await orderOf({ token: address(oddToken) });
    await refuses(order, await sign(order), error(oddToken));
  });

  it("pays another order in the middle of a payment", async () => {
    await asAnybody("setMode", [odd.callsBack]);
    const [order, inner] = [await orderOf({ token: address(oddToken) }), await orderOf()];
    await asAnybody("setCallback", [router(), payData(inner, await sign(inner))]);
    await refuses(order, await sign(order), ["ReentrancyGuardReentrantCall"]);
    expect(await isPaid(inner)).toBe(false);
  });
});

describe("PaymentRouter's own word", () => {
  it("names its operator and gives the digest that the operator signs", async () => {
    const order = await orderOf();
    const read = (functionName: "operator" | "digestOf", args: readonly unknown[] = []) =>
      chain.client.readContract({ address: router(), abi: routerAbi, functionName, args } as never);
    expect(await read("operator")).toBe(chain.contracts.operator.address);
    expect(await read("digestOf", [order])).toBe(
      orderDigest({ chainId: 31337, router: address(router()) }, order),
    );
  });

  it("has to have an operator", async () => {
    const { abi, bytecode } = await artifact("paymentRouter");
    const args = [`0x${"00".repeat(20)}`];
    expect(await failure(undefined, encodeDeployData({ abi, bytecode, args }))).toEqual(["OperatorMissing"]);
  });
});
