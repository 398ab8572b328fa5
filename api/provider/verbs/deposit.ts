import { and, desc, eq } from "drizzle-orm";
import type { Facilitator } from "#facilitator";
import { address, fromBytes, hash } from "#kernel/bytes";
import type { Clock } from "#kernel/clock";
import type { Fault } from "#kernel/fault";
import { keccak256 } from "#kernel/keccak";
import { errorFields } from "#kernel/log";
import type { Money } from "#kernel/money";
import type { Executor } from "#store";
import { clearingDeposit, clearingOrder } from "../../clearing/tables.ts";
import { type ClearingRow, findPayment } from "../../clearing/verbs/payment.ts";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { parseAmount, presentAmount } from "../../http/money.ts";
import { ProviderProblem } from "../port.ts";
import type { Sandbox } from "../sandbox.ts";
import type { SimulatedDeposit, SimulatedDepositInput } from "../schema.ts";

export interface Payer extends Pick<Sandbox, "chain" | "provider"> {
  readonly facilitator: Pick<Facilitator, "rails">;
  /** The machine's. */
  readonly clock: Clock;
}
/** Whose payment it is, and where that is kept. */
type Scope = Pick<MerchantCtx, "db" | "merchantId">;
type OrderRow = typeof clearingOrder.$inferSelect;
/** What will be done, once it is found possible. */
interface Plan {
  readonly money: Money;
  /** The transaction's hash; null where there is none. */
  carryOut(): Promise<string | null>;
}

/** Pays as a payer would: tokens to the order's address, a call of the router, or the provider's own payer. With a delay
 *  it is done later, by this process, and forgotten when that ends. Faults: `not_found`, `simulation_impossible`,
 *  `chain_unavailable`. */
export async function simulateDeposit(
  payer: Payer,
  { ctx, input }: Call<SimulatedDepositInput>,
): Promise<SimulatedDeposit> {
  ctx.demand("merchant:manage");
  const plan = await planOf(payer, ctx, input);
  const about = { paymentId: input.paymentId, amount: presentAmount(plan.money), delay: input.delay };
  if (input.delay === 0) return { ...about, transactionHash: await plan.carryOut() };
  void payer.clock
    .sleep(input.delay * 1_000)
    .then(() => plan.carryOut())
    .catch((error: unknown) =>
      ctx.log.warn({ payment: input.paymentId, ...errorFields(error) }, "a simulated deposit was not made"),
    );
  return { ...about, transactionHash: null };
}

/** Pays at once what is still missing of a payment, for the button of its page: who may see the page may press it.
 *  Faults: as above. */
export async function payMissing(
  payer: Payer,
  scope: Scope,
  input: Pick<SimulatedDepositInput, "paymentId">,
): Promise<void> {
  const plan = await planOf(payer, scope, input);
  await plan.carryOut();
}

async function planOf(
  payer: Payer,
  ctx: Scope,
  input: Pick<SimulatedDepositInput, "paymentId" | "amount">,
): Promise<Plan> {
  const { clearing: paid } = await findPayment(ctx.db.pool, ctx.merchantId, input.paymentId);
  if (!paid) throw impossible("this payment was not confirmed, so there is nothing to pay to");
  const asked = input.amount ? parseAmount(input.amount, "/amount") : null;
  if (paid.provider !== "evm") return planAtProvider(payer, paid, asked);
  const order = await liveOrder(ctx.db.pool, paid);
  if (!order) throw impossible("this payment takes no deposits");
  if (order.path === "on-chain-contract") return planThroughRouter(payer, paid, order, asked);
  const money = asked ?? { amount: await missing(ctx.db.pool, order), asset: order.asset };
  const token = tokenOf(payer, order.chain, money.asset);
  const { chain } = payer;
  return { money, carryOut: () => chain.transfer({ token, to: order.address, amount: money.amount }) };
}

async function liveOrder(db: Executor, { merchantId, id }: ClearingRow): Promise<OrderRow | undefined> {
  const [row] = await db
    .select()
    .from(clearingOrder)
    .where(and(eq(clearingOrder.merchantId, merchantId), eq(clearingOrder.clearingId, id)))
    .orderBy(desc(clearingOrder.seq))
    .limit(1);
  return row;
}

/** What the order has not been sent yet; all of it again once it is paid. */
async function missing(db: Executor, order: OrderRow): Promise<bigint> {
  const rows = await db
    .select({ amount: clearingDeposit.amount, asset: clearingDeposit.asset, status: clearingDeposit.status })
    .from(clearingDeposit)
    .where(and(eq(clearingDeposit.merchantId, order.merchantId), eq(clearingDeposit.orderId, order.id)));
  const came = rows
    .filter(({ asset, status }) => asset === order.asset && status !== "orphaned")
    .reduce((total, { amount }) => total + amount, 0n);
  return came < order.amount ? order.amount - came : order.amount;
}

function planThroughRouter(
  { chain }: Payer,
  { intentId }: ClearingRow,
  order: OrderRow,
  asked: Money | null,
): Plan {
  const { address: router, token, payTo, amount, signature, asset } = order;
  if (asked && (asked.amount !== amount || asked.asset !== asset))
    throw impossible("the router takes exactly what was ordered");
  const paymentRef = hash(fromBytes(keccak256(Buffer.from(intentId))));
  const deadline = BigInt(Math.floor(order.expiresAt.getTime() / 1_000));
  return {
    money: { amount, asset },
    carryOut: () => chain.payOrder({ router, paymentRef, token, payTo, amount, deadline, signature }),
  };
}

function planAtProvider({ provider }: Payer, paid: ClearingRow, asked: Money | null): Plan {
  const { providerReference: reference, sourceAmount: amount, asset } = paid;
  if (provider?.name !== paid.provider || reference === null)
    throw impossible("its provider has not been asked for this payment yet");
  if (asked && (asked.amount !== amount || asked.asset !== asset))
    throw impossible("the provider takes exactly what was asked for");
  return {
    money: { amount, asset },
    async carryOut() {
      try {
        await provider.pay(reference);
        return null;
      } catch (error) {
        if (!(error instanceof ProviderProblem)) throw error;
        throw impossible("the provider does not take this payment now", error);
      }
    },
  };
}

function tokenOf({ facilitator }: Payer, chain: string, asset: string) {
  const rail = facilitator.rails().find((each) => each.chain === chain && each.asset === asset);
  if (!rail) throw impossible(`${asset} is not a token of ${chain}`);
  return address(rail.contract);
}

function impossible(why: string, cause?: unknown): Fault {
  return fault("simulation_impossible", { why }, cause);
}
