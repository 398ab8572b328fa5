import { sql } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import { toArray, toBytesArray } from "#store";
import type { Rail } from "../../chain/port.ts";
import type { Engine } from "../engine.ts";

const FRESH_MS = 1_000;
const DARK_SECONDS = 30;

/** Which of this deployment's chains can be settled on; rows of others stay after a chain was taken out. */
interface Working {
  /** Followed lately, not halted, with a lane that may sign and has gas. */
  readonly working: ReadonlySet<number>;
  /** Tokens in which payments are taken: none where the chain is halted until a person has decided, and none that nobody
   *  follows so far, since what is paid before that begins would never be seen. */
  readonly taken: ReadonlyMap<number, ReadonlySet<Address>>;
}

/** A network leaves `/x402/supported` before it stops working. Answered from memory for a second, and from the last
 *  answer while the database is away. */
export function workingChains(engine: Engine): () => Promise<Working> {
  // Until the rows have been read nobody here knows who follows what.
  let known: Working = { working: new Set(engine.chains.keys()), taken: new Map() };
  let until = 0;
  let reading: Promise<Working> | null = null;
  const read = async () => {
    known = await readWorking(engine).catch(() => known);
    // A chain that is not there yet is looked for more often: a server that starts beside us waits for it.
    const isComplete = [...engine.chains].every(([chainId, { rails }]) => isWhole(known, chainId, rails));
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

const isWhole = ({ working, taken }: Working, chainId: number, rails: readonly Rail[]) =>
  working.has(chainId) && rails.every(({ ok, token }) => !ok || taken.get(chainId)?.has(token.contract));

interface Row extends Record<string, unknown> {
  readonly chain_id: string;
  readonly halted: boolean;
  readonly works: boolean;
  readonly tokens: readonly Address[];
}

async function readWorking({ db, chains }: Engine): Promise<Working> {
  const ours = toArray([...chains.keys()], "bigint");
  // A key that was rotated out leaves its row, which nobody looks after.
  const lanes = [...chains].flatMap(([chainId, { laneAddresses }]) =>
    laneAddresses.map((address) => ({ chainId, address })),
  );
  const { rows } = await db.pool.execute<Row>(sql`
    SELECT chain_id, halted_reason IS NOT NULL AS halted,
      ARRAY(SELECT '0x' || encode(token, 'hex') FROM followed_token WHERE followed_token.chain_id = observer.chain_id) AS tokens,
      coalesce(followed_at > now() - make_interval(secs => ${DARK_SECONDS}), false)
      AND EXISTS (SELECT 1 FROM signer WHERE signer.chain_id = observer.chain_id AND signer.state = 'active'
        AND signer.low_since IS NULL AND (signer.chain_id, signer.address) IN (SELECT * FROM unnest(
          ${toArray(
            lanes.map(({ chainId }) => chainId),
            "bigint",
          )}, ${toBytesArray(lanes.map(({ address }) => address))}))) AS works
    FROM observer WHERE chain_id = ANY(${ours})`);
  const goingOn = rows.filter(({ halted }) => !halted);
  return {
    working: new Set(goingOn.filter(({ works }) => works).map(({ chain_id }) => Number(chain_id))),
    taken: new Map(goingOn.map(({ chain_id, tokens }) => [Number(chain_id), new Set(tokens)])),
  };
}
