/** Orders that are paid by plain transfers or through the router, and somebody who books what reaches them. */
import { encodeFunctionData, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Arrival, DepositOrder, OpenedOrder } from "#facilitator";
import { type Address, address, fromBytes, type Hash, type Hex } from "#kernel/bytes";
import { keccak256 } from "#kernel/keccak";
import { type Deposit, post, templates, trialBalance } from "#ledger";
import type { Tx } from "#store";
import { orderDigest } from "../../facilitator/chain/evm/order.ts";
import type { TestDatabase } from "./db.ts";
import type { DevChain } from "./dev-chain.ts";
import { newPayer, type Payer, type RunningHouse, rowOf } from "./house.ts";

export interface DepositPlace extends RunningHouse {
  readonly dev: DevChain;
  readonly database: TestDatabase;
}

/** Where orders are opened and taken: also a made-up chain's world. */
export interface OrderPlace {
  readonly database: TestDatabase;
  readonly house: Pick<RunningHouse["house"], "facilitator">;
}

export interface TestOrder extends DepositOrder, OpenedOrder {}

let count = 0;

/** An order of 1 USDC by an address of its own, unless told otherwise. */
export async function openOrder(
  { house, database }: OrderPlace,
  over: Partial<DepositOrder> = {},
): Promise<TestOrder> {
  const order = newOrder(over);
  const opened = await database.db.tx((tx) => house.facilitator.deposits.open(tx, order));
  return { ...order, ...opened };
}

export function newOrder(over: Partial<DepositOrder> = {}): DepositOrder {
  count += 1;
  return {
    orderId: `ord_${count}`,
    merchantId: "mer_orders",
    subject: `clr_${count}`,
    path: "deposit-match",
    chain: "local",
    asset: "USDC",
    amount: 1_000_000n,
    paymentRef: referenceOf(`pi_${count}`),
    expiresAt: new Date(Date.now() + 900_000),
    ...over,
  };
}

export function referenceOf(intentId: string): Hash {
  return fromBytes(keccak256(Buffer.from(intentId, "utf8"))) as Hash;
}

export const arrivalsOf = ({ house, database }: OrderPlace, subject: string): Promise<readonly Arrival[]> =>
  house.facilitator.deposits.arrivals(database.db.pool, [subject]);

/** Books what reached one order (or what of it `isDue`) for its clearing as soon as it is mined, and takes back what left
 *  the chain. Deposits of another asset than the order's go to unmatched. */
export function taker(
  { house, database }: OrderPlace,
  { subject, path, asset }: TestOrder,
  isDue: (arrival: Arrival) => boolean = () => true,
) {
  const booked = new Map<string, Deposit>();
  const keyOf = ({ txHash, ordinal }: Pick<Arrival, "txHash" | "ordinal">) => `${txHash}:${ordinal}`;
  const depositOf = ({ amount, ...arrival }: Arrival): Deposit => ({
    ...arrival,
    path,
    asset: `${arrival.asset}@${arrival.chain}`,
    clearingId: subject,
    toClearing: arrival.asset === asset ? amount : 0n,
    toOverpayment: 0n,
    toUnmatched: arrival.asset === asset ? 0n : amount,
  });
  async function turnIn(tx: Tx) {
    const { arrivals, take } = house.facilitator.deposits;
    const seen = await arrivals(tx, [subject]);
    const now = new Map(seen.filter(({ isCanonical }) => isCanonical).map((a) => [keyOf(a), a]));
    const gone = [...booked].filter(([key, { blockHash, booking }]) => {
      const arrival = now.get(key);
      return arrival?.blockHash !== blockHash || arrival.booking !== booking;
    });
    await post(
      tx,
      gone.map(([, deposit]) => templates.depositReversed(deposit)),
    );
    for (const [key] of gone) booked.delete(key);
    const fresh = [...now.values()].filter((arrival) => !arrival.isTaken && isDue(arrival));
    await take(tx, fresh);
    await post(
      tx,
      fresh.map((arrival) => templates.depositReceived(depositOf(arrival))),
    );
    for (const arrival of fresh) booked.set(keyOf(arrival), depositOf(arrival));
    return { booked: fresh.length, takenBack: gone.length };
  }
  return {
    /** One turn. Resolves with how many were booked and taken back. */
    turn: () => database.db.tx(turnIn),
    /** The same in a transaction that does more. */
    turnIn,
  };
}

