import type { Facilitator } from "#facilitator";
import type { NewId } from "#kernel/id";
import type { Log } from "#kernel/log";
import type { Database } from "#store";
import type { Rates } from "../rate/verbs.ts";

/** What clearing needs besides a request. */
export interface ClearingDesk {
  readonly db: Database;
  readonly facilitator: Pick<
    Facilitator,
    "rails" | "offer" | "project" | "once" | "payments" | "deposits" | "outgoing"
  >;
  readonly rates: Rates;
  readonly baseUrl: string;
  /** Time can be moved here, so it is our clock that says what is late, not the chain's. */
  readonly isSandbox: boolean;
  readonly newId: NewId;
  readonly now: () => Date;
  readonly log: Log;
}
