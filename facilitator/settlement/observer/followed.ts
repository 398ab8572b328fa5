import { and, asc, eq } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import { Fault } from "#kernel/fault";
import { post, templates } from "#ledger";
import type { Executor } from "#store";
import type { Chain } from "../../chain/port.ts";
import { assetOf } from "../coin.ts";
import type { Engine } from "../engine.ts";
import { holdView, type ObserverRow } from "./observer.ts";
import { followedToken } from "./tables.ts";

/** The tokens whose transfers are recorded on a chain: all that were ever listed there, so that what moves in one that has
 *  left the list is known when it returns. */
export async function followedTokens(db: Executor, chainId: number): Promise<readonly Address[]> {
  const rows = await db
    .select({ token: followedToken.token })
    .from(followedToken)
    .where(eq(followedToken.chainId, chainId))
    .orderBy(asc(followedToken.token));
  return rows.map(({ token }) => token);
}

/** The lowest block whose transfers of a token are recorded: the one at which following it begins is none of them, and what was
 *  moved until then is in what the treasury held. */
export async function firstRecorded(db: Executor, at: ObserverRow, token: Address): Promise<number> {
  const [row] = await db
    .select({ sinceBlock: followedToken.sinceBlock })
    .from(followedToken)
    .where(and(eq(followedToken.chainId, at.chainId), eq(followedToken.token, token)));
  return (row?.sinceBlock ?? at.startBlock) + 1;
}

/** Has tokens followed that were listed after the chain was: what the treasury holds of one by then opens its books.
 *  Returns all that are followed from the next block on. */
export async function followNewTokens(
  engine: Engine,
  chain: Chain,
  at: ObserverRow,
  followed: readonly Address[],
): Promise<readonly Address[]> {
  const added: Address[] = [];
  for (const { contract } of chain.row.tokens)
    if (!followed.includes(contract) && (await begin(engine, chain, at, contract))) added.push(contract);
  return added.length === 0 ? followed : [...followed, ...added];
}

/** False where it has to be tried again. */
async function begin(engine: Engine, chain: Chain, at: ObserverRow, token: Address): Promise<boolean> {
  const amount = await restingBalance(chain, at, token);
  if (amount === null) return false;
  const asset = assetOf(chain.row, token);
  const { chainId, slug } = chain.row;
  const hasBegun = await engine.loopDb.tx(async (tx) => {
    if (!(await holdView(tx, chain, at))) return false;
    const sinceBlock = at.cursorNumber;
    await tx.insert(followedToken).values({ chainId, token, sinceBlock }).onConflictDoNothing();
    const opening = templates.treasuryOpened({ asset, amount, blockNumber: at.finalizedNumber });
    await post(tx, [opening]).catch((error: unknown) => {
      // Another contract had this name before: its money is in these books, and the comparison with the chain will tell.
      if (!(error instanceof Fault) || error.code !== "ledger_conflict") throw error;
      engine.log.error({ asset, token }, "another token was opened under this name");
    });
    return true;
  });
  if (hasBegun) engine.log.info({ chain: slug, asset, block: at.cursorNumber }, "a token is followed");
  return hasBegun;
}

/** What the treasury held at the final block and holds at the cursor: between the two nobody has looked, so it must be the
 *  same. Null where it is not, or where the chain does not say. */
async function restingBalance(chain: Chain, at: ObserverRow, token: Address): Promise<bigint | null> {
  const heldAt = (block: number) => chain.tokenBalance(token, chain.row.treasury, block).catch(() => null);
  const [final, now] = await Promise.all([heldAt(at.finalizedNumber), heldAt(at.cursorNumber)]);
  return final === now ? final : null;
}
