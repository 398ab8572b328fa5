import type { Facilitator } from "#facilitator";
import type { Money } from "#kernel/money";
import type { Database } from "#store";
import { parseAmount, presentAmount } from "../../http/money.ts";
import { findMerchant } from "../../merchant/verbs/merchant.ts";
import { takenRails } from "../../merchant/verbs/rails.ts";
import { checkAmount } from "../../payment-intent/verbs/rails.ts";
import { ExecutionPath, type Rail } from "../../rate/schema.ts";
import { convert, listRails, type Rates, withSpread } from "../../rate/verbs.ts";
import type { Standing } from "../present.ts";
import type { LinkRail, LinkRailQuery, PaymentLinkPath } from "../schema.ts";
import { amountFor, pointingToQuery, readAmount } from "./checkout.ts";
import { findLinkById } from "./standing.ts";

interface RailDesk {
  readonly db: Database;
  readonly facilitator: Pick<Facilitator, "rails">;
  readonly rates: Rates;
}

/** The ways to pay a link that its merchant takes, each with what it costs there now. A rail that has no price now is a line that is not
 *  available. Faults: `not_found`, `validation_failed`, `too_many_decimals`, `amount_too_small`, `amount_too_large`.
 *  Source: interface §4. */
export async function listLinkRails(
  desk: RailDesk,
  { now, input }: { readonly now: Date; readonly input: PaymentLinkPath & LinkRailQuery },
): Promise<readonly LinkRail[]> {
  const standing = await findLinkById(desk.db.pool, now, input.id);
  const amount = await amountOf(desk, standing, input.amount);
  const { currency } = standing.link;
  const merchant = await findMerchant(desk.db.pool, standing.link.merchantId);
  const rates = withSpread(desk.rates, merchant.spreadBps);
  const rails = takenRails(merchant, listRails({ ...desk, executionPaths: ExecutionPath.options }));
  return Promise.all(
    rails.map(async ({ decimals: _, transferMethod: __, minimum, ...rail }) => ({
      ...rail,
      ...(await priceOn(rates, { asset: rail.asset, minimum }, { amount, currency })),
    })),
  );
}

/** What is to be priced; null while nobody knows it. */
async function amountOf(
  { rates }: Pick<RailDesk, "rates">,
  standing: Standing,
  asked: string | undefined,
): Promise<Money | null> {
  const { link, total } = standing;
  if (asked === undefined) return total === null ? null : { amount: total, asset: link.currency };
  return pointingToQuery(async () => {
    const money = amountFor(standing, readAmount(link, asked));
    // The finest path decides what is too small: each rail says for itself whether it takes so little.
    await checkAmount({ rates }, money, { executionPath: "x402" });
    return money;
  });
}

async function priceOn(
  rates: Rates,
  { asset, minimum }: Pick<Rail, "asset" | "minimum">,
  { amount, currency }: { readonly amount: Money | null; readonly currency: string },
): Promise<Pick<LinkRail, "amount" | "rate" | "available">> {
  const answer = await rates.rate({ from: currency, to: asset });
  if (!answer.ok) {
    const none = presentAmount({ amount: 0n, asset });
    return { amount: none, rate: { scaledRate: "0", source: "none" }, available: false };
  }
  const { scaledRate, source } = answer.rate;
  const due = amount && convert(amount, answer.rate);
  return {
    amount: due && presentAmount(due),
    rate: { scaledRate: scaledRate.toString(), source },
    available: due === null || due.amount >= parseAmount(minimum, "").amount,
  };
}
