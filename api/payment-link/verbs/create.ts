import { outbox, type Tx } from "#store";
import { findProducts } from "../../catalog/verbs/find.ts";
import { checkCurrency, priceLines } from "../../catalog/verbs/price.ts";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault, invalid } from "../../http/faults.ts";
import { parseAmount } from "../../http/money.ts";
import { pointingTo } from "../../http/pointer.ts";
import { findMerchant, type MerchantRow } from "../../merchant/verbs/merchant.ts";
import { checkIntent, checkReturnUrl, type IntentDesk } from "../../payment-intent/verbs/create.ts";
import { checkAmount } from "../../payment-intent/verbs/rails.ts";
import { type LinkRow, presentLink } from "../present.ts";
import type { PaymentLink, PaymentLinkInput } from "../schema.ts";
import { paymentLink } from "../tables.ts";
import { type Publishing, publishLink } from "./publish.ts";
import { findLink, type LinkView, shownOf } from "./standing.ts";

/** What changing links needs. */
export type LinkDesk = LinkView & Publishing;

/** What a link asks for, once it was found that it can be paid. */
export type LinkTerms = Pick<LinkRow, "currency" | "amount" | "minAmount" | "maxAmount" | "lines">;

/** Reads what a new link asks for. Before a transaction: it may ask for rates. Faults: those of `checkIntent`; for a cart
 *  those of `priceLines`; `currency_unsupported`, `too_many_decimals`. */
export async function checkLink(
  desk: Pick<IntentDesk, "facilitator" | "rates">,
  { ctx, input }: Call<PaymentLinkInput>,
): Promise<LinkTerms> {
  const none = { minAmount: null, maxAmount: null, lines: [] };
  const wishes = {
    executionPath: "deposit-match",
    provider: "evm",
    settlementAsset: undefined,
    payment: undefined,
  } as const;
  if (input.kind === "open") return { ...none, ...(await openTerms(desk, input)) };
  const payee = await findMerchant(ctx.db.pool, ctx.merchantId);
  if (input.kind === "fixed" && input.amount) {
    const money = parseAmount(input.amount, "/amount");
    await checkIntent(desk, { payee, money }, wishes);
    return { ...none, currency: money.asset, amount: money.amount };
  }
  const { currency = "", lines = [] } = input;
  const ids = lines.map(({ productId }) => productId);
  const { total } = priceLines(await findProducts(ctx.db.pool, ctx.merchantId, ids), currency, lines);
  await pointingTo("/amount/amount", "/lines", () => checkIntent(desk, { payee, money: total }, wishes));
  return { ...none, currency, amount: total.amount, lines };
}

async function openTerms(
  desk: Pick<IntentDesk, "rates">,
  { currency = "", minAmount, maxAmount }: PaymentLinkInput,
) {
  checkCurrency(currency);
  const least = minAmount ? parseAmount(minAmount, "/minAmount").amount : null;
  const most = maxAmount ? parseAmount(maxAmount, "/maxAmount").amount : null;
  if (most !== null && (most === 0n || (least !== null && least > most)))
    throw invalid("/maxAmount", "more than nothing, and not less than `minAmount`");
  // Only whether it is too much counts: what is less than can be paid bounds nobody.
  if (least)
    await pointingTo("/amount/amount", "/minAmount/amount", () =>
      checkAmount(desk, { amount: least, asset: currency }, { executionPath: "x402" }),
    );
  return { currency, amount: null, minAmount: least, maxAmount: most };
}

/** Makes a link; it is not listed. Faults: `merchant_mismatch`, `return_url_not_allowed`, `validation_failed` for an end
 *  that is past. */
export async function createLink(
  desk: LinkDesk & Pick<IntentDesk, "isSandbox">,
  { ctx, input, terms }: Call<PaymentLinkInput> & { readonly terms: LinkTerms },
): Promise<PaymentLink> {
  ctx.demand("links:manage");
  if (input.merchant?.id !== undefined && input.merchant.id !== ctx.merchantId)
    throw fault("merchant_mismatch", { pointer: "/merchant/id" });
  const expiresAt = endOf(input.expiresAt, ctx.now());
  return ctx.tx(async (tx) => {
    const merchant = await findMerchant(tx, ctx.merchantId);
    checkReturnUrl(desk, merchant, input.returnUrl);
    const row = { ...rowOf(ctx, merchant, input, terms), expiresAt };
    await tx.insert(paymentLink).values(row);
    await tellOf(tx, ctx, row.id, "payment_link.created");
    const now = ctx.now();
    const standing = await findLink(tx, now, row);
    await publishLink(desk, tx, standing, now);
    return presentLink(standing, shownOf(desk, merchant, now));
  });
}

/** Fault: `validation_failed` when it is past. */
export function endOf(text: string | null | undefined, now: Date): Date | null {
  if (text === undefined || text === null) return null;
  const end = new Date(text);
  if (end <= now) throw invalid("/expiresAt", "in the future");
  return end;
}

/** Tells of a link in the transaction that changed it. */
export async function tellOf(
  tx: Tx,
  { merchantId, newId }: Pick<MerchantCtx, "merchantId" | "newId">,
  id: string,
  type: "payment_link.created" | "payment_link.updated" | "payment_link.disabled",
): Promise<void> {
  const payload = { paymentLinkId: id };
  await outbox.append(tx, [{ id: newId("evt"), type, subject: id, merchantId, payload }]);
}

function rowOf(
  { newId, now }: MerchantCtx,
  merchant: MerchantRow,
  input: PaymentLinkInput,
  terms: LinkTerms,
): LinkRow {
  const createdAt = now();
  return {
    ...terms,
    merchantId: merchant.id,
    id: newId("plink"),
    kind: input.kind,
    merchantName: input.merchant?.name ?? merchant.name,
    merchantCity: input.merchant?.city ?? merchant.city,
    merchantCountryCode: input.merchant?.countryCode ?? merchant.countryCode,
    merchantCategoryCode: merchant.categoryCode,
    title: input.title ?? null,
    merchantReference: input.merchantReference ?? null,
    metadata: input.metadata ?? {},
    returnUrl: input.returnUrl ?? null,
    listed: false,
    maxPayments: input.maxPayments ?? null,
    expiresAt: null,
    disabledAt: null,
    createdAt,
    updatedAt: createdAt,
    version: 1,
  };
}
