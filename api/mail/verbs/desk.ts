import type { Clock } from "#kernel/clock";
import type { NewId } from "#kernel/id";
import type { Log } from "#kernel/log";
import type { Database } from "#store";
import type { Mailer } from "../port.ts";

/** What mail needs of the house. */
export interface MailDesk {
  readonly db: Database;
  readonly mailer: Mailer;
  /** Address that mails come from. */
  readonly from: string;
  readonly baseUrl: string;
  /** Where a transaction can be looked up; null where nobody keeps an explorer of its chain. */
  readonly explorerUrl: (chain: string, transaction: string) => string | null;
  /** The machine's: a mail server does not live by a sandbox's clock. */
  readonly clock: Clock;
  /** By the merchants' clock. */
  readonly now: () => Date;
  readonly newId: NewId;
  readonly log: Log;
}