const routerAbi = parseAbi([
  "function pay((bytes32 paymentRef, address token, address payTo, uint256 amount, uint256 deadline) order, bytes operatorSignature)",
]);
const tokenAbi = parseAbi([
  "function approve(address spender, uint256 value)",
  "function transfer(address to, uint256 value)",
]);

/** Pays an order through the router, with the payer's own two transactions. */
export async function payThroughRouter(
  { dev }: DepositPlace,
  payer: Payer,
  { paymentRef, token, payTo, amount, deadline, signature }: Omit<TestOrder, "orderId" | "subject">,
): Promise<Hash> {
  const { router } = dev.contracts;
  const approval = encodeFunctionData({ abi: tokenAbi, functionName: "approve", args: [router, amount] });
  const terms = { paymentRef, token, payTo, amount, deadline };
  const payment = encodeFunctionData({ abi: routerAbi, functionName: "pay", args: [terms, signature] });
  await dev.anvil.rpc("anvil_setBalance", [payer.address, "0xde0b6b3a7640000"]);
  await dev.transact(payer.address, { to: token, data: approval });
  return (await dev.transact(payer.address, { to: router, data: payment })) as Hash;
}

export function digestFor({ dev }: DepositPlace, order: TestOrder): Hash {
  const { chainId, router } = rowOf(dev);
  return orderDigest({ chainId, router }, order);
}

/** Calldata of a plain transfer. */
export function transferData(to: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: tokenAbi, functionName: "transfer", args: [to, amount] });
}

/** A fresh payer's own transfer of dev USDC, so that the very same bytes can be sent again. */
export async function signedTransfer(
  { dev }: Pick<DepositPlace, "dev">,
  to: string,
  amount: bigint,
): Promise<Hex> {
  const payer = await newPayer(dev, amount);
  await dev.anvil.rpc("anvil_setBalance", [payer.address, "0xde0b6b3a7640000"]);
  return privateKeyToAccount(payer.key).signTransaction({
    ...{ type: "eip1559", chainId: dev.anvil.chainId, nonce: 0, gas: 200_000n },
    ...{ maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1n },
    ...{ to: dev.usdc, data: transferData(address(to), amount) },
  });
}

/** What the books say lies on deposit addresses, posted and pending, in atomic units of dev USDC. */
export async function onDepositAddresses({ database }: DepositPlace, asset = "USDC@local") {
  const accounts = await trialBalance(database.db.pool);
  const found = accounts.find((row) => row.path === "asset:deposit:local" && row.asset === asset);
  return found ? found.posted + found.pending : 0n;
}

export interface SweepRecord {
  readonly seq: number;
  readonly open: boolean;
  readonly state: string;
  readonly amount: string;
  readonly included_tx: Hash | null;
  readonly claim_id: string;
}

/** Sweeps of an address, oldest first. */
export function sweepsOf(
  { database }: Pick<OrderPlace, "database">,
  address: Address,
): Promise<SweepRecord[]> {
  return database.query<SweepRecord>(
    `SELECT sweep.seq, sweep.open, claim.state, claim.amount, claim.id AS claim_id,
       '0x' || encode(claim.included_tx, 'hex') AS included_tx
     FROM sweep JOIN claim ON claim.claim_key = sweep.claim_key
     WHERE sweep.address = decode($1, 'hex') ORDER BY sweep.seq`,
    [address.slice(2)],
  );
}
