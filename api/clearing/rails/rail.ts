import type { RailFacts } from "#facilitator";
import type { OrderRow } from "../orders.ts";

/** A way for money that needs an order first. What arrives for it is judged in `order.ts`. */
export interface OrderRail {
  readonly path: OrderRow["path"];
  /** What a wallet reads off a code to pay what is missing, in atomic units; null where it takes a page. */
  readonly uri: (order: OrderRow, missing: bigint, rail: RailFacts) => string | null;
}
