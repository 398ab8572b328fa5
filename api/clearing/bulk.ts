import { and, sql } from "drizzle-orm";
import type { PaymentView } from "#facilitator";
import { atParity } from "#kernel/asset";
import { assert } from "#kernel/fault";
import type { Money } from "#kernel/money";
import { insertMany, isAnyOf, outbox, type Tx, toArray } from "#store";
import { findCurrency } from "../http/currency.ts";
import type { TellMerchants } from "../http/event.ts";
import { merchant } from "../merchant/tables.ts";
import type { MerchantRow } from "../merchant/verbs/merchant.ts";
import type { IntentSource } from "../payment-intent/state.ts";
import { paymentIntent } from "../payment-intent/tables.ts";
import { type IntentRow, noOffer } from "../payment-intent/verbs/offer.ts";
import { ONE } from "../rate/verbs.ts";
import type { ClearingDesk } from "./desk.ts";
import type { ClearingRow } from "./money.ts";
import { attemptOf, follow, isCredited } from "./rails/x402.ts";
import { clearing, timelineEntry } from "./tables.ts";
import { factOf, type Walk, walkFromStart } from "./timeline.ts";
import { presentPayment } from "./verbs/positions.ts";

/** An agent's payment that becomes a merchant's payment as it stands. */
export interface Recorded {
  readonly payment: PaymentView;
  readonly source: IntentSource;
  /** What it was asked in, where that is at parity with the coin; null for the coin itself. */
  readonly currency: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly merchantReference: string | null;
  /** The seller as what was paid names it; as its merchant's record does when left out. */
  readonly seller?: Pick<IntentRow, "merchantName" | "merchantCity" | "merchantCountryCode">;
}
/** Says for what agents paid, in the order of the payments. */
type Describe = (tx: Tx, payments: readonly PaymentView[]) => Promise<readonly Recorded[]>;

/** Writes down agents' payments of what can be paid again and again, each once, whatever was told of it how often. For
 *  features that sell by an agent URL of their own, and follow what is told: of the last state, and whether nobody is known
 *  who would read mail about it. Agents leave no address, the buyer of an invoice has one. */
export async function recordPayments(
  tx: Tx,
  desk: ClearingDesk,
  facts: readonly outbox.Fact[],
  describe: Describe,
): Promise<void> {
  const born = await recordUnknown(tx, desk, facts, describe);
  await outbox.append(
    tx,
    born.flatMap((each) => {
      const isAnonymous = each.intent.source !== "invoice" && each.intent.source !== "subscription";
      return lastFactOf(desk, each).map((fact) => ({ ...fact, payload: { ...fact.payload, isAnonymous } }));
    }),
  );
}

/** The same of what nobody in the house follows: its merchant is told at once, of the rows as they were written. Hundreds
 *  come in a second, and each was read again to be told of. */
export async function recordSales(
  tx: Tx,
  desk: ClearingDesk,
  facts: readonly outbox.ToldFact[],
  describe: Describe,
  tell: TellMerchants,
): Promise<void> {
  const born = await recordUnknown(tx, desk, facts, describe);
  const sequenceOf = new Map(facts.map(({ subject, sequence }) => [subject, sequence]));
  await tell(
    tx,
    born.flatMap((each) => {
      const sequence = sequenceOf.get(each.payment.id);
      assert(sequence !== undefined, `a fact told of ${each.payment.id}`);
      const object = presentPayment(desk, each, { orders: [], deposits: [], payments: [each.payment] });
      return lastFactOf(desk, each).map((fact) => ({ fact: { ...fact, sequence }, object }));
    }),
  );
}

/** The last of a walk, if it tells any. */
function lastFactOf({ newId }: Pick<ClearingDesk, "newId">, { walk, clearing: row }: Born): outbox.Fact[] {
  return walk.facts.slice(-1).map(({ type }) => factOf(newId, row, { type, previous: null }));
}

async function recordUnknown(
  tx: Tx,
  desk: ClearingDesk,
  facts: readonly outbox.Fact[],
  describe: Describe,
): Promise<readonly Born[]> {
  const payments = await unknown(tx, desk, facts);
  return payments.length > 0 ? writePayments(tx, desk, await describe(tx, payments)) : [];
}

