import { and, desc, eq, isNull, lte, sql } from "drizzle-orm";
import { account, balanceAt } from "#ledger";
import { type Executor, fixed, type Tx } from "#store";
import type { Chain } from "../../chain/port.ts";
import type { TokenRow } from "../../chain/registry.ts";
import { assetOf } from "../coin.ts";
import {
  type AddressMoney,
  addressMoney,
  unexplainedOutflows,
  type Where,
  waitingArrivals,
} from "../deposit/books.ts";
import type { Engine, OpenChain } from "../engine.ts";
import { followedTokens } from "../observer/followed.ts";
import { chainTransfer, observer } from "../observer/tables.ts";
import { isUnbooked } from "./stray.ts";
import { type MoneyPlace, reconciliation } from "./tables.ts";

/** Ledger and chain at one final block, for one token in one place. Atomic units. Equal: `ledger` and `waiting` together
 *  are `onChain`, and nothing is unexplained. `not-checked`: the node has no state at that height (a local chain that was
 *  restarted); asked again later, never a difference. */
export interface Reconciled {
  readonly chain: string;
  readonly asset: string;
  /** The treasury, or all deposit addresses together. */
  readonly place: MoneyPlace;
  readonly blockNumber: number;
  readonly status: "equal" | "different" | "not-checked";
  readonly ledger: bigint;
  /** Seen to come and not in the books yet: for an order whose merchant payment has yet to book it, or for a claim whose
   *  credit waits for the final block. */
  readonly waiting: bigint;
  readonly onChain: bigint | null;
  /** Transfers out that nothing of ours explains. */
  readonly unexplained: number;
}

/** Compares books and chain both ways, with no tolerance, and keeps the report. A difference stops what leaves of that
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
  const followed = await followedTokens(engine.loopDb.pool, chain.row.chainId);
  const broken = await brokenPlaces(engine.loopDb.pool, chain.row.chainId);
  const differing = broken.filter(({ place }) => place === "deposits").map(({ asset }) => asset);
  const found: Reconciled[] = [];
  // One that is listed and not followed yet has no books.
  for (const token of chain.row.tokens.filter(({ contract }) => followed.includes(contract)))
    found.push(...(await compare(engine, chain, token, at.finalizedNumber, differing)));
  if (found.length === 0) return found;
  await engine.loopDb.pool
    .insert(reconciliation)
    .values(found.map(({ chain: _, ...run }) => ({ chainId: chain.row.chainId, ...run })));
  for (const { asset, place, status, blockNumber } of found) {
    if (status === "different")
      engine.log.error(
        { asset, place, block: blockNumber },
        "the books differ from the chain: nothing of this asset leaves",
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
  { contract }: TokenRow,
  blockNumber: number,
  differingDeposits: readonly string[],
): Promise<readonly Reconciled[]> {
  const asset = assetOf(chain.row, contract);
  const where = { row: chain.row, token: contract, blockNumber };
  const books = await readBooks(engine, where, asset);
  const report = (place: MoneyPlace, { ledger, waiting, unexplained }: Books, onChain: bigint | null) => {
    const isEqual = onChain === ledger + waiting && unexplained === 0;
    const status: Reconciled["status"] = onChain === null ? "not-checked" : isEqual ? "equal" : "different";
    const chainSlug = chain.row.slug;
    return { chain: chainSlug, asset, place, blockNumber, status, ledger, waiting, onChain, unexplained };
  };
  const treasury = chain.tokenBalance(contract, chain.row.treasury, blockNumber).catch(() => null);
  const found = [report("treasury", books.treasury, await treasury)];
  // What was different is compared until it is equal, also where nothing is left of it.
  const hasDeposits = !isEmpty(books.deposits) || books.addresses.length > 0;
  if (!hasDeposits && !differingDeposits.includes(asset)) return found;
  const held = await heldBy(chain, where, books.addresses).catch(() => null);
  return [...found, report("deposits", books.deposits, held)];
}

/** One side of the comparison, for one place. */
interface Books {
  readonly ledger: bigint;
  readonly waiting: bigint;
  readonly unexplained: number;
}
const isEmpty = ({ ledger, waiting, unexplained }: Books) =>
  ledger === 0n && waiting === 0n && unexplained === 0;

/** All of it as of one moment: what is booked while we look must not be counted twice, or not at all. */
function readBooks(engine: Engine, where: Where, asset: string) {
  return engine.loopDb.tx(async (tx) => {
    await tx.execute(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`);
    const waiting = await waitingArrivals(tx, where);
    const booked = (of: typeof account.treasury) => balanceAt(tx, of(asset), where.blockNumber);
    return {
      treasury: {
        ledger: await booked(account.treasury),
        waiting: waiting.treasury,
        unexplained: await outflowsWithoutRow(tx, where),
      },
      deposits: {
        ledger: await booked(account.deposit),
        waiting: waiting.deposits,
        unexplained: await unexplainedOutflows(tx, where),
      },
      addresses: await addressMoney(tx, where, engine.clock.now()),
    };
  });
}

/** What lies on these addresses together. Of one that is watched no more only what must be there counts: what somebody
 *  sends there late is booked by hand. */
async function heldBy(
  chain: Chain,
  { token, blockNumber }: Where,
  addresses: readonly AddressMoney[],
): Promise<bigint> {
  const held = await chain.tokenBalances(
    token,
    addresses.map(({ address }) => address),
    blockNumber,
  );
  return addresses.reduce((sum, { expected, isWatched }, i) => {
    const found = held[i] ?? 0n;
    return sum + (isWatched || found < expected ? found : expected);
  }, 0n);
}

async function outflowsWithoutRow(tx: Tx, { row, token, blockNumber }: Where): Promise<number> {
  const [found] = await tx
    .select({ count: sql<string>`count(*)` })
    .from(chainTransfer)
    .where(
      and(
        eq(chainTransfer.chainId, row.chainId),
        fixed(eq(chainTransfer.canonical, true)),
        eq(chainTransfer.token, token),
        eq(chainTransfer.sender, row.treasury),
        isNull(chainTransfer.claimedKind),
        isUnbooked,
        lte(chainTransfer.blockNumber, blockNumber),
      ),
    );
  return Number(found?.count ?? 0);
}

interface BrokenPlace {
  readonly asset: string;
  readonly place: MoneyPlace;
}

/** Where the last check of each asset's places on a chain found a difference. */
async function brokenPlaces(db: Executor, chainId: number): Promise<readonly BrokenPlace[]> {
  const { asset, place, status, id } = reconciliation;
  const runs = await db
    .selectDistinctOn([asset, place], { asset, place, status })
    .from(reconciliation)
    .where(and(eq(reconciliation.chainId, chainId), sql`${status} <> 'not-checked'`))
    .orderBy(asset, place, desc(id));
  return runs.filter((run) => run.status === "different");
}

/** Assets whose last check on a chain found a difference, in the treasury or on deposit addresses. */
export async function brokenAssets(db: Executor, chainId: number): Promise<ReadonlySet<string>> {
  return new Set((await brokenPlaces(db, chainId)).map(({ asset }) => asset));
}
