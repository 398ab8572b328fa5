import type { Facilitator } from "#facilitator";
import type { ClearingDesk } from "../clearing/verbs/checkout.ts";
import type { ProofDesk } from "../documents/verbs.ts";
import type { InvoiceDesk } from "../invoice/verbs/desk.ts";
import type { KeyMaker } from "../merchant/verbs/key-row.ts";
import type { CheckoutDesk } from "../payment-link/verbs/checkout.ts";
import type { Till } from "../payout/verbs.ts";
import type { RefundDesk } from "../refund/verbs/reserve.ts";
import type { Shop } from "../resource/verbs.ts";
import type { Post } from "../webhook/verbs/endpoint.ts";
import type { Place } from "./nav.ts";
import type { Room } from "./room.tsx";

/** A room of the dashboard: its place in the navigation, and what it puts there. */
export interface Section {
  readonly place: Place;
  furnish(room: Room): void;
}
/** What the verbs behind the sections need; the same as behind the API. */
export interface Desk {
  readonly clearing: ClearingDesk;
  readonly refunds: RefundDesk;
  readonly documents: ProofDesk;
  readonly links: CheckoutDesk;
  readonly invoices: InvoiceDesk;
  /** What is told of things for sale. */
  readonly facilitator: Pick<
    Facilitator,
    "quote" | "trust" | "payments" | "rails" | "chains" | "refusedRails"
  >;
  readonly shop: Shop;
  readonly till: Till;
  readonly keys: KeyMaker;
  readonly post: Post;
  /** The revision that webhook endpoints made here are sent. */
  readonly apiVersion: string;
}
