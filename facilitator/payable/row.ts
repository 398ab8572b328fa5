import type { Hash } from "#kernel/bytes";
import type { Payable } from "./payable.ts";
import type { payable } from "./tables.ts";

/** A payable as the engine sees it: with the authorization that holds it, if it can be paid once. */
export interface FoundPayable extends Payable {
  /** Claim key of the authorization that holds a once-payable; see settlement.md S3. */
  readonly heldBy: Hash | null;
}

/** Money that comes another way closes it, in the very transaction that saw it. */
export function asHeld<P extends Pick<PayableRow, "heldFor" | "closedAt" | "closedAs" | "updatedAt">>(
  row: P,
): P {
  if (row.heldFor === null || row.closedAt) return row;
  return { ...row, closedAt: row.updatedAt, closedAs: "pending" };
}

/** A payable whose time has passed counts as closed, whether or not its feature has closed it yet. */
export function asOf<P extends Payable>(item: P, now: Date): P {
  const { expiresAt = null, closedAt } = item;
  if (closedAt || expiresAt === null || expiresAt > now) return item;
  return { ...item, closedAt: expiresAt, closedAs: "expired" };
}

export type PayableRow = typeof payable.$inferSelect;

export function fromRow(found: PayableRow): FoundPayable {
  const { priceAmount, priceAsset, heldFor: _, ...row } = asHeld(found);
  return { ...row, price: { amount: priceAmount, asset: priceAsset } };
}

/** All columns but who holds it, which belongs to the engine. */
export function toRow({ price, ...rest }: Payable): Omit<PayableRow, "heldBy" | "heldFor"> {
  return {
    id: rest.id,
    kind: rest.kind,
    merchantId: rest.merchantId,
    merchantName: rest.merchantName,
    url: rest.url,
    title: rest.title,
    description: rest.description,
    mimeType: rest.mimeType,
    priceAmount: price.amount,
    priceAsset: price.asset,
    rails: rest.rails,
    maxTimeoutSeconds: rest.maxTimeoutSeconds,
    paymentFlow: rest.paymentFlow,
    serviceName: rest.serviceName,
    tags: rest.tags,
    iconUrl: rest.iconUrl,
    extensions: rest.extensions,
    feeBps: rest.feeBps,
    once: rest.once,
    heldAs: rest.heldAs ?? null,
    listed: rest.listed,
    closedAt: rest.closedAt,
    closedAs: rest.closedAs ?? null,
    expiresAt: rest.expiresAt ?? null,
    number: rest.number ?? null,
    dueAt: rest.dueAt ?? null,
    pageUrl: rest.pageUrl ?? null,
    createdAt: rest.createdAt,
    updatedAt: rest.updatedAt,
  };
}
