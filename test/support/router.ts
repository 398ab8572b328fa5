/** Orders and their payments through the payment router of the test chain. */
import { randomBytes } from "node:crypto";
import { encodeFunctionData, parseAbi } from "viem";
import { type Address, address, fromBytes, type Hash, type Hex, hash } from "#kernel/bytes";
import { localOperator } from "../../facilitator/chain/evm/index.ts";
import { type OrderTerms, orderDigest } from "../../facilitator/chain/evm/order.ts";
import type { Call } from "../../facilitator/chain/port.ts";
import type { DevChain } from "./dev-chain.ts";

const abi = parseAbi([
  "struct Order { bytes32 paymentRef; address token; address payTo; uint256 amount; uint256 deadline; }",
  "function pay(Order order, bytes operatorSignature)",
  "function approve(address, uint256) returns (bool)",
]);

/** An order of five atomic units of dev USDC to the treasury, payable for an hour. */
export function newOrder({ usdc, contracts }: DevChain, change: Partial<OrderTerms> = {}): OrderTerms {
  return {
    paymentRef: hash(fromBytes(randomBytes(32))),
    token: usdc,
    payTo: address(contracts.treasury.address),
    amount: 5n,
    deadline: BigInt(Math.floor(Date.now() / 1000) + 3600),
    ...change,
  };
}

/** The operator's signature over an order, for the chain's router. */
export function signOrder({ contracts, anvil }: DevChain, order: OrderTerms): Promise<Hex> {
  const at = { chainId: anvil.chainId, router: address(contracts.router) };
  return localOperator(contracts.operator.privateKey).sign(orderDigest(at, order));
}

/** The call by which a wallet pays an order that it was shown. */
export function routerCall({ contracts }: DevChain, order: OrderTerms, signature: Hex): Call {
  const data = encodeFunctionData({ abi, functionName: "pay", args: [order, signature] });
  return { to: address(contracts.router), data };
}

/** Gives an account gas, and the router an allowance of everything it has. */
export async function allowRouter(dev: DevChain, payer: Address, token: Address = dev.usdc): Promise<void> {
  await dev.anvil.rpc("anvil_setBalance", [payer, "0xde0b6b3a7640000"]);
  const args = [dev.contracts.router, 2n ** 255n] as const;
  await dev.transact(payer, { to: token, data: encodeFunctionData({ abi, functionName: "approve", args }) });
}

/** Pays an order through the router as a wallet does, allowance first; the hash of the mined payment. */
export async function payOrder(
  dev: DevChain,
  payer: Address,
  { order, signature }: { readonly order: OrderTerms; readonly signature: Hex },
): Promise<Hash> {
  await allowRouter(dev, payer, order.token);
  return hash(await dev.transact(payer, routerCall(dev, order, signature)));
}
