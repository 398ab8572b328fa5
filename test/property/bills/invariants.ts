/** What holds of invoices, links, subscriptions and refunds whatever happened, asked of the rows. */
import type { TestDatabase } from "../../support/db.ts";
import type { Shop } from "../payments/shop.ts";
import { beginOf } from "./calendar.ts";
import type { LinkLife, SubscriptionLife } from "./lives.ts";

type Query = TestDatabase["query"];
type Found = Promise<readonly string[]>;

/** What is wrong, in words; empty when nothing is. */
export async function problemsOfBills({ query }: TestDatabase): Found {
  const found = await Promise.all([
    misnumbered(query),
    mispaid(query),
    paidTwice(query),
    misshared(query),
    miscredited(query),
    mistold(query),
  ]);
  return found.flat();
}

/** Numbers of invoices follow one another without a gap. */
async function misnumbered(query: Query): Found {
  const rows = await query<{ number: string; sequence: string; expected: string }>(`
    SELECT * FROM (SELECT number, sequence, row_number() OVER (PARTITION BY merchant_id ORDER BY sequence) AS expected
      FROM invoice WHERE sequence IS NOT NULL) AS numbered
    WHERE sequence <> expected OR right(number, 6)::integer <> expected`);
  return rows.map(({ number, expected }) => `invoice ${number} should be number ${expected}`);
}

/** An invoice is paid when and only when completed payments brought its total, and tells what they brought less refunds, each
 *  to the nearest unit, a half to the even one. */
async function mispaid(query: Query): Found {
  const rows = await query<{ id: string; state: string; told: string; brought: string; kept: string }>(`
    WITH payments AS (
      SELECT metadata->>'invoiceId' AS invoice_id, amount, settlement_amount AS settled,
        coalesce((SELECT sum(refund.amount) FROM refund WHERE refund.clearing_id = clearing.id
          AND refund.state NOT IN ('failed', 'cancelled')), 0) AS refunded
      FROM payment_intent JOIN clearing ON clearing.id = clearing_id WHERE payment_intent.status = 'completed'),
    shares AS (SELECT invoice_id, amount, div(amount * refunded, settled) AS whole,
        2 * mod(amount * refunded, settled) - settled AS beyond_half FROM payments WHERE invoice_id IS NOT NULL),
    sums AS (SELECT invoice_id, sum(amount) AS brought,
        sum(amount - whole - (beyond_half > 0 OR beyond_half = 0 AND mod(whole, 2) = 1)::integer) AS kept
      FROM shares GROUP BY invoice_id)
    SELECT id, state, collected || ' kept ' || paid AS told, coalesce(brought, 0) AS brought, coalesce(kept, 0) AS kept
    FROM invoice LEFT JOIN sums ON invoice_id = id
    WHERE collected <> coalesce(brought, 0) OR paid <> coalesce(kept, 0)
      OR (state = 'paid') <> (coalesce(brought, 0) >= total AND state <> 'void')
      OR total <> (SELECT sum((line->>'unitPrice')::numeric * (line->>'quantity')::integer) FROM jsonb_array_elements(lines) AS line)`);
  return rows.map(
    ({ id, state, told, brought, kept }) =>
      `${id} is ${state} and tells ${told}: brought ${brought}, kept ${kept}`,
  );
}

/** A payment that its merchant had go on is none that was taken by itself. */
const isDecided = (causes: readonly string[]) => `EXISTS (SELECT 1 FROM timeline_entry
  WHERE timeline_entry.clearing_id = intent.clearing_id AND cause IN (${causes.map((cause) => `'${cause}'`).join(",")}))`;
const accepted = ["the merchant accepted what came"];
const goneOn = [...accepted, "the merchant gave the payer more time", "the merchant retried it"];

