import { sql } from "drizzle-orm";
import { toArray } from "#store";
import type { Engine } from "./engine.ts";

const FRESH_MS = 1_000;
const DARK_SECONDS = 30;

/** Which of this deployment's chains can be settled on; rows of others stay after a chain was taken out. */
interface Working {
  /** Followed lately, not halted, with a lane that may sign and has gas. */
  readonly working: ReadonlySet<number>;
  /** Takes no payments: it is halted until a person has decided, or nobody follows it so far, and what is paid before that
   *  begins would never be seen. */
  readonly closed: ReadonlySet<number>;
}

/** A network leaves `/x402/supported` before it stops working. Answered from memory for a second, and from the last
 *  answer while the database is away. */
export function workingChains(engine: Engine): () => Promise<Working> {
  // Until the rows have been read nobody here knows who follows what.
  const all = new Set(engine.chains.keys());
  let known: Working = { working: all, closed: all };
  let until = 0;
  let reading: Promise<Working> | null = null;
  const read = async () => {
    known = await readWorking(engine).catch(() => known);
    // A chain that is not there yet is looked for more often: a server that starts beside us waits for it.
    const isComplete = known.working.size === all.size && known.closed.size === 0;
    until = engine.clock.monotonicMs() + (isComplete ? FRESH_MS : FRESH_MS / 10);
    reading = null;
    return known;
  };
  return async () => {
    if (engine.clock.monotonicMs() < until) return known;
    // Of all that ask when it is no longer fresh one reads.
    reading ??= read();
    return reading;
  };
}

async function readWorking({ db, chains }: Engine): Promise<Working> {
  const ours = toArray([...chains.keys()], "bigint");
  const { rows } = await db.pool.execute<{ chain_id: string; halted: boolean; works: boolean }>(sql`
    SELECT chain_id, halted_reason IS NOT NULL AS halted,
      coalesce(followed_at > now() - make_interval(secs => ${DARK_SECONDS}), false)
      AND EXISTS (SELECT 1 FROM signer WHERE signer.chain_id = observer.chain_id AND signer.state = 'active'
        AND signer.low_since IS NULL) AS works
    FROM observer WHERE chain_id = ANY(${ours})`);
  const idsOf = (some: typeof rows) => new Set(some.map(({ chain_id }) => Number(chain_id)));
  const followed = idsOf(rows.filter(({ halted }) => !halted));
  return {
    working: idsOf(rows.filter(({ halted, works }) => works && !halted)),
    closed: new Set([...chains.keys()].filter((id) => !followed.has(id))),
  };
}
