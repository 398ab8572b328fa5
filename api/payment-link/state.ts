/** `fixed` asks for an amount, `cart` for what its products cost at checkout, `open` for what its payer enters. */
export const linkKinds = ["fixed", "cart", "open"] as const;
export type LinkKind = (typeof linkKinds)[number];

/** What its merchant set. */
export interface LinkBounds {
  readonly kind: LinkKind;
  readonly disabledAt: Date | null;
  readonly expiresAt: Date | null;
  readonly maxPayments: number | null;
}

/** What follows from elsewhere: what its products cost, and how often it is being paid. */
export interface LinkUse {
  /** What it asks for now; null for an open link, and for a cart of which something has no price. */
  readonly total: bigint | null;
  /** Payments that completed, or whose money is being cleared or comes again after a reorganisation. */
  readonly taken: number;
  readonly completed: number;
  /** Intents that can still be confirmed. */
  readonly reserved: number;
}

/** Why nobody may pay a link. */
export type LinkObstacle = "disabled" | "expired" | "paid" | "pending" | "unpriced";

/** What stands in the way of a payment; null when nothing does. Source: merchant-api.md §1.7. */
export function obstacleOf(
  { link, total, taken, completed }: LinkUse & { readonly link: LinkBounds },
  now: Date,
): LinkObstacle | null {
  if (link.disabledAt !== null) return "disabled";
  if (link.expiresAt !== null && link.expiresAt <= now) return "expired";
  if (link.maxPayments !== null && taken >= link.maxPayments)
    return completed >= link.maxPayments ? "paid" : "pending";
  if (link.kind !== "open" && (total === null || total === 0n)) return "unpriced";
  return null;
}

/** How many more may begin to pay it; null for any number. An intent that can still be confirmed has its place. */
export function placesLeft({
  link,
  taken,
  reserved,
}: LinkUse & { readonly link: LinkBounds }): number | null {
  return link.maxPayments === null ? null : Math.max(0, link.maxPayments - taken - reserved);
}
