import { sql } from "drizzle-orm";
import type { Hash } from "#kernel/bytes";
import { insertMany, type Tx } from "#store";
import type { BlockRef, Chain } from "../../chain/port.ts";
import { ordersByReference, tellDeposits } from "../deposit/told.ts";
import type { Told, WatchList } from "../deposit/watch.ts";
import type { Engine } from "../engine.ts";
import type { PairedTransfer } from "./pairing.ts";
import { chainTransfer } from "./tables.ts";

const ROWS_PER_STATEMENT = 500;

/** Writes a block's transfers down, each with the order it reached, and tells of those orders. In the transaction that
 *  moves the observer's cursor onto the block. */
export async function recordTransfers(
  engine: Engine,
  tx: Tx,
  chain: Chain,
  seen: {
    readonly block: BlockRef;
    readonly transfers: readonly PairedTransfer[];
    readonly watched: WatchList;
  },
): Promise<void> {
  const { block, transfers, watched } = seen;
  const orderOf = await orderFinder(tx, chain, transfers, watched);
  const found = transfers.map((log) => ({ log, order: orderOf(log) }));
  const rows = found.map(({ log, order }) => ({
    chainId: chain.row.chainId,
    blockNumber: block.number,
    blockHash: block.hash,
    txHash: log.txHash,
    logIndex: log.logIndex,
    token: log.token,
    sender: log.from,
    recipient: log.to,
    amount: log.amount,
    blockTime: new Date(block.timestamp * 1000),
    canonical: true,
    authorizationKey: log.authorizationKey,
    ordinal: log.ordinal,
    paymentRef: log.paymentRef,
    orderId: order?.orderId ?? null,
  }));
  for (let i = 0; i < rows.length; i += ROWS_PER_STATEMENT) {
    // A block that comes back after a fork brings its rows back, unclaimed: its bookings were voided when it left.
    await tx.execute(sql`
      ${insertMany(chainTransfer, rows.slice(i, i + ROWS_PER_STATEMENT))}
      ON CONFLICT (chain_id, block_hash, log_index)
      DO UPDATE SET canonical = true, claimed_kind = NULL`);
  }
  await tellDeposits(
    engine,
    tx,
    found.flatMap(({ order }) => order ?? []),
  );
}

/** An order is found by the address that is its own, or in the treasury by what the router said. */
async function orderFinder(
  tx: Tx,
  { row: { chainId, treasury } }: Chain,
  transfers: readonly PairedTransfer[],
  watched: WatchList,
): Promise<(log: PairedTransfer) => Told | undefined> {
  const references = transfers.flatMap(({ paymentRef }): Hash[] => (paymentRef ? [paymentRef] : []));
  const orders = await ordersByReference(tx, chainId, references);
  return (log) => {
    if (log.to !== treasury) return watched.orderAt(log.to);
    const candidates = orders.filter(({ paymentRef }) => paymentRef === log.paymentRef);
    // An intent may have had several orders under its reference; the router takes exactly what one of them asked for.
    const exact = candidates.find(({ token, amount }) => token === log.token && amount === log.amount);
    return exact ?? candidates[0];
  };
}
