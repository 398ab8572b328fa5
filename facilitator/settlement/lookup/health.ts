import { sql } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import { type Executor, outbox } from "#store";
import { isTaken } from "../../chain/rails.ts";
import type { Engine } from "../engine.ts";
import { unapprovedAssets } from "../treasury/approval.ts";
import { limitedAssets } from "../treasury/daily-limit.ts";
import { brokenAssets } from "../treasury/reconcile.ts";

/** What an operator looks at: per chain how far it is followed, its lanes, and the claims that are still open. */
export interface SettlementHealth {
  /** False while the database takes no writes: with a full disk, or as another's standby. */
  readonly isWritable: boolean;
  readonly chains: readonly {
    readonly chain: string;
    readonly cursor: number | null;
    readonly finalized: number | null;
    readonly halted: string | null;
    /** Assets in which nothing is paid: their contracts are not what they should be, or no longer what they were. */
    readonly refused: readonly string[];
    /** Assets whose books differed from the chain when they were last compared: nothing of them leaves. */
    readonly differing: readonly string[];
    /** Assets of which something waits to leave, since a day's limit has no room for it. */
    readonly limited: readonly string[];
    /** Assets of which something waits to leave until an operator approves it. */
    readonly unapproved: readonly string[];
    readonly lanes: readonly {
      readonly address: string;
      readonly state: string;
      /** False once its key left the configuration: what it sent is looked after without it. */
      readonly isConfigured: boolean;
      readonly held: boolean;
      readonly openSlots: number;
      /** Its key needs funds: it takes nothing new. */
      readonly isLowOnGas: boolean;
      /** Wei when they were last read, in digits. */
      readonly gasWei: string | null;
    }[];
  }[];
  readonly openClaims: readonly {
    readonly state: string;
    readonly count: number;
    readonly oldestSeconds: number;
  }[];
  /** Sweeps wait for room that payments leave; they are no payments. */
  readonly openSweeps: { readonly count: number; readonly oldestSeconds: number };
  readonly undeliveredFacts: number;
  /** Age of the oldest of them. */
  readonly oldestFactSeconds: number;
  /** Facts that were set aside: no hearer could take them. */
  readonly deadFacts: number;
}

type LaneRow = {
  chain_id: string;
  address: Address;
  state: string;
  held: boolean;
  open_slots: string;
  low: boolean;
  gas_wei: string | null;
};

export async function health(engine: Engine): Promise<SettlementHealth> {
  const db = engine.loopDb.pool;
  const [observers, lanes, claims, sweeps, facts, differing, limited, unapproved] = await Promise.all([
    db.execute<{
      chain_id: string;
      cursor_number: string;
      finalized_number: string;
      halted_reason: string | null;
    }>(sql`SELECT chain_id, cursor_number, finalized_number, halted_reason FROM observer`),
    db.execute<LaneRow>(sql`
      SELECT chain_id, gas_wei, low_since IS NOT NULL AS low, address, state, coalesce(lease_until > now(), false) AS held,
        (SELECT count(*) FROM slot WHERE slot.chain_id = signer.chain_id AND slot.signer = signer.address AND slot.open) AS open_slots
      FROM signer ORDER BY address`),
    db.execute<{ state: string; count: string; oldest: string }>(sql`
      SELECT state, count(*) AS count, extract(epoch FROM now() - min(created_at)) AS oldest
      FROM claim WHERE state IN ('claimed','submitting','failed-watch','review') AND kind <> 'sweep' GROUP BY state`),
    db.execute<{ count: string; oldest: string | null }>(sql`
      SELECT count(*) AS count, extract(epoch FROM now() - min(created_at)) AS oldest
      FROM claim WHERE state IN ('claimed','submitting','failed-watch','review') AND kind = 'sweep'`),
    outbox.backlog(db),
    Promise.all([...engine.chains.keys()].map(async (id) => [id, await brokenAssets(db, id)] as const)),
    Promise.all(
      [...engine.chains].map(async ([id, { chain }]) => [id, await limitedAssets(db, chain.row)] as const),
    ),
    Promise.all(
      [...engine.chains].map(async ([id, { chain }]) => [id, await unapprovedAssets(db, chain.row)] as const),
    ),
  ]);
  const broken = new Map(differing);
  const full = new Map(limited);
  const held = new Map(unapproved);
  return {
    isWritable: await takesWrites(db),
    chains: [...engine.chains.values()].map(({ chain: { row }, rails, laneAddresses }) => {
      const at = observers.rows.find(({ chain_id }) => Number(chain_id) === row.chainId);
      return {
        chain: row.slug,
        cursor: at ? Number(at.cursor_number) : null,
        finalized: at ? Number(at.finalized_number) : null,
        halted: at?.halted_reason ?? null,
        refused: rails.filter((rail) => !isTaken(rail)).map(({ token }) => token.symbol),
        differing: [...(broken.get(row.chainId) ?? [])],
        limited: full.get(row.chainId) ?? [],
        unapproved: held.get(row.chainId) ?? [],
        lanes: lanes.rows
          .filter(({ chain_id }) => Number(chain_id) === row.chainId)
          .map(({ address, state, held, open_slots, low, gas_wei }) => ({
            address,
            state,
            isConfigured: laneAddresses.includes(address),
            held,
            openSlots: Number(open_slots),
            isLowOnGas: low,
            gasWei: gas_wei,
          })),
      };
    }),
    openClaims: claims.rows.map(({ state, count, oldest }) => ({
      state,
      count: Number(count),
      oldestSeconds: Number(oldest),
    })),
    openSweeps: {
      count: Number(sweeps.rows[0]?.count ?? 0),
      oldestSeconds: Number(sweeps.rows[0]?.oldest ?? 0),
    },
    undeliveredFacts: facts.undelivered,
    oldestFactSeconds: facts.oldestSeconds,
    deadFacts: facts.dead,
  };
}

async function takesWrites(db: Executor): Promise<boolean> {
  const { rows } = await db.execute(sql`SELECT WHERE current_setting('transaction_read_only') = 'off'`);
  return rows.length === 1;
}
