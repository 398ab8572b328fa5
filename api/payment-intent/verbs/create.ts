import { sql } from "drizzle-orm";
import type { Facilitator, RailFacts } from "#facilitator";
import { atParity } from "#kernel/asset";
import { parseAddress } from "#kernel/bytes";
import { assert, Fault } from "#kernel/fault";
import type { NewId } from "#kernel/id";
import type { Money } from "#kernel/money";
import { insertMany, outbox, type Tx } from "#store";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import type { WriteKey } from "../../http/idempotency.ts";
import { parseAmount } from "../../http/money.ts";
import { isAllowedOrigin } from "../../http/origin.ts";
import { findMerchant, type MerchantRow } from "../../merchant/verbs/merchant.ts";
import { demandActive, type Taker, takenRails, takesAny } from "../../merchant/verbs/rails.ts";
import { convert, lockRate, lockWindow, type Rates, spread } from "../../rate/verbs.ts";
import { type IntentRow, presentIntent } from "../present.ts";
import type { PaymentIntent, PaymentIntentInput } from "../schema.ts";
import type { IntentSource, IntentStatus } from "../state.ts";
import { type AskedRail, paymentIntent } from "../tables.ts";
import { nameableRails, noOffer, type Offer, offerAtParity, offerAtRate, publishIntent } from "./offer.ts";
import {
  checkAmount,
  checkFloor,
  demandCoin,
  type PricedRail,
  priceOf,
  priceRails,
  railsFor,
} from "./rails.ts";
import { findByWrite } from "./read.ts";

/** What making intents needs besides the request. */
export interface IntentDesk {
  readonly facilitator: Pick<Facilitator, "rails" | "refusedRails" | "project">;
  readonly rates: Rates;
  readonly baseUrl: string;
  readonly isSandbox: boolean;
  /** Names of the outside providers that take money for this deployment. */
  readonly providers: readonly string[];
}
/** Who makes it, and when. */
export interface Making {
  readonly newId: NewId;
  readonly now: () => Date;
}

/** What is asked for, once it was found possible. */
export interface Checked {
  readonly money: Money;
  readonly asked: AskedRail;
  readonly rails: readonly RailFacts[];
  /** What it costs now, where no rail is at parity; null also when that cannot be said now. */
  readonly priced: PricedRail | null;
}

const LIFE_SECONDS = 3_600;

type Wishes = Pick<PaymentIntentInput, "executionPath" | "settlementAsset" | "payment" | "provider">;

/** Finds out whether an amount can be paid as asked. May ask for rates, so it comes before any transaction. Faults:
 *  `merchant_suspended`, `amount_too_small`, `amount_too_large`, `rail_unsupported`. */
export async function checkIntent(
  { facilitator, rates }: Pick<IntentDesk, "facilitator" | "rates">,
  { payee, money }: { readonly payee: Taker; readonly money: Money },
  { executionPath, settlementAsset, payment, provider }: Wishes,
): Promise<Checked> {
  demandActive(payee);
  const named = { executionPath, settlementAsset, asset: payment?.asset, chain: payment?.chain };
  await checkAmount({ rates }, money, named);
  // Another provider has rails of its own, and takes no agents.
  if (provider !== "evm") {
    demandCoin(named);
    return { money, asked: named, rails: [], priced: null };
  }
  const rails = railsFor(takenRails(payee, facilitator.rails()), named, money.asset);
  const asked = named.chain === undefined ? named : { ...named, chain: rails[0]?.chain };
  const atPar = rails.filter(({ asset }) => atParity(money.asset, asset));
  if (atPar.length === 0) return { money, asked, rails, priced: await pricedNow({ rates }, money, rails) };
  checkFloor(priceOf(money), atPar);
  return { money, asked, rails, priced: null };
}

/** Without a rate the request stands all the same: confirm asks again. */
async function pricedNow(deps: Pick<IntentDesk, "rates">, money: Money, rails: readonly RailFacts[]) {
  try {
    return await priceRails(deps, money, rails);
  } catch (error) {
    if (error instanceof Fault && error.code === "rate_unavailable") return null;
    throw error;
  }
}

