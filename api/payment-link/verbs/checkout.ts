import { and, asc, eq, gt, or, sql } from "drizzle-orm";
import { stableHash } from "#kernel/codec";
import { Fault } from "#kernel/fault";
import type { Money } from "#kernel/money";
import { type Database, fixed, type Tx } from "#store";
import { keepCart } from "../../cart/verbs.ts";
import { findProducts } from "../../catalog/verbs/find.ts";
import { priceLines } from "../../catalog/verbs/price.ts";
import { fault, invalid } from "../../http/faults.ts";
import type { WriteKey } from "../../http/idempotency.ts";
import { MoneyInput, parseAmount, presentAmount } from "../../http/money.ts";
import { pointingTo } from "../../http/pointer.ts";
import { METADATA_KEYS } from "../../http/text.ts";
import { findMerchant } from "../../merchant/verbs/merchant.ts";
import type { PaymentIntent } from "../../payment-intent/schema.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";
import {
  type Checked,
  checkIntent,
  type IntentDesk,
  type Making,
  makeIntent,
} from "../../payment-intent/verbs/create.ts";
import { presentIntent } from "../../payment-intent/verbs/read.ts";
import type { LinkRow, Standing } from "../present.ts";
import type { LinkCheckoutInput } from "../schema.ts";
import { obstacleOf, placesLeft } from "../state.ts";
import { paymentLinkCheckout } from "../tables.ts";
import type { LinkDesk } from "./create.ts";
import { publishLink, uncountedAgents } from "./publish.ts";
import { findLink, findLinkById, lockLink } from "./standing.ts";

export type CheckoutDesk = IntentDesk & LinkDesk & { readonly db: Database };

/** A payer, who holds the link's id and nothing else. */
export interface Visit {
  readonly ctx: Making;
  readonly id: string;
  readonly input: LinkCheckoutInput;
  /** Where they come from. */
  readonly address: string;
}
/** A link as it stood before the transaction, and what its payer was found able to pay. */
export interface CheckedVisit {
  readonly link: LinkRow;
  readonly checked: Checked;
}

/** Finds out what a payer has to pay and whether that can be done as asked; may ask for rates. Faults: `not_found`,
 *  `link_not_payable`, `validation_failed`, and those of `checkIntent`. */
export async function checkVisit(desk: CheckoutDesk, { ctx, id, input }: Visit): Promise<CheckedVisit> {
  const now = ctx.now();
  const standing = await findLinkById(desk.db.pool, now, id);
  demandPayable(standing, now);
  const money = amountFor(standing, input);
  const wishes = { ...input, settlementAsset: undefined, provider: "evm" as const };
  const payee = await findMerchant(desk.db.pool, standing.link.merchantId);
  return { link: standing.link, checked: await checkIntent(desk, { payee, money }, wishes) };
}

/** What the payer owes: the link's own amount, or for an open one what they name. */
export function amountFor({ link, total }: Standing, { amount }: Pick<LinkCheckoutInput, "amount">): Money {
  const { currency: asset, minAmount, maxAmount } = link;
  if (link.kind !== "open") {
    if (amount !== undefined) throw invalid("/amount", "none: the link says what it costs. Leave it out");
    return { amount: total ?? 0n, asset };
  }
  if (amount === undefined) throw invalid("/amount", "needed: the payer of an open link says how much");
  if (amount.asset !== asset) throw invalid("/amount/asset", `${asset}, the currency of the link`);
  const money = parseAmount(amount, "/amount");
  const about = { asset, pointer: "/amount/amount" };
  const text = (bound: bigint) => presentAmount({ amount: bound, asset }).amount;
  if (minAmount !== null && money.amount < minAmount)
    throw fault("amount_too_small", { ...about, minimum: text(minAmount) });
  if (maxAmount !== null && money.amount > maxAmount)
    throw fault("amount_too_large", { ...about, maximum: text(maxAmount) });
  return money;
}

/** An amount that a query names, in the link's currency. Fault: `validation_failed`. */
export function readAmount(
  { currency }: LinkRow,
  text: string | undefined,
): Pick<LinkCheckoutInput, "amount"> {
  if (text === undefined) return {};
  const parsed = MoneyInput.safeParse({ amount: text, asset: currency });
  if (!parsed.success) throw invalid("/query/amount", "a decimal string in major units, such as 12.50");
  return { amount: parsed.data };
}

/** What it says of the amount of a checkout it says of its query. */
export function pointingToQuery<T>(work: () => Promise<T>): Promise<T> {
  return pointingTo("/amount", "/query/amount", work);
}

const reasons = {
  disabled: "its merchant has disabled it",
  expired: "it has expired",
  paid: "it was paid as often as it may be",
  pending: "its last payments are under way",
  unpriced: "something in it is not for sale now",
} as const;

function demandPayable(standing: Standing, now: Date): void {
  const obstacle = obstacleOf(standing, now);
  if (obstacle !== null) throw notPayable(reasons[obstacle]);
  if (placesLeft(standing) === 0) throw notPayable(reasons.pending);
}

function notPayable(why: string) {
  return fault("link_not_payable", { why });
}

/** Makes the payment intent of a payer. It has one of the link's places while it can be paid. Faults:
 *  `link_not_payable`, `validation_failed` for too many metadata, `rate_limited`, `return_url_not_allowed`,
 *  `idempotency_key_reused`. */
