import type { Readiness } from "#api";
import { type Engine, health, isTaken, type RefusedRail, type Running } from "#facilitator";

const FIRST_LOOK_MS = 5_000;

/** A stock merchant server that asks for `supported` before a chain was followed refuses to work: we say that we are
 *  ready only after. A chain that stays dark is no reason to stay down. */
export async function untilWorking(
  { chains, clock }: Engine,
  facilitator: Running["facilitator"],
): Promise<void> {
  const wanted = [...chains.values()].filter(({ rails }) => rails.some(isTaken)).length;
  const deadline = clock.monotonicMs() + FIRST_LOOK_MS;
  while (clock.monotonicMs() < deadline) {
    const supported = await facilitator.supported();
    if ((supported?.networks.length ?? 0) >= wanted) return;
    await clock.sleep(50);
  }
}

/** What `GET /health/ready` tells: also while the database cannot be asked. */
export async function readiness(
  engine: Engine,
  refusedRails: readonly RefusedRail[],
  { isStarted, draining }: { readonly isStarted: boolean; readonly draining: boolean },
): Promise<Readiness> {
  const chains = [...engine.chains.values()];
  const refused = {
    refusedRails: refusedRails.map(({ chain, asset, problem }) => ({ chain, asset, problem })),
    refusedRouters: chains.flatMap(({ chain, routerProblem }) =>
      routerProblem === null ? [] : [{ chain: chain.row.slug, problem: routerProblem }],
    ),
  };
  try {
    const { isWritable, chains: followed, ...open } = await health(engine);
    const { openClaims, openSweeps, undeliveredFacts, deadFacts } = open;
    return {
      isReady: isStarted && !draining && isWritable,
      checks: {
        draining,
        database: isWritable ? "ok" : "read-only",
        chains: followed,
        ...refused,
        openClaims,
        openSweeps,
        undeliveredFacts,
        deadFacts,
      },
    };
  } catch {
    return {
      isReady: false,
      checks: { draining, database: "unreachable", ...refused },
    };
  }
}
