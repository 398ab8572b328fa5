import { sql } from "drizzle-orm";
import type { Refusal } from "../../scheme/reasons.ts";
import type { Settling } from "../settle/settling.ts";
import { examine } from "../verify/examine.ts";
import type { Understood } from "../verify/understand.ts";
import { moveClaims } from "./claim.ts";
import type { ToldClaim } from "./claim-parts.ts";

/** Why a claim stays failed. */
interface StillFailed extends Refusal {
  /** After which the identical request may bring it on; not there where time alone cures nothing. */
  readonly retryAfterSeconds?: number;
}

/** An identical re-send of a failed claim: looked at anew, and queued again when it now passes, attempts are left and a
 *  gas budget has room. Returns the reason when it stays failed. While one of its transactions may still land, it is
 *  not sent in another. */
export async function reopen(
  { engine, looking, wake }: Settling,
  it: Understood,
  known: ToldClaim,
): Promise<StillFailed | null> {
  const examined = await examine(looking, it);
  if ("reason" in examined) return examined;
  if (known.attempts >= engine.settings.maxAttempts)
    return stillFailed(known, `It was tried ${known.attempts} times; sign a fresh authorization.`);
  const refused = examined.standings && looking.budgets.refused(it, examined.standings);
  if (refused) {
    // That nothing was charged would be too much to say: its transaction may come into the chain again.
    const { why, retryAfterSeconds } = refused;
    const next = `It is not sent again now: ${why}. Send the same payment again in ${retryAfterSeconds} seconds.`;
    return { ...stillFailed(known, next), retryAfterSeconds };
  }
  await engine.db.tx((tx) =>
    moveClaims(engine, tx, {
      keys: [known.claimKey],
      to: "claimed",
      cause: "sent again by its payer",
      set: { reason: sql`NULL`, message: sql`NULL`, takenUntil: sql`NULL` },
      where: sql`state = 'failed-watch'`,
    }),
  );
  wake();
  return null;
}

function stillFailed({ reason, message }: ToldClaim, next: string): StillFailed {
  return { reason: reason ?? "unexpected_settle_error", message: `${message ?? ""} ${next}`.trim() };
}