/** The payments that these facts are about and that have no clearing. */
async function unknown(
  tx: Tx,
  { facilitator }: Pick<ClearingDesk, "facilitator">,
  facts: readonly outbox.Fact[],
): Promise<readonly PaymentView[]> {
  const ids = [...new Set(facts.map(({ subject }) => subject))];
  if (ids.length === 0) return [];
  const merchants = [...new Set(facts.map(({ merchantId }) => merchantId))];
  const known = await tx
    .select({ id: clearing.providerReference })
    .from(clearing)
    .where(
      and(
        isAnyOf(clearing.merchantId, merchants),
        isAnyOf(clearing.providerReference, ids),
        sql`${clearing.executionPath} = 'x402'`,
      ),
    );
  const taken = new Set(known.map(({ id }) => id));
  const left = ids.filter((id) => !taken.has(id));
  return left.length === 0 ? [] : facilitator.payments({ ids: left });
}

/** Intent, clearing and timeline of many payments in a few statements: hundreds come in a second. The states between were
 *  never to be seen, so only the last is to be told. One that is still under way is left for its next fact. */
async function writePayments(
  tx: Tx,
  desk: ClearingDesk,
  recorded: readonly Recorded[],
): Promise<readonly Born[]> {
  const merchants = await merchantsOf(tx, recorded);
  let paid: Walk | null = null;
  const born = recorded.flatMap((each) => {
    const { payment } = each;
    if (payment.state === "claimed" || payment.state === "submitting") return [];
    // All that were paid go the same way.
    const walk = (isCredited(payment) && paid) || walkTo(payment);
    if (!walk) return [];
    if (isCredited(payment)) paid = walk;
    const seller = merchants.get(payment.merchantId);
    assert(seller, `${payment.id} is of a merchant`);
    return [bornOf(desk, each, seller, walk)];
  });
  if (born.length === 0) return [];
  const occurredAt = desk.now();
  await tx.execute(
    insertMany(
      paymentIntent,
      born.map(({ intent }) => intent),
    ),
  );
  await tx.execute(
    insertMany(
      clearing,
      born.map((each) => each.clearing),
    ),
  );
  await noteWalks(tx, born, occurredAt);
  return born;
}

/** The way of a clearing that begins with this payment; null where it calls for none. */
function walkTo(payment: PaymentView): Walk | null {
  const steps = follow({ state: "created", settlementId: null, attempt: 0, hasOtherWay: false }, payment);
  return steps.length > 0 ? walkFromStart("created", steps) : null;
}

/** Timelines from their beginning. Nearly all of a group went the same way, which is sent to the database once. */
async function noteWalks(tx: Tx, born: readonly Born[], occurredAt: Date): Promise<void> {
  const byWay = new Map<string, Born[]>();
  for (const each of born) {
    const way = JSON.stringify(each.walk.entries);
    const same = byWay.get(way) ?? [];
    same.push(each);
    byWay.set(way, same);
  }
  for (const same of byWay.values()) {
    const steps = same[0]?.walk.entries ?? [];
    await tx.execute(sql`
      INSERT INTO ${timelineEntry} (merchant_id, clearing_id, sequence, state, "from", cause, occurred_at)
      SELECT of.merchant_id, of.id, step.sequence, step.state, step."from", step.cause, ${occurredAt.toISOString()}::timestamptz
      FROM unnest(
        ${toArray(
          same.map(({ clearing: { merchantId } }) => merchantId),
          "text",
        )}, ${toArray(
          same.map(({ clearing: { id } }) => id),
          "text",
        )}) AS of(merchant_id, id)
      CROSS JOIN unnest(
        ${toArray(
          steps.map(({ state }) => state),
          "text",
        )}, ${toArray(
          steps.map(({ from }) => from ?? null),
          "text",
        )}, ${toArray(
          steps.map(({ cause }) => cause),
          "text",
        )}) WITH ORDINALITY AS step(state, "from", cause, sequence)`);
  }
}

