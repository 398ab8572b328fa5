import { sql } from "drizzle-orm";
import type { Refusal } from "../../scheme/reasons.ts";
import type { Settling } from "../settle/settling.ts";
import { examine } from "../verify/examine.ts";
import type { Understood } from "../verify/understand.ts";
import { moveClaims } from "./claim.ts";
import type { ToldClaim } from "./claim-parts.ts";

/** An identical re-send of a failed claim: looked at anew, and queued again when it now passes and attempts are left.
 *  Returns the reason when it stays failed. Fault: `rate_limited`. While one of its transactions may still land, it is
 *  not sent in another. */
export async function reopen(
  { engine, looking, wake }: Settling,
  it: Understood,
  known: ToldClaim,
): Promise<Refusal | null> {
  const examined = await examine(looking, it);
  if ("reason" in examined) return examined;
  if (known.attempts >= engine.settings.maxAttempts) {
    return {
      reason: known.reason ?? "unexpected_settle_error",
      message:
        `${known.message ?? ""} It was tried ${known.attempts} times; sign a fresh authorization.`.trim(),
    };
  }
  if (examined.standings) looking.budgets.demand(it, examined.standings);
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
