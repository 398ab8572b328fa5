import type { Hash } from "#kernel/bytes";
import type { ClaimOutcome, ClaimRequest } from "../claim/claim.ts";
import type { ToldClaim } from "../claim/claim-parts.ts";
import type { transactionReader } from "../claim/newest-transaction.ts";
import type { Engine } from "../engine.ts";
import type { Looking } from "../verify/examine.ts";
import type { FirstSight } from "../verify/short-memory.ts";
import type { Reading } from "../verify/understand.ts";
import type { GrantRequest } from "./grant.ts";
import type { Intake } from "./intake.ts";
import type { Replaying } from "./replay.ts";
import type { Telling } from "./told.ts";
import type { Waiters } from "./waiters.ts";

/** What a settle works with; made once per process. */
export interface Settling extends Replaying {
  readonly engine: Engine;
  /** By network. */
  readonly intakes: ReadonlyMap<string, Intake>;
  readonly reading: Reading;
  readonly looking: Looking;
  readonly firstSight: FirstSight;
  readonly writeClaim: (request: ClaimRequest) => Promise<ClaimOutcome>;
  readonly grant: (request: GrantRequest) => Promise<boolean>;
  readonly loadClaim: (claimKey: Hash) => Promise<ToldClaim | null>;
  readonly newestTransaction: ReturnType<typeof transactionReader>;
  readonly waiters: Waiters;
  readonly telling: Telling;
  /** A claim was committed: the dispatcher need not wait for its next turn. */
  readonly wake: () => void;
}
