/** The lanes that a process holds, and those of others that it may take. */
import { outageOf } from "#store";
import type { Engine, OpenChain } from "../engine.ts";
import { isLowOnGas } from "../lane/funding.ts";
import { isAnyFree, lease } from "../lane/lane.ts";
import type { HeldLane } from "./shared.ts";

/** Whether a lane that another process held is free before its lease lapses. */
export async function isFreed(
  engine: Engine,
  { chain, signers }: OpenChain,
  held: Map<string, HeldLane>,
): Promise<boolean> {
  const others = engine.presence ? signers.filter(({ address }) => !held.has(address)) : [];
  return others.length > 0 && (await isAnyFree(engine, chain, others));
}

/** Takes lanes that are free and renews those of this process; one that was lost leaves `held`. */
export async function renewLanes(
  engine: Engine,
  { chain, signers }: OpenChain,
  held: Map<string, HeldLane>,
): Promise<void> {
  for (const signer of signers) {
    const lane = await lease(engine, chain, signer);
    const known = held.get(signer.address);
    if (!lane) held.delete(signer.address);
    else if (known?.lane.fence === lane.fence) known.lane = lane;
    else {
      held.set(signer.address, {
        lane,
        minedNonce: await chain.nonce(signer.address, "latest"),
        countedAt: null,
        tendedAt: null,
        isLow: false,
      });
    }
    const now = held.get(signer.address);
    if (now) now.isLow = await isLowOnGas(engine, chain, signer).catch(ifUnread(now.isLow));
  }
}

/** A chain that cannot be read says nothing about a lane's gas, and must not cost the other lanes their leases. */
const ifUnread = (known: boolean) => (error: unknown) => {
  if (outageOf(error)) return known;
  throw error;
};
