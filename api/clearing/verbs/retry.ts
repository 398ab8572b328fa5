import type { Tx } from "#store";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { demandNoneUnderWay, followAgent } from "../agent.ts";
import { heldOf } from "../book.ts";
import type { ClearingDesk } from "../desk.ts";
import { askOutside } from "../lead.ts";
import { leastOf } from "../money.ts";
import { liveOrder, resignOrder, windowEnd } from "../orders.ts";
import { loadPurse, type Purse } from "../purse.ts";
import type { PaymentPosition } from "../schema.ts";
import type { ClearingState } from "../state.ts";
import { type Change, type Held, type Step, transition } from "../timeline.ts";
import { countMoney, finish, type Outside, type Work } from "../turn.ts";
import { findPayment, lockPayment, positionOf } from "./payment.ts";

/** What must be known before a clearing is led by hand. Fault: `not_found`. */
export async function outsideOf(
  desk: ClearingDesk,
  {
    ctx,
    input,
  }: { readonly ctx: Pick<MerchantCtx, "merchantId" | "db">; readonly input: { readonly id: string } },
): Promise<Outside> {
  const { intent, clearing } = await findPayment(ctx.db.pool, ctx.merchantId, input.id);
  return clearing
    ? askOutside(desk, { intent, clearing })
    : { dueAt: null, payments: [], isRateGood: true, returned: new Map() };
}

const done: ReadonlySet<ClearingState> = new Set(["funds-received", "settling", "settled"]);

/** Reopens a payment that failed or expired though its funds arrived, and settles it; an expired order is signed again
 *  with the same terms. What settles already comes back as it stands. Faults: `not_found`, `payment_not_retryable`,
 *  `funds_not_received`, `agent_payment_under_way`. Source: interface §3, "Retry payment". */
export async function retry(
  desk: ClearingDesk,
  { ctx, input, outside }: Call<{ readonly id: string }> & { readonly outside: Outside },
): Promise<PaymentPosition> {
  ctx.demand("payments:write");
  return ctx.tx(async (tx) => {
    const { intent, clearing } = await lockPayment(tx, ctx.merchantId, input.id);
    if (!clearing) throw refusedUncleared(intent.status);
    const purse = await loadPurse(tx, clearing);
    const held = await followAgent(tx, desk, { intent, clearing }, { ...purse, ...outside });
    const after = done.has(held.clearing.state) ? held : await reopen(tx, desk, { held, purse, outside });
    return positionOf(desk, tx, { ...after, payments: outside.payments });
  });
}

function refusedUncleared(status: string) {
  return status === "expired"
    ? fault("funds_not_received")
    : fault("payment_not_retryable", { state: status });
}

async function reopen(
  tx: Tx,
  desk: ClearingDesk,
  { held, purse, outside }: { readonly held: Held; readonly purse: Purse; readonly outside: Outside },
): Promise<Held> {
  const { state } = held.clearing;
  if (state === "awaiting-funds" || state === "funds-detected" || state === "reversed")
    throw fault("funds_not_received");
  if (state !== "failed" && state !== "expired") throw fault("payment_not_retryable", { state });
  const work = await countMoney(tx, desk, held, purse);
  if (!isFunded(work)) throw fault("funds_not_received");
  demandNoneUnderWay(outside.payments);
  if (!(await isItsTurn(tx, desk, work))) throw fault("payment_not_retryable", { state });
  const { change, notes } = await signAgain(tx, desk, work);
  const steps: Step[] = [...notes, { trigger: "reopen", cause: "the merchant retried it" }];
  const reopened = await transition(tx, desk, work.held, steps, change);
  return finish(tx, desk, { ...work, held: reopened }, purse, outside);
}

/** Nothing else has paid, or is about to pay, the same thing meanwhile. */
async function isItsTurn(
  tx: Tx,
  { facilitator }: ClearingDesk,
  { held: { intent } }: Work,
): Promise<boolean> {
  if (intent.heldAs === null) return true;
  return facilitator.once.take(tx, { payableId: intent.heldAs, payment: intent.id });
}

/** Enough lies in the clearing; or, where another provider holds the money, it failed after the money was there. */
function isFunded({ held: { clearing }, seen, returns }: Work): boolean {
  if (clearing.provider !== "evm") return clearing.failedSteps > 0;
  return (
    heldOf(
      clearing,
      seen.map(({ row }) => row),
      returns,
    ) >= leastOf(clearing)
  );
}

async function signAgain(
  tx: Tx,
  desk: ClearingDesk,
  { held, orders }: Work,
): Promise<{ readonly change: Change; readonly notes: readonly Step[] }> {
  const { clearing, intent } = held;
  const order = liveOrder(orders, clearing);
  const now = desk.now();
  if (!order || order.expiresAt > now) return { change: { clearing: { failedSteps: 0 } }, notes: [] };
  const until = windowEnd({ ...intent, expiresInSeconds: null }, { source: clearing.rateSource }, now);
  const { expiresAt } = await resignOrder(tx, desk, order, until);
  return {
    change: { clearing: { failedSteps: 0, expiresAt }, intent: { expiresAt } },
    notes: [{ trigger: null, cause: "the order was signed again" }],
  };
}
