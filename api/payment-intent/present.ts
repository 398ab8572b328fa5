import { checksum } from "#kernel/bytes";
import type { Money } from "#kernel/money";
import { presentAmount } from "../http/money.ts";
import type { PaymentIntent } from "./schema.ts";
import type { paymentIntent } from "./tables.ts";

export type IntentRow = typeof paymentIntent.$inferSelect;

/** Where a person pays it. */
export function checkoutUrl(baseUrl: string, { id }: Pick<IntentRow, "id">): string {
  return `${baseUrl}/checkout/${id}`;
}

/** As its merchant sees it. Source: interface §2.2. */
export function presentIntent(row: IntentRow, { baseUrl }: { readonly baseUrl: string }): PaymentIntent {
  const { customer } = row;
  return {
    id: row.id,
    status: row.status,
    merchant: {
      id: row.merchantId,
      name: row.merchantName,
      city: row.merchantCity,
      countryCode: row.merchantCountryCode,
      categoryCode: row.merchantCategoryCode,
    },
    amount: presentAmount(amountOf(row)),
    settlementAsset: row.settlementAsset,
    provider: row.provider,
    payment: {
      asset: row.paymentAsset,
      chain: row.paymentChain,
      payerAddress: row.payerAddress && checksum(row.payerAddress),
    },
    executionPath: row.executionPath,
    source: row.source,
    metadata: { ...row.metadata },
    merchantReference: row.merchantReference,
    clearingTransactionId: row.clearingId,
    failureReason: row.failureReason,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    confirmedAt: row.confirmedAt?.toISOString() ?? null,
    completedAt: row.completedAt?.toISOString() ?? null,
    checkoutUrl: checkoutUrl(baseUrl, row),
    returnUrl: row.returnUrl,
    customer: customer && { email: customer.email ?? null, name: customer.name ?? null },
  };
}

function amountOf({ amount, currency }: Pick<IntentRow, "amount" | "currency">): Money {
  return { amount, asset: currency };
}