/** No second payment of an invoice completes by itself, nor one of what is void. */
async function paidTwice(query: Query): Found {
  const rows = await query<{ id: string; payments: string }>(`
    SELECT invoice.id, string_agg(intent.id, ', ') AS payments
    FROM invoice JOIN payment_intent AS intent ON intent.metadata->>'invoiceId' = invoice.id
    WHERE intent.status = 'completed' AND NOT ${isDecided(accepted)}
    GROUP BY invoice.merchant_id, invoice.id HAVING count(*) > CASE invoice.state WHEN 'void' THEN 0 ELSE 1 END`);
  return rows.map(({ id, payments }) => `${id} was paid by ${payments}`);
}

/** The fee of a payment is its share, to the unit; refunds and their fees never exceed it, and of all are all. */
async function misshared(query: Query): Found {
  const rows = await query<{ id: string; what: string }>(`
    WITH refunded AS (SELECT clearing_id, sum(amount) AS amount, sum(fee) AS fee FROM refund
      WHERE state NOT IN ('failed', 'cancelled') GROUP BY clearing_id)
    SELECT id, concat_ws(' ', 'settled', settlement_amount, 'fee', clearing.fee, 'refunded', refunded.amount, refunded.fee) AS what
    FROM clearing LEFT JOIN refunded ON clearing_id = id
    WHERE abs(clearing.fee * 10000 - settlement_amount * fee_bps) > 5000
      OR refunded.amount > settlement_amount OR refunded.fee > clearing.fee
      OR (refunded.amount = settlement_amount AND refunded.fee <> clearing.fee)`);
  return rows.map(({ id, what }) => `${id}: ${what}`);
}

/** A settled payment has brought its merchant what it says less our fee, and us the fee. */
async function miscredited(query: Query): Found {
  const rows = await query<{ id: string; told: string; booked: string }>(`
    WITH live AS (
      SELECT subject, sum(amount) FILTER (WHERE credit.path LIKE 'liability:merchant:%') AS net,
        sum(amount) FILTER (WHERE credit.path LIKE 'income:%') AS fee
      FROM ledger_transfer AS pending JOIN ledger_account AS credit ON credit.id = credit_account
      WHERE code IN ('clearing-settled', 'x402-credited', 'x402-matched') AND phase IN ('pending', 'single')
        AND NOT EXISTS (SELECT 1 FROM ledger_transfer AS gone WHERE gone.ref = pending.id AND gone.phase = 'void')
      GROUP BY subject)
    SELECT clearing.id, settlement_amount - fee_told || ' and ' || fee_told AS told,
      coalesce(net, 0) || ' and ' || coalesce(live.fee, 0) AS booked
    FROM (SELECT *, fee AS fee_told FROM clearing) AS clearing
      LEFT JOIN live ON subject = CASE execution_path WHEN 'x402' THEN provider_reference ELSE clearing.id END
    WHERE state = 'settled' AND (coalesce(net, 0) <> settlement_amount - fee_told OR coalesce(live.fee, 0) <> fee_told)`);
  return rows.map(({ id, told, booked }) => `${id} tells ${told}, the books ${booked}`);
}

const becomes: Readonly<Record<string, string>> = {
  "invoice.issued": "open",
  "invoice.paid": "paid",
  "invoice.voided": "void",
  "invoice.marked_uncollectible": "uncollectible",
  "subscription.past_due": "past-due",
  "subscription.recovered": "active",
  "subscription.paused": "paused",
  "subscription.resumed": "active",
  "subscription.cancelled": "cancelled",
};

/** Who followed what was told, in its order, stands where the rows do. */
async function mistold(query: Query): Found {
  const told = await query<{ subject: string; type: string; previous: { state?: string } | null }>(`
    SELECT subject, type, payload->'previous' AS previous FROM outbox
    WHERE type LIKE 'invoice.%' OR type LIKE 'subscription.%' ORDER BY sequence`);
  const states = await query<{ id: string; state: string }>(
    "SELECT id, state FROM invoice UNION ALL SELECT id, state FROM subscription",
  );
  const followed = new Map<string, string>();
  const problems: string[] = [];
  for (const { subject, type, previous } of told) {
    const before = followed.get(subject) ?? (subject.startsWith("sub_") ? "active" : "draft");
    if (previous?.state !== undefined && previous.state !== before)
      problems.push(`${subject} was told ${type} after ${previous.state}, and was ${before}`);
    const isReopened = type === "invoice.updated" && previous?.state === "paid";
    followed.set(subject, isReopened ? "open" : (becomes[type] ?? before));
  }
  for (const { id, state } of states)
    if ((followed.get(id) ?? "draft") !== state)
      problems.push(`${id} is ${state}, and was told ${followed.get(id)}`);
  return problems;
}

