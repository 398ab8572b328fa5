import { and, eq } from "drizzle-orm";
import { ledgerAsset } from "#kernel/asset";
import { assert, unreachable } from "#kernel/fault";
import { errorFields } from "#kernel/log";
import { post, resolvePending, templates } from "#ledger";
import type { Tx } from "#store";
import type { ClearingState } from "../../clearing/state.ts";
import { clearing } from "../../clearing/tables.ts";
import { feeOf, type Held, type Step, stepFailed, transition } from "../../clearing/verbs/lead.ts";
import { lockPayment } from "../../clearing/verbs/payment.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";
import { type ProviderAdapter, ProviderProblem, type ProviderStatus } from "../port.ts";
import { type Course, courseOf } from "../state.ts";
import { providerOrder } from "../tables.ts";
import type { Looked, ProviderDesk } from "./desk.ts";
import { isIt, type OrderName, type OrderRow } from "./order.ts";

/** So often a payment is asked for before it fails. */
const MOST_REQUESTS = 8;
const SOON_MS = 10_000;
const NOW_AND_THEN_MS = 60_000;

/** Asks the provider of a payment where it stands, moves the clearing there, and tells the provider what follows. */
export async function attendClearing(
  desk: ProviderDesk,
  adapter: ProviderAdapter,
  order: OrderRow,
): Promise<Looked> {
  const status = await ask(desk, adapter, order);
  if (!status) return over;
  const led = await lead(desk, order, status);
  if (!led.instruct) return lookAgain(led.state, status);
  const told = await instruct(desk, adapter, order, led.instruct, status);
  return lookAgain((await lead(desk, order, told)).state, told);
}

const over: Looked = { againMs: null };

/** What the provider says; it is asked for the payment first. Null for one that ended before it was asked for. */
async function ask(
  desk: ProviderDesk,
  adapter: ProviderAdapter,
  order: OrderRow,
): Promise<ProviderStatus | null> {
  if (order.reference !== null) return adapter.getStatus(order.reference);
  const terms = await termsOf(desk, order);
  if (terms?.state !== "awaiting-funds") return null;
  try {
    return await adapter.createClearing(terms);
  } catch (error) {
    if (order.attempts + 1 < MOST_REQUESTS) throw error;
    await giveUp(desk, order, error);
    return null;
  }
}

async function termsOf({ db }: ProviderDesk, { merchantId, id }: OrderName) {
  const { state, asset, sourceAmount: amount } = clearing;
  const [row] = await db.pool
    .select({ id: clearing.id, state, asset, amount, metadata: paymentIntent.metadata })
    .from(clearing)
    .innerJoin(
      paymentIntent,
      and(eq(paymentIntent.merchantId, clearing.merchantId), eq(paymentIntent.id, clearing.intentId)),
    )
    .where(and(eq(clearing.merchantId, merchantId), eq(clearing.id, id as `clr_${string}`)));
  return row;
}

/** Tells the provider. A settlement that cannot be told goes back a step, and is given up at last; what the provider did
 *  all the same is seen at a later look. */
async function instruct(
  desk: ProviderDesk,
  adapter: ProviderAdapter,
  order: OrderRow,
  what: NonNullable<Course["instruct"]>,
  { reference, received }: ProviderStatus,
): Promise<ProviderStatus> {
  switch (what) {
    case "close":
      return adapter.close(reference);
    case "give-back":
      await adapter.refund({ id: order.id, reference, amount: received });
      return adapter.getStatus(reference);
    case "settle":
      try {
        return await adapter.settle(reference);
      } catch (error) {
        await stepBack(desk, order, error);
        throw error;
      }
    default:
      return unreachable(what);
  }
}

async function stepBack(desk: ProviderDesk, order: OrderRow, error: unknown): Promise<void> {
  await desk.db.tx(async (tx) => {
    const held = await hold(tx, order);
    if (held.clearing.state !== "settling") return;
    await stepFailed(tx, desk.keeping, held, { ...failureOf(error), isPermanent: false });
  });
}

/** A payment that the provider never took. */
async function giveUp(desk: ProviderDesk, order: OrderRow, error: unknown): Promise<void> {
  await desk.db.tx(async (tx) => {
    const held = await hold(tx, order);
    if (held.clearing.state !== "awaiting-funds") return;
    const step: Step = { trigger: "fail", cause: "the provider cannot be asked", failure: failureOf(error) };
    await transition(tx, desk.keeping, held, [step]);
  });
}

