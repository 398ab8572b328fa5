import type { Clock } from "#kernel/clock";
import type { Log } from "#kernel/log";
import type { Database } from "#store";
import type { ClearingDesk } from "../../clearing/verbs/lead.ts";
import type { RefundDesk } from "../../refund/verbs/reserve.ts";
import type { Providers } from "../port.ts";

/** What leading payments at providers needs. */
export interface ProviderDesk {
  readonly db: Database;
  readonly providers: Providers;
  /** The machine's: providers are asked by it. */
  readonly clock: Clock;
  readonly log: Log;
  readonly refunds: RefundDesk;
  /** What moves clearings and refunds; its time is the merchants'. */
  readonly keeping: Pick<ClearingDesk, "facilitator" | "baseUrl" | "newId" | "now">;
}

/** What became of an order at this look. */
export interface Looked {
  /** When to look again, callbacks apart; null when nothing more can come. */
  readonly againMs: number | null;
}
