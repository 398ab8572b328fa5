/** The payer's side: a person's wallet on the first two rails, an agent's on the third. */
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { type Chain, createWalletClient, defineChain, erc20Abi, http, parseAbi, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { walletOf } from "../demo/agent.ts";
import type { Deployment } from "../demo/deployment.ts";
import type { Position } from "./merchant.ts";

function walletClient({ chain, payer }: Deployment) {
  const local: Chain = defineChain({
    id: Number(chain.network.split(":")[1]),
    name: "local",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [chain.rpcUrl] } },
  });
  const account = privateKeyToAccount(payer.privateKey);
  return createWalletClient({ account, chain: local, transport: http(chain.rpcUrl) }).extend(publicActions);
}

/** A plain transfer to the payment's own address, as any wallet or exchange makes one. */
export async function payByTransfer(
  deployment: Deployment,
  { deposit }: Position,
  atomic: bigint,
): Promise<void> {
  const wallet = walletClient(deployment);
  const hash = await wallet.writeContract({
    address: deployment.chain.assets.USDC,
    abi: erc20Abi,
    functionName: "transfer",
    args: [deposit?.address as `0x${string}`, atomic],
  });
  await wallet.waitForTransactionReceipt({ hash });
}

const routerAbi = parseAbi([
  "struct Order { bytes32 paymentRef; address token; address payTo; uint256 amount; uint256 deadline; }",
  "function pay(Order order, bytes signature)",
]);
interface SignedOrder {
  readonly router: `0x${string}`;
  readonly order: {
    readonly paymentRef: `0x${string}`;
    readonly token: `0x${string}`;
    readonly payTo: `0x${string}`;
    readonly amount: string;
    readonly deadline: string;
  };
  readonly signature: `0x${string}`;
}

/** Through the router: the order that Farebox signed, exactly, or nothing. */
export async function payByRouter(deployment: Deployment, intentId: string): Promise<void> {
  const response = await fetch(`${deployment.baseUrl}/checkout/${intentId}/order`);
  if (!response.ok) throw new Error(`the order: ${response.status} ${await response.text()}`);
  const { router, order, signature } = (await response.json()) as SignedOrder;
  const wallet = walletClient(deployment);
  const amount = BigInt(order.amount);
  const approval = await wallet.writeContract({
    address: order.token,
    abi: erc20Abi,
    functionName: "approve",
    args: [router, amount],
  });
  await wallet.waitForTransactionReceipt({ hash: approval });
  const hash = await wallet.writeContract({
    address: router,
    abi: routerAbi,
    functionName: "pay",
    args: [{ ...order, amount, deadline: BigInt(order.deadline) }, signature],
  });
  await wallet.waitForTransactionReceipt({ hash });
}

/** An agent pays the intent's URL with the stock client. */
export async function payByAgent(deployment: Deployment, intentId: string): Promise<void> {
  const pay = wrapFetchWithPaymentFromConfig(fetch, walletOf(deployment));
  const response = await pay(`${deployment.baseUrl}/x402/payables/${intentId}`);
  if (!response.ok) throw new Error(`the agent's payment: ${response.status} ${await response.text()}`);
}
