import type { Payable, RailFacts } from "#facilitator";
import { atParity, priceDecimals } from "#kernel/asset";
import { type Money, mulDivCeil } from "#kernel/money";
import { presentPrice } from "../http/money.ts";
import type { MerchantRow } from "../merchant/verbs/merchant.ts";
import { offeredOn } from "../merchant/verbs/rails.ts";
import type { ProbedResource, Resource, ResourceRail } from "./schema.ts";
import type { resource, resourceProbe } from "./tables.ts";

export type ResourceRow = typeof resource.$inferSelect;

/** The row as the merchant sees it, with the rails on which it can be paid right now, of those that the merchant takes. */
export function presentResource(row: ResourceRow, taken: readonly RailFacts[]): Resource {
  return {
    id: row.id,
    merchantId: row.merchantId,
    url: row.url,
    description: row.description,
    mimeType: row.mimeType,
    price: presentPrice(priceOf(row)),
    maxTimeoutSeconds: row.maxTimeoutSeconds,
    listed: row.listed,
    accepts: offeredRails(priceOf(row), row.rails, taken).map(presentRail),
    paymentFlow: row.paymentFlow,
    serviceName: row.serviceName,
    tags: [...row.tags],
    iconUrl: row.iconUrl,
    extensions: { ...row.extensions },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** The last probe as the merchant sees it; null before the first. */
export function presentProbe({
  at,
  status,
  ok,
  findings,
}: typeof resourceProbe.$inferSelect): ProbedResource["lastProbe"] {
  return at && { at: at.toISOString(), status, ok, findings: [...findings] };
}

/** The checked rails that a price is offered on, of those that the merchant takes: at parity, chosen, and not below the least
 *  amount. USDC first. */
export function offeredRails(
  price: Money,
  chosen: ResourceRow["rails"],
  taken: readonly RailFacts[],
): readonly RailFacts[] {
  const offered = taken.filter(
    (rail) =>
      atParity(price.asset, rail.asset) &&
      (chosen.length === 0 ||
        chosen.some(({ chain, asset }) => chain === rail.chain && asset === rail.asset)) &&
      amountOn(price, rail) >= rail.minimum,
  );
  return [
    ...offered.filter(({ asset }) => asset === "USDC"),
    ...offered.filter(({ asset }) => asset !== "USDC"),
  ];
}

/** Atomic units of the rail's token, rounded up. */
export function amountOn({ amount, asset }: Money, { decimals }: RailFacts): bigint {
  return mulDivCeil(amount, 10n ** BigInt(decimals), 10n ** BigInt(priceDecimals[asset] ?? 0));
}

function presentRail({ chain, asset, contract, payTo, transferMethod, domain }: RailFacts): ResourceRail {
  return { chain, asset, contract, payTo, transferMethod, domain: { ...domain } };
}

export function priceOf({ priceAmount, priceAsset }: ResourceRow): Money {
  return { amount: priceAmount, asset: priceAsset };
}

/** The row as the facilitator knows it. */
export function toPayable(row: ResourceRow, seller: MerchantRow): Payable {
  return {
    id: row.id,
    kind: "resource",
    merchantId: row.merchantId,
    merchantName: seller.name,
    url: row.url,
    title: null,
    description: row.description,
    mimeType: row.mimeType,
    price: priceOf(row),
    rails: offeredOn(seller, row.rails),
    maxTimeoutSeconds: row.maxTimeoutSeconds,
    paymentFlow: row.paymentFlow,
    serviceName: row.serviceName,
    tags: row.tags,
    iconUrl: row.iconUrl,
    extensions: row.extensions,
    feeBps: seller.feeBps,
    once: false,
    listed: row.listed,
    closedAt: row.archivedAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