/** Everything an intent is made of. */
export interface IntentTerms extends Checked {
  readonly merchant: MerchantRow;
  readonly source: IntentSource;
  readonly input: Omit<PaymentIntentInput, "amount" | "executionPath" | "settlementAsset">;
  readonly write: WriteKey | null;
  /** Id of the once-payable that it pays together with others; left out where it stands alone. */
  readonly heldAs?: string;
}

/** For who is asked to pay at once: what nobody can price now cannot be offered. Fault: `rate_unavailable`. */
export function demandPrice({ money, rails, priced }: Checked): void {
  if (priced || rails.some(({ asset }) => atParity(money.asset, asset))) return;
  throw fault("rate_unavailable", { from: money.asset, to: rails.map(({ asset }) => asset).join(", ") });
}

/** Makes a payment request that never changes, and offers it to agents. Asked again with the same key and body it comes
 *  back as it is. Faults: `merchant_mismatch`, `return_url_not_allowed`, `rail_unsupported`, `idempotency_key_reused`.
 *  Source: interface §4 rule 3. */
export async function createIntent(
  desk: IntentDesk,
  {
    ctx,
    input,
    checked,
    write,
  }: Call<PaymentIntentInput> & { readonly checked: Checked; readonly write: WriteKey | null },
): Promise<{ readonly intent: PaymentIntent; readonly isRepeated: boolean }> {
  ctx.demand("payments:write");
  return ctx.tx(async (tx) => {
    const merchant = await findMerchant(tx, ctx.merchantId);
    const made = await makeIntent(desk, tx, ctx, { ...checked, merchant, source: "api", input, write });
    return { intent: presentIntent(made.row, desk), isRepeated: made.isRepeated };
  });
}

/** Reads the amount of a request and finds out whether it can be paid. Faults: those of `checkIntent`,
 *  `currency_unsupported`, `too_many_decimals`. */
export async function checkInput(
  desk: IntentDesk,
  { ctx, input }: Call<PaymentIntentInput>,
): Promise<Checked> {
  const money = parseAmount(input.amount, "/amount");
  const payee = await findMerchant(ctx.db.pool, ctx.merchantId);
  return checkIntent(desk, { payee, money }, input);
}

/** The same for features that make intents of their own: in their transaction, for the source they are. */
export async function makeIntent(
  desk: IntentDesk,
  tx: Tx,
  making: Making,
  terms: IntentTerms,
): Promise<{ readonly row: IntentRow; readonly isRepeated: boolean }> {
  checkTerms(desk, terms);
  const row = rowOf(making, terms, await offerOf(desk, tx, making, terms));
  const { rowCount } = await tx.execute(sql`${insertMany(paymentIntent, [row])} ON CONFLICT DO NOTHING`);
  if (rowCount === 0) return { row: await earlier(tx, terms), isRepeated: true };
  await publishIntent(desk, tx, row, null);
  await outbox.append(tx, [intentFact(making.newId, row, "payment.created", null)]);
  return { row, isRepeated: false };
}

function checkTerms(desk: IntentDesk, { merchant, input }: IntentTerms): void {
  if (input.merchant?.id !== undefined && input.merchant.id !== merchant.id)
    throw fault("merchant_mismatch", { pointer: "/merchant/id" });
  if (input.provider !== "evm" && !desk.providers.includes(input.provider))
    throw fault("rail_unsupported", { rail: input.provider, pointer: "/provider" });
  checkReturnUrl(desk, merchant, input.returnUrl);
}

/** Fault: `return_url_not_allowed`. */
export function checkReturnUrl(
  desk: Pick<IntentDesk, "isSandbox">,
  merchant: MerchantRow,
  returnUrl: string | undefined,
): void {
  if (returnUrl !== undefined && !isReturnable(returnUrl, merchant, desk))
    throw fault("return_url_not_allowed", { pointer: "/returnUrl" });
}

