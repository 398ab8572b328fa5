import { and, asc, eq, getTableColumns, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Facilitator } from "#facilitator";
import { isId } from "#kernel/id";
import { type Executor, fixed, type Tx } from "#store";
import { fault } from "../../http/faults.ts";
import { findMerchant, type MerchantRow } from "../../merchant/verbs/merchant.ts";
import { takenRails } from "../../merchant/verbs/rails.ts";
import type { LinkRow, Shown, Standing } from "../present.ts";
import { paymentLink } from "../tables.ts";

/** What showing and finding links needs. */
export interface LinkView {
  readonly facilitator: Pick<Facilitator, "rails">;
  readonly baseUrl: string;
}

/** How a merchant's links are shown now. */
export async function shownAt(
  db: Executor,
  view: LinkView,
  { merchantId, now }: { readonly merchantId: string; readonly now: Date },
): Promise<Shown> {
  return shownOf(view, await findMerchant(db, merchantId), now);
}

/** The same for who has the merchant at hand. */
export function shownOf({ facilitator, baseUrl }: LinkView, seller: MerchantRow, now: Date): Shown {
  return { baseUrl, now, hasRails: takenRails(seller, facilitator.rails()).length > 0 };
}

// The table is named in full: a column alone would be read as one of the subquery.
const cost = sql`(
  SELECT CASE WHEN count(product_price.amount) = count(*)
    THEN sum(product_price.amount * (line->>'quantity')::integer) END
  FROM jsonb_array_elements(payment_link.lines) AS line
  LEFT JOIN product ON product.merchant_id = payment_link.merchant_id
    AND product.id = line->>'productId' AND product.active
  LEFT JOIN product_price ON product_price.merchant_id = product.merchant_id
    AND product_price.product_id = product.id AND product_price.asset = payment_link.currency)`;
const total = sql<
  string | null
>`CASE payment_link.kind WHEN 'fixed' THEN payment_link.amount WHEN 'cart' THEN ${cost} END`;

/** Intents that were made of the link and are in such a position. */
function intents(position: SQL): SQL<number> {
  return sql<number>`(SELECT count(*)::integer FROM payment_intent
    WHERE payment_intent.merchant_id = payment_link.merchant_id AND payment_intent.source = 'payment-link'
      AND payment_intent.metadata->>'paymentLinkId' = payment_link.id AND ${position})`;
}
/** Only a bounded link is counted: the others may have any number. */
const counted = (count: SQL<number>) =>
  sql<number>`CASE WHEN payment_link.max_payments IS NULL THEN 0 ELSE ${count} END`;
// An agent's payment whose block left the chain comes again by itself, until its authorization has ended.
const taken = counted(
  intents(sql`(payment_intent.status IN ('clearing', 'completed')
    OR payment_intent.clearing_state = 'reversed' AND payment_intent.execution_path = 'x402')`),
);
const completed = counted(intents(sql`payment_intent.status = 'completed'`));
const reserved = (now: Date) =>
  counted(
    intents(sql`payment_intent.status = 'created' AND payment_intent.expires_at > ${now.toISOString()}`),
  );

/** True of a link that can be paid: the rule of `obstacleOf`, as SQL. */
export function isPayable(now: Date): SQL | undefined {
  return and(
    isNull(paymentLink.disabledAt),
    or(isNull(paymentLink.expiresAt), sql`${paymentLink.expiresAt} > ${now.toISOString()}`),
    or(isNull(paymentLink.maxPayments), sql`${taken} < payment_link.max_payments`),
    // Without a price it is not payable, and not unknown: the rule is also asked the other way round.
    or(fixed(eq(paymentLink.kind, "open")), sql`coalesce(${total}, 0) > 0`),
  );
}

/** Links with what follows from elsewhere, in one statement. */
export async function standingsWhere(
  db: Executor,
  now: Date,
  { where, order = asc(paymentLink.id), limit }: { where: SQL | undefined; order?: SQL; limit?: number },
): Promise<readonly Standing[]> {
  const query = db
    .select({ link: getTableColumns(paymentLink), total, taken, completed, reserved: reserved(now) })
    .from(paymentLink)
    .where(where)
    .orderBy(order);
  const rows = await (limit === undefined ? query : query.limit(limit));
  return rows.map((row) => ({ ...row, total: row.total === null ? null : BigInt(row.total) }));
}

/** Fault: `not_found`, also for another merchant's. */
export async function findLink(
  db: Executor,
  now: Date,
  { merchantId, id }: { readonly merchantId: string; readonly id: string },
): Promise<Standing> {
  const where = isId("plink", id) ? isIt(merchantId, id) : undefined;
  const [found] = where ? await standingsWhere(db, now, { where }) : [];
  if (!found) throw fault("not_found");
  return found;
}

/** For whoever holds its id. Fault: `not_found`. */
export async function findLinkById(db: Executor, now: Date, id: string): Promise<Standing> {
  const where = isId("plink", id) ? eq(paymentLink.id, id) : undefined;
  const [found] = where ? await standingsWhere(db, now, { where }) : [];
  if (!found) throw fault("not_found");
  return found;
}

/** The same, held until the transaction ends. What it stands at is read once it is held, so that of two who want its last
 *  place the second sees the first. Fault: `not_found`. */
export async function lockLink(
  tx: Tx,
  now: Date,
  { merchantId, id }: { readonly merchantId: string; readonly id: string },
): Promise<Standing> {
  if (!isId("plink", id)) throw fault("not_found");
  const where = isIt(merchantId, id);
  await tx.select({ id: paymentLink.id }).from(paymentLink).where(where).for("update");
  return findLink(tx, now, { merchantId, id });
}

/** Locks many, in the order of their ids. */
export async function lockLinks(tx: Tx, now: Date, where: SQL | undefined): Promise<readonly Standing[]> {
  const rows = await tx
    .select({ id: paymentLink.id })
    .from(paymentLink)
    .where(where)
    .orderBy(asc(paymentLink.id))
    .for("update");
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  return standingsWhere(tx, now, { where: and(where, inArray(paymentLink.id, ids)) });
}

export function isIt(merchantId: string, id: string): SQL | undefined {
  return and(eq(paymentLink.merchantId, merchantId), eq(paymentLink.id, id as LinkRow["id"]));
}