/** No more payments of a link complete by themselves than its merchant ever allowed. */
export async function problemsOfLinks({ query }: TestDatabase, lives: readonly LinkLife[]): Found {
  const rows = await query<{ id: string; payments: number }>(`
    SELECT metadata->>'paymentLinkId' AS id, count(*)::integer AS payments FROM payment_intent AS intent
    WHERE source = 'payment-link' AND status = 'completed' AND NOT ${isDecided(goneOn)} GROUP BY 1`);
  return lives.flatMap(({ id, most }) => {
    const payments = rows.find((row) => row.id === id)?.payments ?? 0;
    const allowed = most() ?? payments;
    return payments > allowed ? [`${id} has ${payments} payments of ${allowed}`] : [];
  });
}

/** Each cycle that has begun was issued once, or fell into a pause; its dates are the calendar's. */
export async function problemsOfSubscriptions(shop: Shop, lives: readonly SubscriptionLife[]): Found {
  const found = await Promise.all(lives.map((life) => problemsOfOne(shop, life)));
  return found.flat();
}

async function problemsOfOne(shop: Shop, { id, pauses, terms }: SubscriptionLife): Found {
  const { body } = await shop.call("GET", `/v1/subscriptions/${id}`);
  const { subscription, cycles: invoices } = body;
  const rows = await shop.world.database.query<{ index: number; state: string; starts: Date; ends: Date }>(
    `SELECT cycle_index AS index, state, starts_at AS starts, ends_at AS ends FROM subscription_cycle
     WHERE subscription_id = $1 ORDER BY cycle_index`,
    [id],
  );
  const problems: string[] = [];
  const check = (isRight: boolean, what: string) => isRight || problems.push(`${id}: ${what}`);
  const issued = rows.filter(({ state }) => state === "issued");
  const isPaused = (at: Date) =>
    pauses.some(({ from, until }) => at >= from && (until === null || at <= until));
  for (const { index, state, starts, ends } of rows) {
    check(starts.toISOString() === beginOf(terms, index), `cycle ${index} begins at ${starts.toISOString()}`);
    check(ends.toISOString() === beginOf(terms, index + 1), `cycle ${index} ends at ${ends.toISOString()}`);
    check(
      (state === "skipped") === isPaused(starts),
      `cycle ${index} is ${state}, paused: ${isPaused(starts)}`,
    );
  }
  check(
    rows.every(({ index }, i) => index === i),
    `cycles ${rows.map(({ index }) => index)}`,
  );
  check(
    subscription.billedCycles === issued.length,
    `${subscription.billedCycles} billed of ${issued.length}`,
  );
  check(
    issued.length <= (terms.maxCycles ?? Number.POSITIVE_INFINITY),
    `${issued.length} of ${terms.maxCycles}`,
  );
  check(
    invoices.map(({ cycle }: { cycle: { index: number } }) => cycle.index).join() ===
      issued
        .map(({ index }) => index)
        .reverse()
        .slice(0, 100)
        .join(),
    "its invoices are not its cycles",
  );
  const isRunning = ["active", "past-due"].includes(subscription.state) && subscription.cancelAt === null;
  if (isRunning && issued.length !== terms.maxCycles) {
    const next = beginOf(terms, rows.length);
    check(next > shop.now().toISOString(), `cycle ${rows.length} of ${next} is not issued`);
    check(subscription.nextBillingAt === next, `${subscription.nextBillingAt} is next, not ${next}`);
  }
  return problems;
}
