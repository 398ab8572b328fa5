import { and, asc, isNull } from "drizzle-orm";
import type { PaymentView } from "#facilitator";
import { isAnyOf, type outbox, type Tx } from "#store";
import { paymentIntent } from "../payment-intent/tables.ts";
import type { IntentRow } from "../payment-intent/verbs/offer.ts";
import { termsOfAgent } from "./agent.ts";
import type { ClearingDesk } from "./desk.ts";
import { leading } from "./rails/x402.ts";
import { begin } from "./timeline.ts";

/** Begins the clearing of intents that an agent pays before anybody confirmed them; the loop takes it from there. */
export async function openForAgents(
  tx: Tx,
  desk: ClearingDesk,
  facts: readonly outbox.Fact[],
): Promise<void> {
  const ids = [...new Set(facts.map(({ payload }) => String(payload.payableId)))];
  if (ids.length === 0) return;
  const merchants = [...new Set(facts.map(({ merchantId }) => merchantId))];
  const intents = await tx
    .select()
    .from(paymentIntent)
    .where(
      and(
        isAnyOf(paymentIntent.merchantId, merchants),
        isAnyOf(paymentIntent.id, ids),
        isNull(paymentIntent.clearingId),
      ),
    )
    .orderBy(asc(paymentIntent.merchantId), asc(paymentIntent.id))
    .for("update");
  if (intents.length === 0) return;
  const payments = await desk.facilitator.payments({ payableIds: intents.map(({ id }) => id) });
  for (const intent of intents) {
    const payment = leading(payments.filter(({ payableId }) => payableId === intent.id));
    if (payment) await beginFor(tx, desk, intent, payment);
  }
}

async function beginFor(tx: Tx, desk: ClearingDesk, intent: IntentRow, payment: PaymentView): Promise<void> {
  const terms = await termsOfAgent(tx, intent, payment);
  const row = {
    merchantId: intent.merchantId,
    id: desk.newId("clr"),
    intentId: intent.id,
    provider: intent.provider,
    chosenPath: null,
    ...terms,
    // Whether it leads is seen when the loop looks at it.
    providerReference: null,
    feeBps: intent.feeBps,
    toleranceBps: 0,
    transactionHash: null,
    orderSeq: null,
    expiresAt: intent.expiresAt,
    reviewRequired: false,
    attempt: 0,
    failedSteps: 0,
    settledAt: null,
    isFinal: false,
    dueAt: desk.now(),
  };
  await begin(tx, desk, { intent, clearing: row }, [{ trigger: "lock", cause: "an agent came" }]);
}