export async function checkOutLink(
  desk: CheckoutDesk,
  tx: Tx,
  { ctx, input, address }: Visit,
  { found, write }: { readonly found: CheckedVisit; readonly write: WriteKey | null },
): Promise<{ readonly intent: PaymentIntent; readonly isRepeated: boolean }> {
  const now = ctx.now();
  const isBounded = found.link.maxPayments !== null;
  const standing = await (isBounded ? lockLink : findLink)(tx, now, found.link);
  demandPayable(standing, now);
  const { link } = standing;
  const basket = link.kind === "cart" ? await basketOf(tx, link) : null;
  const total = basket ? basket.total.amount : standing.total;
  if (link.kind !== "open" && total !== found.checked.money.amount)
    throw notPayable("its price has just changed; repeat the request");
  const from = stableHash([link.id, address]);
  await demandQuota(tx, link, from, now);
  const merchant = await findMerchant(tx, link.merchantId);
  const terms = { ...found.checked, merchant, source: "payment-link" as const, input: asIntent(link, input) };
  const { row, isRepeated } = await makeIntent(desk, tx, ctx, { ...terms, write });
  const intent = presentIntent(row, desk);
  if (isRepeated) return { intent, isRepeated };
  const about = { merchantId: link.merchantId, intentId: row.id, linkId: link.id };
  await tx.insert(paymentLinkCheckout).values({ ...about, address: from, createdAt: now });
  if (basket) {
    const cart = { intentId: row.id, currency: link.currency, lines: basket.lines };
    await keepCart(tx, { merchantId: link.merchantId, newId: ctx.newId, now: ctx.now }, cart);
  }
  if (isBounded) await takePlace(desk, tx, link, now);
  return { intent, isRepeated };
}

/** What an intent of the link says. The link's own words go before the payer's. */
function asIntent(link: LinkRow, { payment, customer, merchantReference, metadata }: LinkCheckoutInput) {
  const { merchantName: name, merchantCity: city, merchantCountryCode: countryCode } = link;
  return {
    ...{ payment, customer, provider: "evm" as const },
    merchant: { name, city, countryCode },
    merchantReference: link.merchantReference ?? merchantReference,
    metadata: { ...wordsOf(link, metadata), paymentLinkId: link.id },
    returnUrl: link.returnUrl ?? undefined,
    // A place of few is not kept for long by somebody who does not pay.
    expiresInSeconds: link.maxPayments === null ? undefined : 900,
  };
}

/** Fault: `validation_failed` when they are too many together. */
function wordsOf({ metadata: own }: LinkRow, said: LinkCheckoutInput["metadata"]) {
  const words = { ...said, ...own };
  const room = METADATA_KEYS - Object.keys(own).length;
  if (Object.keys(words).length > METADATA_KEYS)
    throw invalid(
      "/metadata",
      `at most ${room} keys that the link has not: with its own they are ${METADATA_KEYS}`,
    );
  return words;
}

/** What is in a cart, at what it costs now. Read once: what is kept of it adds up to what its payer is asked for. Fault:
 *  `link_not_payable`. */
async function basketOf(tx: Tx, { merchantId, currency, lines }: LinkRow) {
  const ids = lines.map(({ productId }) => productId);
  const products = await findProducts(tx, merchantId, ids);
  try {
    return priceLines(products, currency, lines);
  } catch (error) {
    // It points at a line, which the payer has not sent.
    throw error instanceof Fault ? notPayable(reasons.unpriced) : error;
  }
}

/** Closes the link to agents once its places are gone. From then on none can begin to pay it, so one who has begun is seen
 *  here, and the place is theirs. */
async function takePlace(desk: CheckoutDesk, tx: Tx, link: LinkRow, now: Date): Promise<void> {
  const after = await findLink(tx, now, link);
  await publishLink(desk, tx, after, now);
  const wanted = after.taken + after.reserved + (await uncountedAgents(desk, tx, link));
  if (wanted > (link.maxPayments ?? wanted)) throw notPayable(reasons.pending);
}

const QUOTA = 50;
const HOUR_MS = 3_600_000;

/** How many intents one address may leave unpaid on a link in an hour. Source: merchant-api.md §3.3. */
async function demandQuota(tx: Tx, link: LinkRow, address: `0x${string}`, now: Date): Promise<void> {
  const { createdAt, intentId } = paymentLinkCheckout;
  const unpaid = await tx
    .select({ createdAt })
    .from(paymentLinkCheckout)
    .innerJoin(
      paymentIntent,
      and(eq(paymentIntent.merchantId, paymentLinkCheckout.merchantId), eq(paymentIntent.id, intentId)),
    )
    .where(
      and(
        eq(paymentLinkCheckout.merchantId, link.merchantId),
        eq(paymentLinkCheckout.linkId, link.id),
        sql`${paymentLinkCheckout.address} = ${sql.param(address, paymentLinkCheckout.address)}`,
        gt(createdAt, new Date(now.getTime() - HOUR_MS)),
        or(
          fixed(eq(paymentIntent.status, "created")),
          fixed(eq(paymentIntent.clearingState, "awaiting-funds")),
        ),
        gt(paymentIntent.expiresAt, now),
      ),
    )
    .orderBy(asc(createdAt))
    .limit(QUOTA);
  const [oldest] = unpaid;
  if (!oldest || unpaid.length < QUOTA) return;
  const waitMs = oldest.createdAt.getTime() + HOUR_MS - now.getTime();
  throw fault("rate_limited", { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}
