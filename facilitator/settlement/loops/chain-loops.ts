import type { Engine, OpenChain } from "../engine.ts";
import type { Waiters } from "../settle/waiters.ts";
import { finisher } from "./finisher.ts";
import { type Loop, loop } from "./loop.ts";
import { rhythm } from "./rhythm.ts";
import { sender } from "./sender.ts";
import type { Shared } from "./shared.ts";
import { tender } from "./tender.ts";
import { watcher } from "./watcher.ts";

/** The loops that move money on one chain: one watches and credits, one sends, one for each lane tends what it sent, one
 *  finishes.
 *  Any number of processes run them; leases decide who acts, and rows decide what is done. */
export function chainLoops(
  engine: Engine,
  open: OpenChain,
  { waiters, incoming }: { readonly waiters: Waiters; readonly incoming: () => number },
): readonly Loop[] {
  const { clock, log, meter, settings } = engine;
  const { slug } = open.chain.row;
  const blockMs = open.chain.row.blockTimeSeconds * 1000;
  const pace = Math.min(settings.pollMs, blockMs / 4);
  const shared: Shared = {
    at: null,
    seen: null,
    booked: 0,
    held: new Map(),
    rhythm: rhythm({ blockMs, paceMs: pace }),
    awaitedUntil: 0,
  };
  const sending = loop(
    { name: `send:${slug}`, clock, log, meter, everyMs: Math.min(50, pace) },
    sender(engine, open, shared, { incoming, blocksAreAwaited: () => watching.wake() }),
  );
  const tending = open.signers.map(({ address }) =>
    loop(
      { name: `tend:${slug}`, clock, log, meter, everyMs: pace },
      tender(engine, shared, address, incoming),
    ),
  );
  const wakeTenders = () => {
    for (const { wake } of tending) wake();
  };
  const watching = loop(
    { name: `watch:${slug}`, clock, log, meter, everyMs: pace },
    watcher(engine, open, waiters, shared, wakeTenders),
  );
  const finishing = loop(
    { name: `final:${slug}`, clock, log, meter, everyMs: pace },
    finisher(engine, open, waiters, shared, incoming),
  );
  return [watching, sending, ...tending, finishing];
}
