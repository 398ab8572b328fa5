import { and, desc, eq, isNull, lte, sql } from "drizzle-orm";
import { account, balanceAt } from "#ledger";
import type { Executor } from "#store";
import type { Chain } from "../chain/port.ts";
import type { TokenRow } from "../chain/registry.ts";
import { assetOf } from "./coin.ts";
import type { Engine, OpenChain } from "./engine.ts";
import { chainTransfer, observer, reconciliation } from "./tables.ts";

/** Ledger and chain at one final block, for one token. Atomic units. `not-checked`: the node has no state at that height
 *  (a local chain that was restarted); asked again later, never a difference. */
export interface Reconciled {
  readonly chain: string;
  readonly asset: string;
  readonly blockNumber: number;
  readonly status: "equal" | "different" | "not-checked";
  readonly ledger: bigint;
  readonly onChain: bigint | null;
  /** Transfers out of the treasury that nothing of ours explains. */
  readonly unexplained: number;
}

/** Compares books and chain both ways, with no tolerance, and keeps the report. A difference stops payouts of that
 *  asset until a later run finds none. Faults: `chain_unavailable` from the reads at the head only. */
export async function reconcile(
  engine: Engine,
  { chain }: Pick<OpenChain, "chain">,
): Promise<readonly Reconciled[]> {
  const [at] = await engine.loopDb.pool
    .select()
    .from(observer)
    .where(eq(observer.chainId, chain.row.chainId));
  if (!at) return [];
  const found: Reconciled[] = [];
  for (const token of chain.row.tokens) found.push(await compare(engine, chain, token, at.finalizedNumber));
  await engine.loopDb.pool
    .insert(reconciliation)
    .values(found.map(({ chain: _, ...run }) => ({ chainId: chain.row.chainId, ...run })));
  for (const { asset, status, blockNumber } of found) {
    if (status === "different")
      engine.log.error(
        { asset, block: blockNumber },
        "the books differ from the chain: payouts of this asset stop",
      );
  }
  return found;
}

/** The same on every chain that is served. */
export async function reconcileAll(engine: Engine): Promise<readonly Reconciled[]> {
  return (await Promise.all([...engine.chains.values()].map((open) => reconcile(engine, open)))).flat();
}

async function compare(
  engine: Engine,
  chain: Chain,
  token: TokenRow,
  blockNumber: number,
): Promise<Reconciled> {
  const asset = assetOf(chain.row, token.contract);
  const db = engine.loopDb.pool;
  const [ledger, unexplained, onChain] = await Promise.all([
    balanceAt(db, account.treasury(asset), blockNumber),
    outflowsWithoutRow(db, chain, token, blockNumber),
    chain.tokenBalance(token.contract, chain.row.treasury, blockNumber).catch(() => null),
  ]);
  const isEqual = onChain === ledger && unexplained === 0;
  const status = onChain === null ? "not-checked" : isEqual ? "equal" : "different";
  return { chain: chain.row.slug, asset, blockNumber, status, ledger, onChain, unexplained };
}

async function outflowsWithoutRow(
  db: Executor,
  { row }: Chain,
  { contract }: TokenRow,
  blockNumber: number,
): Promise<number> {
  const [found] = await db
    .select({ count: sql<string>`count(*)` })
    .from(chainTransfer)
    .where(
      and(
        eq(chainTransfer.chainId, row.chainId),
        eq(chainTransfer.canonical, true),
        eq(chainTransfer.token, contract),
        eq(chainTransfer.sender, row.treasury),
        isNull(chainTransfer.claimedKind),
        lte(chainTransfer.blockNumber, blockNumber),
      ),
    );
  return Number(found?.count ?? 0);
}

/** Assets whose last check on a chain found a difference. */
export async function brokenAssets(db: Executor, chainId: number): Promise<ReadonlySet<string>> {
  const runs = await db
    .selectDistinctOn([reconciliation.asset], { asset: reconciliation.asset, status: reconciliation.status })
    .from(reconciliation)
    .where(and(eq(reconciliation.chainId, chainId), sql`${reconciliation.status} <> 'not-checked'`))
    .orderBy(reconciliation.asset, desc(reconciliation.id));
  return new Set(runs.filter(({ status }) => status === "different").map(({ asset }) => asset));
}
