import { sql } from "drizzle-orm";
import { outageOf } from "#store";
import type { Engine, OpenChain } from "../engine.ts";

/** What a chain asks and how long our gas lasts, read now. Null where it cannot be told. */
export interface ChainOutlook {
  readonly chain: string;
  readonly head: number | null;
  /** Wei: what a transaction would offer now, and the most that one may offer. */
  readonly feePerGas: bigint | null;
  readonly feeCap: bigint;
  readonly lanes: readonly {
    readonly address: string;
    /** At the pace of its last transactions. */
    readonly runwaySeconds: number | null;
  }[];
}

/** The outlook of every chain, for the metrics: it asks the chains, so it is no part of readiness. */
export async function outlook(engine: Engine): Promise<readonly ChainOutlook[]> {
  const lanes = await runways(engine);
  return Promise.all([...engine.chains.values()].map((open) => outlookOf(open, lanes)));
}

async function outlookOf({ chain }: OpenChain, lanes: readonly Runway[]): Promise<ChainOutlook> {
  const [head, fees] = await Promise.all([orNull(chain.head()), orNull(chain.fees())]);
  const { slug, chainId, maxFeePerGasCap } = chain.row;
  return {
    chain: slug,
    head: head?.number ?? null,
    feePerGas: fees && 2n * fees.baseFeePerGas + fees.maxPriorityFeePerGas,
    feeCap: maxFeePerGasCap,
    lanes: lanes
      .filter((lane) => Number(lane.chain_id) === chainId)
      .map(({ address, seconds }) => ({ address, runwaySeconds: seconds === null ? null : Number(seconds) })),
  };
}

function orNull<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (outageOf(error)) return null;
    throw error;
  });
}

type Runway = { chain_id: string; address: string; seconds: string | null };

async function runways({ loopDb }: Engine): Promise<readonly Runway[]> {
  const { rows } = await loopDb.pool.execute<Runway>(sql`
    SELECT signer.chain_id, signer.address,
      signer.gas_wei * extract(epoch FROM now() - spent.since) / nullif(spent.wei, 0) AS seconds
    FROM signer CROSS JOIN LATERAL (
      SELECT sum(gas_wei) AS wei, min(created_at) AS since FROM (
        SELECT gas_wei, created_at FROM slot
        WHERE slot.chain_id = signer.chain_id AND slot.signer = signer.address ORDER BY nonce DESC LIMIT 100) AS recent) AS spent`);
  return rows;
}
