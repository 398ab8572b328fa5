import { eq, sql } from "drizzle-orm";
import { type Address, checksum, toBytes } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { formatDecimal } from "#kernel/money";
import { type AccountBalance, treasuryBalances } from "#ledger";
import { isGone, type Tx } from "#store";
import type { Chain } from "../../chain/port.ts";
import { type ChainRow, STABLECOIN_DECIMALS } from "../../chain/registry.ts";
import { assetOf } from "../coin.ts";
import type { Engine } from "../engine.ts";
import { observer } from "../observer/tables.ts";
import { chainTreasury } from "./tables.ts";

/** Makes the configured treasury the chain's. Where another one was, this takes that nothing of it is left: what reaches it
 *  later is credited to nobody, and what lies there is not where payouts are signed for. Else nothing changes, and the answer
 *  is one line for the operator. */
export function adoptTreasury(
  { loopDb, log }: Pick<Engine, "loopDb" | "log">,
  chain: Chain,
): Promise<string | null> {
  const { row } = chain;
  const { chainId, slug, treasury } = row;
  return loopDb.tx(async (tx) => {
    await tx.insert(chainTreasury).values({ chainId, address: treasury }).onConflictDoNothing();
    const ofChain = eq(chainTreasury.chainId, chainId);
    const [known] = await tx.select().from(chainTreasury).where(ofChain).for("update");
    assert(known, "a chain that was started has a treasury");
    if (known.address === treasury) return null;
    const left = await leftOf(tx, chain, known.address);
    if (left.length > 0) return refusal(row, known.address, left);
    await tx.update(chainTreasury).set({ address: treasury }).where(ofChain);
    log.warn({ chain: slug, from: known.address, to: treasury }, "the treasury is another one from now on");
    return null;
  });
}

function refusal({ slug, treasury }: ChainRow, old: Address, left: readonly string[]): string {
  const before = checksum(old);
  return `FAREBOX_CHAINS, ${slug}: the treasury cannot become ${checksum(treasury)} while something of ${before} is left (${left.join(", ")}). Put ${before} back and wait until what is open has ended; pay out what lies there, or move it to the new one and wait until that is final; then stop every process and change it.`;
}

async function leftOf(tx: Tx, chain: Chain, old: Address): Promise<readonly string[]> {
  const left = [...(await openAt(tx, chain.row.chainId, old))];
  for (const balance of await treasuryBalances(tx, chain.row.slug)) {
    const amount = mostOf(balance);
    if (amount !== 0n && (await movedTo(tx, chain, balance.asset)) < amount)
      left.push(`${formatDecimal(amount, STABLECOIN_DECIMALS)} ${balance.asset} in the books`);
  }
  return left;
}

/** What leaves in a block that is not final may be back; it counts until then. */
const mostOf = ({ posted, pending }: AccountBalance) => posted + (pending > 0n ? pending : 0n);

/** What the new treasury held of an asset in the last final block that was followed: what came later will be seen as money that
 *  nobody knows. */
async function movedTo(tx: Tx, chain: Chain, asset: string): Promise<bigint> {
  const { row } = chain;
  const token = row.tokens.find(({ contract }) => assetOf(row, contract) === asset);
  const [at] = await tx
    .select({ final: observer.finalizedNumber })
    .from(observer)
    .where(eq(observer.chainId, row.chainId));
  if (!token || !at) return 0n;
  return chain.tokenBalance(token.contract, row.treasury, at.final).catch(() => 0n);
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
