import type { Facilitator } from "#facilitator";
import type { ClearingDesk } from "../../clearing/verbs/record.ts";

/** What invoices need besides a request. */
export interface InvoiceDesk extends ClearingDesk {
  /** Outside providers take no part in invoices: their payers choose among the rails of this deployment. */
  readonly providers: readonly [];
  readonly facilitator: ClearingDesk["facilitator"] & Pick<Facilitator, "refusedRails" | "project">;
}