/** A page of an origin that the merchant registered: payers are never sent elsewhere. */
function isReturnable(
  text: string,
  { allowedOrigins }: MerchantRow,
  { isSandbox }: Pick<IntentDesk, "isSandbox">,
): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, username, password } = new URL(text);
  if (!/^https?:$/.test(protocol) || username !== "" || password !== "") return false;
  return isAllowedOrigin(origin, { allowedOrigins, isSandbox });
}

/** What agents are offered from the start: the price itself, or what it comes to at a rate that is locked for it. */
async function offerOf(
  { facilitator }: Pick<IntentDesk, "facilitator">,
  tx: Tx,
  making: Making,
  { money, rails, asked, priced, merchant }: IntentTerms,
): Promise<Offer> {
  // Another provider takes no agents.
  if (rails.length === 0) return noOffer;
  // Found anew: the setting may have changed since the rails were.
  const named = nameableRails(facilitator, merchant, { asked, currency: money.asset });
  if (!priced) return offerAtParity(money, named, { ...asked, isAnyTaken: takesAny(merchant) }) ?? noOffer;
  const rate = spread(priced.rate, merchant.spreadBps);
  const { id: rateId, lockedAt } = await lockRate(tx, making, { merchantId: merchant.id, rate });
  const until = new Date(lockedAt.getTime() + lockWindow(rate.source).seconds * 1000);
  return offerAtRate({ due: convert(money, rate) }, named, { rateId, until });
}

function rowOf({ newId, now }: Making, terms: IntentTerms, offer: Offer): IntentRow {
  const { merchant, money, asked, input, write, source } = terms;
  const createdAt = now();
  const seconds = input.expiresInSeconds ?? LIFE_SECONDS;
  return {
    merchantId: merchant.id,
    id: newId("pi"),
    status: "created",
    amount: money.amount,
    currency: money.asset,
    provider: input.provider,
    source,
    asked,
    settlementAsset: asked.settlementAsset ?? null,
    paymentAsset: asked.asset ?? null,
    paymentChain: asked.chain ?? null,
    payerAddress: parseAddress(input.payment?.payerAddress),
    payerDeclared: input.payment?.payerAddress !== undefined,
    executionPath: null,
    merchantName: input.merchant?.name ?? merchant.name,
    merchantCity: input.merchant?.city ?? merchant.city,
    merchantCountryCode: input.merchant?.countryCode ?? merchant.countryCode,
    merchantCategoryCode: merchant.categoryCode,
    merchantReference: input.merchantReference ?? null,
    metadata: input.metadata ?? {},
    customer: input.customer ?? null,
    returnUrl: input.returnUrl ?? null,
    feeBps: merchant.feeBps,
    expiresInSeconds: input.expiresInSeconds ?? null,
    ...offer,
    heldAs: terms.heldAs ?? null,
    clearingId: null,
    clearingState: null,
    failureReason: null,
    idempotencyScope: write?.scope ?? null,
    idempotencyKey: write?.key ?? null,
    fingerprint: write?.fingerprint ?? null,
    createdAt,
    updatedAt: createdAt,
    expiresAt: new Date(createdAt.getTime() + seconds * 1000),
    confirmedAt: null,
    completedAt: null,
  };
}

/** The intent that this very request made before the record of its key was pruned. */
async function earlier(tx: Tx, { merchant, write }: IntentTerms): Promise<IntentRow> {
  assert(write, "a new intent's id was taken");
  const found = await findByWrite(tx, merchant.id, write);
  assert(found, "an intent that stands in the way cannot be read");
  if (found.fingerprint !== write.fingerprint) throw fault("idempotency_key_reused");
  return found;
}

/** A fact about an intent without a clearing. `before` is the status that it had. */
export function intentFact(
  newId: NewId,
  row: Pick<IntentRow, "id" | "merchantId">,
  type: string,
  before: IntentStatus | null,
): outbox.Fact {
  const previous = before && { status: before, state: null };
  const payload = { paymentIntentId: row.id, clearingId: null, previous };
  return { id: newId("evt"), type, subject: row.id, merchantId: row.merchantId, payload };
}
