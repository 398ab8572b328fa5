import { stableHash } from "#kernel/codec";
import { findProducts } from "../../catalog/verbs/find.ts";
import { type PricedLine, priceLines } from "../../catalog/verbs/price.ts";
import type { Ctx } from "../../http/context.ts";
import type { MoneyInput } from "../../http/money.ts";
import { type Brand, brandOf } from "../../merchant/verbs/brand.ts";
import { findByWrite } from "../../payment-intent/verbs/read.ts";
import type { PaymentLink } from "../../payment-link/schema.ts";
import type { LinkObstacle } from "../../payment-link/state.ts";
import { type CheckoutDesk, checkOutLink, checkVisit } from "../../payment-link/verbs/checkout.ts";
import { openLink } from "../../payment-link/verbs/read.ts";

/** A link as its page shows it. */
export interface LinkView {
  readonly link: PaymentLink;
  /** Why it cannot be paid; null where nothing of its own stands in the way. */
  readonly obstacle: LinkObstacle | null;
  /** Of a cart, by their names; empty where something of it is not for sale. */
  readonly lines: readonly PricedLine[];
  readonly brand: Brand;
}

/** Fault: `not_found`. */
export async function readLinkView(desk: CheckoutDesk, id: string, now: Date): Promise<LinkView> {
  const { link, obstacle } = await openLink(desk, id, now);
  const brand = await brandOf(desk.db.pool, link.merchant.id);
  if (!link.payable || link.lines.length === 0) return { link, obstacle, lines: [], brand };
  const ids = link.lines.map(({ productId }) => productId);
  const products = await findProducts(desk.db.pool, link.merchant.id, ids);
  return { link, obstacle, lines: priceLines(products, link.currency, link.lines).lines, brand };
}

/** Makes the intent of a payer at the page; its id. The same form sent twice makes one. Faults: those of the link's
 *  checkout. */
export async function payLink(
  desk: CheckoutDesk,
  {
    ctx,
    id,
    address,
    token,
    amount,
  }: {
    readonly ctx: Ctx & Parameters<typeof checkVisit>[1]["ctx"];
    readonly id: string;
    /** Where they come from. */
    readonly address: string;
    /** Of the form, made with the page. */
    readonly token: string;
    readonly amount: MoneyInput | undefined;
  },
): Promise<string> {
  const { link } = await openLink(desk, id, ctx.now());
  const fingerprint = stableHash([id, token, amount ?? null]);
  // A browser that goes back may show the form as it was: with another amount it asks for another payment.
  const write = { scope: `${id} form`, key: fingerprint, fingerprint };
  const earlier = await findByWrite(desk.db.pool, link.merchant.id, write);
  if (earlier) return earlier.id;
  const input = { executionPath: "deposit-match" as const, ...(amount ? { amount } : {}) };
  const visit = { ctx, id, input, address };
  const found = await checkVisit(desk, visit);
  const { intent } = await desk.db.tx((tx) => checkOutLink(desk, tx, visit, { found, write }));
  return intent.id;
}