async function merchantsOf(tx: Tx, recorded: readonly Recorded[]): Promise<ReadonlyMap<string, MerchantRow>> {
  const ids = [...new Set(recorded.map(({ payment }) => payment.merchantId))];
  const rows = ids.length === 0 ? [] : await tx.select().from(merchant).where(isAnyOf(merchant.id, ids));
  return new Map(rows.map((row) => [row.id, row]));
}

/** What was paid, in the currency that it was asked in: read off the coins, since what is on offer may have been priced
 *  anew. Coins that are no whole cents stay coins. */
function askedIn(currency: string | null, { amount, asset }: PaymentView): Money {
  if (currency === null || currency === asset) return { amount, asset };
  assert(atParity(currency, asset), `${asset} pays ${currency} one to one`);
  const finer = 10n ** BigInt(decimalsOf(asset) - decimalsOf(currency));
  return amount % finer === 0n ? { amount: amount / finer, asset: currency } : { amount, asset };
}

function decimalsOf(code: string): number {
  const unit = findCurrency(code);
  assert(unit, `${code} is a unit of prices`);
  return unit.decimals;
}

interface Born {
  readonly payment: PaymentView;
  readonly intent: IntentRow;
  readonly clearing: ClearingRow;
  readonly walk: Walk;
}

function bornOf(
  { newId, now }: Pick<ClearingDesk, "newId" | "now">,
  { payment, source, currency, metadata, merchantReference, seller: named }: Recorded,
  seller: MerchantRow,
  walk: Walk,
): Born {
  const at = now();
  const { amount, asset, chain, fee } = payment;
  const price = askedIn(currency, payment);
  const rateSource = price.asset === asset ? ("identity" as const) : ("parity" as const);
  const [intentId, id] = [newId("pi"), newId("clr")];
  const credited = isCredited(payment);
  const shared = { merchantId: seller.id, provider: "evm" as const, executionPath: "x402" as const };
  const stamps = { createdAt: at, updatedAt: at, expiresAt: at };
  const intent: IntentRow = {
    ...{ ...shared, ...stamps, ...noOffer, id: intentId, source, metadata, merchantReference },
    status: walk.status,
    amount: price.amount,
    currency: price.asset,
    asked: { executionPath: "x402" },
    settlementAsset: asset,
    paymentAsset: asset,
    paymentChain: chain,
    payerAddress: payment.payer,
    payerDeclared: false,
    merchantName: named?.merchantName ?? seller.name,
    merchantCity: named?.merchantCity ?? seller.city,
    merchantCountryCode: named?.merchantCountryCode ?? seller.countryCode,
    merchantCategoryCode: seller.categoryCode,
    customer: null,
    returnUrl: null,
    feeBps: seller.feeBps,
    expiresInSeconds: null,
    heldAs: null,
    clearingId: id,
    clearingState: walk.state,
    failureReason: walk.status === "failed" ? (walk.failure?.code ?? null) : null,
    ...{ idempotencyScope: null, idempotencyKey: null, fingerprint: null },
    confirmedAt: at,
    completedAt: credited ? at : null,
  };
  const row: ClearingRow = {
    ...{ ...shared, ...stamps, id, intentId, chain, asset, fee },
    state: walk.state,
    providerReference: payment.id,
    chosenPath: "x402",
    sourceAmount: amount,
    settlementAmount: amount,
    feeBps: seller.feeBps,
    toleranceBps: 0,
    ...{ rateFrom: price.asset, rateTo: asset, scaledRate: ONE, rateSource, rateLockedAt: at },
    transactionHash: payment.transaction,
    failureCode: walk.failure?.code ?? null,
    failureReason: walk.failure?.reason ?? null,
    failureAt: walk.failure ? at : null,
    orderSeq: null,
    // What waits is the operator's to decide about.
    reviewRequired: false,
    attempt: credited ? attemptOf(payment) : 0,
    failedSteps: 0,
    settledAt: credited ? at : null,
    isFinal: payment.state === "final",
    sequence: walk.entries.length,
    dueAt: null,
  };
  return { payment, intent, clearing: row, walk };
}
