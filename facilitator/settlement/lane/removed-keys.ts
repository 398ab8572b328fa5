/** Gas keys that left the configuration while transactions of theirs were under way. */
import { and, eq, sql } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import { fixed, toBytesArray } from "#store";
import type { Signer } from "../../chain/port.ts";
import type { Engine, OpenChain } from "../engine.ts";
import type { ObserverRow } from "../observer/observer.ts";
import { type Lane, lease, letGo } from "./lane.ts";
import { lookAfter } from "./look-after.ts";
import { slot } from "./tables.ts";

/** Looks after what they have sent, unless another process has their keys: it needs none, save to replace what is stuck.
 *  Each is held for this turn only: a process that is given the key takes it at once. */
export async function tendRemoved(engine: Engine, open: OpenChain, at: ObserverRow): Promise<void> {
  for (const address of await removedKeys(engine, open)) {
    const lane = await lease(engine, open.chain, withoutKey(address));
    if (!lane) continue;
    await tend(engine, lane, at).finally(() => letGo(engine, lane));
  }
}

async function tend(engine: Engine, lane: Lane, at: ObserverRow): Promise<void> {
  const minedNonce = await lane.chain.nonce(lane.signer.address, "latest");
  await lookAfter(engine, lane, { minedNonce, justTaken: false }, at);
}

async function removedKeys(
  { loopDb }: Engine,
  { chain, laneAddresses }: OpenChain,
): Promise<readonly Address[]> {
  const rows = await loopDb.pool
    .selectDistinct({ signer: slot.signer })
    .from(slot)
    .where(
      and(
        eq(slot.chainId, chain.row.chainId),
        fixed(eq(slot.open, true)),
        sql`${slot.signer} <> ALL(${toBytesArray(laneAddresses)})`,
      ),
    )
    .orderBy(slot.signer);
  return rows.map(({ signer }) => signer);
}

const GONE = "its key is not configured any more";

function withoutKey(address: Address): Signer {
  return {
    address,
    refuses: () => true,
    refusal: () => GONE,
    sign: () => Promise.reject(new Error(GONE)),
  };
}
