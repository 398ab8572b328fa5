import type { Facilitator } from "#facilitator";
import type { NewId } from "#kernel/id";
import type { Log } from "#kernel/log";
import type { Database, Tx } from "#store";
import type { IntentRow } from "../payment-intent/verbs/offer.ts";
import type { Rates } from "../rate/verbs.ts";

/** What clearing needs besides a request. */
export interface ClearingDesk {
  readonly db: Database;
  readonly facilitator: Pick<
    Facilitator,
    "rails" | "chains" | "offer" | "project" | "once" | "payments" | "deposits" | "outgoing"
  >;
  readonly rates: Rates;
  readonly baseUrl: string;
  /** Time can be moved here, so it is our clock that says what is late, not the chain's. */
  readonly isSandbox: boolean;
  /** Whether what an intent was made of may be paid by no more than already pay it. Holds that until the transaction ends. */
  readonly isFull: (tx: Tx, intent: IntentRow) => Promise<boolean>;
  readonly newId: NewId;
  readonly now: () => Date;
  readonly log: Log;
}
