import { sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import type { AuthorizationState, Chain } from "../../chain/port.ts";
import type { Engine } from "../engine.ts";
import { giveBack, HOLD_SECONDS } from "../lane/queue.ts";
import { isFollowed } from "../observer/canonical.ts";
import { firstRecorded } from "../observer/followed.ts";
import { markSpent } from "../observer/observe.ts";
import type { ObserverRow } from "../observer/observer.ts";
import { findUse, freshnessFloor, revertMessage, revertReason } from "../verify/examine.ts";
import { type Claim, moveClaims } from "./claim.ts";
import type { SentClaim } from "./claim-parts.ts";
import { isOutgoing } from "./state.ts";

/** It would fail now: answered as failed, with the chain's reason, and watched on. A used nonce is looked up first: if
 *  a stranger has paid us with it, the observer will credit it. */
export async function refuse(
  engine: Engine,
  chain: Chain,
  claim: SentClaim,
  state: AuthorizationState,
  at: ObserverRow,
): Promise<void> {
  if (state.used) return resolveUsed(engine, chain, claim, at);
  const late = claim.validBefore < BigInt(state.block.timestamp) + freshnessFloor(chain);
  // Our own treasury has the money soon again; it is asked until the authorization ends.
  if (
    !late &&
    isOutgoing(claim.kind) &&
    !state.transfer.ok &&
    state.transfer.revert === "insufficient-balance"
  )
    return giveBack(engine, [claim.claimKey], HOLD_SECONDS);
  const revert = late
    ? "authorization-expired"
    : state.transfer.ok
      ? "authorization-not-yet-valid"
      : state.transfer.revert;
  await fail(engine, [claim.claimKey], revertReason(revert), revertMessage(revert));
}

/** What a used nonce was used for decides what becomes of its claim. */
export async function resolveUsed(
  engine: Engine,
  chain: Chain,
  claim: SentClaim,
  at: ObserverRow,
): Promise<void> {
  const fromBlock = await firstRecorded(engine.loopDb.pool, at, claim.token);
  const use = await findUse(chain, { ...claim, fromBlock });
  switch (use.kind) {
    case "paid":
      await engine.loopDb.tx((tx) =>
        moveClaims(engine, tx, {
          keys: [claim.claimKey],
          to: "submitting",
          cause: "submitted by a third party",
          where: sql`state = 'claimed'`,
        }),
      );
      return;
    case "elsewhere":
      if (await isFollowed(engine, chain, use.block.hash))
        await engine.loopDb.tx((tx) => markSpent(engine, tx, [claim.claimKey], use.block));
      else await giveBack(engine, [claim.claimKey], 1);
      return;
    case "not-found":
      // Used, says one view; by no event, says another. Nothing is concluded from that; the next turn asks again.
      await giveBack(engine, [claim.claimKey], 1);
  }
}

/** Answered as failed with this reason, and watched on. */
export async function fail(
  engine: Engine,
  keys: readonly Hash[],
  reason: Claim["reason"],
  message: string,
): Promise<void> {
  await engine.loopDb.tx((tx) =>
    moveClaims(engine, tx, {
      keys,
      to: "failed-watch",
      cause: reason ?? "failed",
      set: { reason, message },
      fact: "settlement.failed",
    }),
  );
}
