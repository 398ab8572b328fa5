import { eq, sql } from "drizzle-orm";
import { type Address, checksum, toBytes } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { formatDecimal } from "#kernel/money";
import { type AccountBalance, treasuryBalances } from "#ledger";
import { isGone, type Tx } from "#store";
import { type ChainRow, STABLECOIN_DECIMALS } from "../chain/registry.ts";
import type { Engine } from "./engine.ts";
import { chainTreasury } from "./tables.ts";

/** Makes the configured treasury the chain's. Where another one was, this takes that nothing of it is left: what reaches it
 *  later is credited to nobody, and what lies there is not where payouts are signed for. Else nothing changes, and the answer
 *  is one line for the operator. */
export function adoptTreasury(
  { loopDb, log }: Pick<Engine, "loopDb" | "log">,
  row: ChainRow,
): Promise<string | null> {
  const { chainId, slug, treasury } = row;
  return loopDb.tx(async (tx) => {
    await tx.insert(chainTreasury).values({ chainId, address: treasury }).onConflictDoNothing();
    const ofChain = eq(chainTreasury.chainId, chainId);
    const [known] = await tx.select().from(chainTreasury).where(ofChain).for("update");
    assert(known, "a chain that was started has a treasury");
    if (known.address === treasury) return null;
    const left = await leftOf(tx, row, known.address);
    if (left.length > 0) return refusal(row, known.address, left);
    await tx.update(chainTreasury).set({ address: treasury }).where(ofChain);
    log.warn({ chain: slug, from: known.address, to: treasury }, "the treasury is another one from now on");
    return null;
  });
}

function refusal({ slug, treasury }: ChainRow, old: Address, left: readonly string[]): string {
  const before = checksum(old);
  return `FAREBOX_CHAINS, ${slug}: the treasury cannot become ${checksum(treasury)} while something of ${before} is left (${left.join(", ")}). Put ${before} back, pay out what lies there and wait until what is open has ended; then stop every process and change it.`;
}

async function leftOf(tx: Tx, { chainId, slug }: ChainRow, old: Address): Promise<readonly string[]> {
  const money = (await treasuryBalances(tx, slug)).filter(({ posted, pending }) => posted || pending);
  return [...(await openAt(tx, chainId, old)), ...money.map(inBooks)];
}

/** What leaves in a block that is not final may be back; it counts until then. */
function inBooks({ asset, posted, pending }: AccountBalance): string {
  const most = posted + (pending > 0n ? pending : 0n);
  return `${formatDecimal(most, STABLECOIN_DECIMALS)} ${asset} in the books`;
}

/** What may still reach an address, or leave it. What is included is in the books already. An order can be paid until a block
 *  that is later than its deadline is final: only then is all that paid it known. */
async function openAt(tx: Tx, chainId: number, old: Address): Promise<readonly string[]> {
  const at = toBytes(old);
  const { rows } = await tx.execute<Record<"payments" | "orders" | "arrivals" | "processes", string>>(sql`
    SELECT
      (SELECT count(*) FROM claim WHERE chain_id = ${chainId} AND (pay_to = ${at} OR payer = ${at})
        AND state IN ('claimed','submitting','failed-watch','review')) AS payments,
      (SELECT count(*) FROM deposit_order WHERE chain_id = ${chainId} AND path = 'on-chain-contract'
        AND extract(epoch FROM deadline) >= coalesce((SELECT timestamp FROM chain_block
          JOIN observer ON observer.chain_id = chain_block.chain_id AND number = finalized_number
          WHERE chain_block.chain_id = ${chainId} AND canonical), 0)) AS orders,
      (SELECT count(*) FROM chain_transfer WHERE chain_id = ${chainId} AND recipient = ${at}
        AND canonical AND claimed_kind IS NULL) AS arrivals,
      (SELECT count(*) FROM observer WHERE chain_id = ${chainId} AND lease_until > now()
        AND NOT ${isGone(sql`lease_holder`)}) AS processes`);
  const [found] = rows;
  assert(found, "a count has a row");
  return [
    counted(found.payments, "open payment"),
    counted(found.orders, "router order that may still be paid", "router orders that may still be paid"),
    counted(found.arrivals, "transfer that is not booked", "transfers that are not booked"),
    counted(found.processes, "process that follows the chain", "processes that follow the chain"),
  ].flat();
}

function counted(count: string, one: string, many = `${one}s`): readonly string[] {
  return count === "0" ? [] : [`${count} ${count === "1" ? one : many}`];
}