function failureOf(error: unknown) {
  const { code, error: name } = errorFields(error);
  return {
    code: "provider_error" as const,
    reason: `The provider did not answer as agreed (${code ?? name}).`,
  };
}

interface Led extends Pick<Course, "instruct"> {
  readonly state: ClearingState;
}

/** The clearing and its intent, held until the transaction ends. */
async function hold(tx: Tx, { merchantId, id }: OrderName): Promise<Held> {
  const { intent, clearing: row } = await lockPayment(tx, merchantId, id);
  assert(row, "an order's clearing is there");
  return { intent, clearing: row };
}

/** Brings the clearing to where its provider says it is: books the payer's money, and settles it. What is told late
 *  changes nothing. */
async function lead(desk: ProviderDesk, order: OrderRow, status: ProviderStatus): Promise<Led> {
  return desk.db.tx(async (tx) => {
    const held = await named(tx, await hold(tx, order), order, status);
    const { state, sourceAmount, failedSteps } = held.clearing;
    const { triggers, isReceived, instruct: next } = courseOf(state, status, { failedSteps });
    if (triggers.length === 0) return { state, instruct: next };
    if (isReceived) {
      if (status.received !== sourceAmount)
        throw new ProviderProblem("it took another amount than was asked for");
      await bookReceived(tx, held, status);
    }
    const steps = triggers.map((trigger) => stepOf(trigger, status));
    // What failed with the money there can be tried again.
    const noted =
      triggers.includes("fail") && isReceived ? { clearing: { failedSteps: failedSteps + 1 } } : {};
    const change = triggers.includes("credit") ? await credit(tx, desk, held) : noted;
    const after = await transition(tx, desk.keeping, held, steps, change);
    return { state: after.clearing.state, instruct: next };
  });
}

/** Writes down the provider's name of the payment, the first time it is told. */
async function named(tx: Tx, held: Held, order: OrderRow, { reference }: ProviderStatus): Promise<Held> {
  if (held.clearing.providerReference === reference) return held;
  await tx.update(providerOrder).set({ reference }).where(isIt(order));
  await tx
    .update(clearing)
    .set({ providerReference: reference })
    .where(and(eq(clearing.merchantId, held.clearing.merchantId), eq(clearing.id, held.clearing.id)));
  return { ...held, clearing: { ...held.clearing, providerReference: reference } };
}

async function bookReceived(tx: Tx, { clearing: row }: Held, { reference, received }: ProviderStatus) {
  const asset = ledgerAsset(row.asset, row.chain);
  await post(tx, [templates.providerReceived({ asset, reference, amount: received, clearingId: row.id })]);
}

/** The payer's money becomes the merchant's, at once: there is no block that could still leave. */
async function credit(tx: Tx, { keeping }: ProviderDesk, { clearing: row }: Held) {
  const attempt = row.attempt + 1;
  const gross = row.sourceAmount;
  const fee = feeOf(gross, row.feeBps);
  const asset = ledgerAsset(row.asset, row.chain);
  const { merchantId, id: clearingId } = row;
  await post(tx, [
    templates.clearingSettled({ clearingId, attempt, merchantId, asset, gross, fee, blockNumber: null }),
  ]);
  await resolvePending(tx, "post", [templates.settleEventKey({ clearingId, attempt })]);
  const settledAt = keeping.now();
  return {
    clearing: { attempt, settlementAmount: gross, fee, settledAt, isFinal: true, failedSteps: 0 },
    intent: { completedAt: settledAt },
  };
}

function stepOf(trigger: Step["trigger"] & string, { failure }: ProviderStatus): Step {
  const cause = "told by the provider";
  if (trigger !== "fail") return { trigger, cause };
  const reason = `The provider could not complete the payment${failure ? `: ${failure}` : ""}.`;
  return { trigger, cause, failure: { code: "provider_error", reason } };
}

/** Callbacks lead; this is for those that never come. */
function lookAgain(state: ClearingState, status: ProviderStatus): Looked {
  switch (state) {
    case "awaiting-funds":
      return { againMs: NOW_AND_THEN_MS };
    case "funds-detected":
    case "funds-received":
    case "settling":
      return { againMs: SOON_MS };
    // Money that the provider has seen and not received yet may still come.
    default:
      return status.state === "funds-detected" ? { againMs: SOON_MS } : over;
  }
}
