import { presentAmount } from "../http/money.ts";
import type { PaymentLink } from "./schema.ts";
import { type LinkUse, obstacleOf } from "./state.ts";
import type { paymentLink } from "./tables.ts";

export type LinkRow = typeof paymentLink.$inferSelect;

/** A link, and what follows from elsewhere. */
export interface Standing extends LinkUse {
  readonly link: LinkRow;
}

/** What showing links needs. */
export interface Shown {
  readonly baseUrl: string;
  readonly now: Date;
  /** Whether anything can be paid to the merchant on this deployment. */
  readonly hasRails: boolean;
}

/** Where a person pays it. */
export function linkUrl(baseUrl: string, { id }: Pick<LinkRow, "id">): string {
  return `${baseUrl}/checkout/${id}`;
}

/** As its merchant sees it. Source: interface §2.9. */
export function presentLink(standing: Standing, { baseUrl, now, hasRails }: Shown): PaymentLink {
  const { link, total } = standing;
  const money = (amount: bigint | null) =>
    amount === null ? null : presentAmount({ amount, asset: link.currency });
  return {
    id: link.id,
    kind: link.kind,
    merchant: {
      id: link.merchantId,
      name: link.merchantName,
      city: link.merchantCity,
      countryCode: link.merchantCountryCode,
      categoryCode: link.merchantCategoryCode,
    },
    amount: money(total),
    currency: link.currency,
    lines: link.lines.map(({ productId, quantity }) => ({ productId, quantity })),
    minAmount: money(link.minAmount),
    maxAmount: money(link.maxAmount),
    title: link.title,
    merchantReference: link.merchantReference,
    metadata: { ...link.metadata },
    url: linkUrl(baseUrl, link),
    payable: hasRails && obstacleOf(standing, now) === null,
    listed: link.listed,
    maxPayments: link.maxPayments,
    returnUrl: link.returnUrl,
    expiresAt: link.expiresAt?.toISOString() ?? null,
    disabledAt: link.disabledAt?.toISOString() ?? null,
    createdAt: link.createdAt.toISOString(),
    updatedAt: link.updatedAt.toISOString(),
    version: link.version,
  };
}
