import { sql } from "drizzle-orm";
import type { Engine } from "./engine.ts";

const FRESH_MS = 1_000;
const DARK_SECONDS = 30;

/** Chains that can settle right now: followed lately, not halted, with a lane that may sign and
 *  has gas. A network leaves
 *  `/x402/supported` before it stops working. Answered from memory for a second, and from the last answer while the
 *  database is away. */
export function workingChains(engine: Engine): () => Promise<ReadonlySet<number>> {
  let known: ReadonlySet<number> = new Set(engine.chains.keys());
  let until = 0;
  return async () => {
    if (engine.clock.monotonicMs() < until) return known;
    known = await readWorking(engine).catch(() => known);
    // A chain that is not there yet is looked for more often: a server that starts beside us waits for it.
    const isComplete = known.size === engine.chains.size;
    until = engine.clock.monotonicMs() + (isComplete ? FRESH_MS : FRESH_MS / 10);
    return known;
  };
}

async function readWorking({ db }: Engine): Promise<ReadonlySet<number>> {
  const { rows } = await db.pool.execute<{ chain_id: string }>(sql`
    SELECT chain_id FROM observer
    WHERE halted_reason IS NULL AND followed_at > now() - make_interval(secs => ${DARK_SECONDS})
      AND EXISTS (SELECT 1 FROM signer WHERE signer.chain_id = observer.chain_id AND signer.state = 'active'
        AND signer.low_since IS NULL)`);
  return new Set(rows.map(({ chain_id }) => Number(chain_id)));
}
