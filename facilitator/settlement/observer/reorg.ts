import { and, eq, gt, isNotNull, type SQL, sql } from "drizzle-orm";
import { resolvePending, templates } from "#ledger";
import { fixed, type Tx } from "#store";
import type { ChainRow } from "../../chain/registry.ts";
import { type Claim, eventKeyOf, moveClaims } from "../claim/claim.ts";
import { claim } from "../claim/tables.ts";
import { ordersById, tellDeposits } from "../deposit/told.ts";
import type { Engine } from "../engine.ts";
import { slot, slotItem } from "../lane/tables.ts";
import { chainTransfer } from "./tables.ts";

/** Takes back what stood on blocks above `height` that left the chain: pending postings are voided, claims wait for
 *  their transaction to be mined again under a new epoch, and our own transactions count as unmined. In the
 *  transaction that moves the observer's cursor back. */
export async function reverseAbove(engine: Engine, tx: Tx, row: ChainRow, height: number): Promise<void> {
  await reverseCredits(engine, tx, row, height);
  await voidUnmatched(tx, row, height);
  const gone = and(
    eq(chainTransfer.chainId, row.chainId),
    gt(chainTransfer.blockNumber, height),
    fixed(eq(chainTransfer.canonical, true)),
  );
  await tellOrders(engine, tx, gone);
  await tx.update(chainTransfer).set({ canonical: false }).where(gone);
  // Its patience starts anew: the same bytes come before a replacement.
  await tx
    .update(slot)
    .set({
      sentAtBlock: height,
      minedBlock: null,
      minedHash: null,
      minedTx: null,
      gasWei: null,
      sorted: false,
    })
    .where(and(eq(slot.chainId, row.chainId), fixed(eq(slot.open, true)), gt(slot.minedBlock, height)));
  await tx
    .update(claim)
    .set({ spentBlock: null, spentHash: null })
    .where(
      and(eq(claim.chainId, row.chainId), gt(claim.spentBlock, height), sql`${claim.state} <> 'cancelled'`),
    );
}

/** Those who asked for orders take back themselves what they booked of them. */
async function tellOrders(engine: Engine, tx: Tx, gone: SQL | undefined): Promise<void> {
  const reached = await tx
    .selectDistinct({ orderId: sql<string>`${chainTransfer.orderId}` })
    .from(chainTransfer)
    .where(and(gone, isNotNull(chainTransfer.orderId)));
  const ids = reached.map(({ orderId }) => orderId);
  await tellDeposits(engine, tx, await ordersById(tx, ids));
}

async function reverseCredits(engine: Engine, tx: Tx, row: ChainRow, height: number): Promise<void> {
  const credited = await tx
    .select()
    .from(claim)
    .where(
      and(
        eq(claim.chainId, row.chainId),
        fixed(eq(claim.state, "included")),
        gt(claim.includedBlock, height),
      ),
    )
    .orderBy(claim.claimKey)
    .for("update");
  if (credited.length === 0) return;
  await resolvePending(tx, "void", credited.map(eventKeyOf));
  const sent = await withOpenSlot(tx, credited);
  const gone = {
    creditState: "none" as const,
    includedBlock: null,
    includedHash: null,
    includedTx: null,
    includedLog: null,
    includedAt: null,
    settledBy: null,
  };
  const set = { ...gone, creditEpoch: sql`${claim.creditEpoch} + 1` } as never;
  const cause = "its block left the chain";
  const [again, anew] = [
    credited.filter(({ claimKey }) => sent.has(claimKey)),
    credited.filter(({ claimKey }) => !sent.has(claimKey)),
  ];
  // Ours is mined again from the same bytes; a stranger's may be gone for good, so we submit it ourselves.
  await moveClaims(engine, tx, {
    keys: again.map(({ claimKey }) => claimKey),
    to: "submitting",
    cause,
    set,
    fact: "settlement.reversed",
  });
  await moveClaims(engine, tx, {
    keys: anew.map(({ claimKey }) => claimKey),
    to: "claimed",
    cause,
    set,
    fact: "settlement.reversed",
  });
  engine.meter.count("reversals", { chain: row.slug }, credited.length);
}

async function withOpenSlot(tx: Tx, claims: readonly Claim[]): Promise<ReadonlySet<string>> {
  const rows = await tx
    .select({ claimKey: slotItem.claimKey })
    .from(slotItem)
    .innerJoin(claim, eq(claim.claimKey, slotItem.claimKey))
    .where(and(fixed(eq(slotItem.open, true)), eq(claim.chainId, claims[0]?.chainId ?? 0)));
  return new Set(rows.map(({ claimKey }) => claimKey));
}

async function voidUnmatched(tx: Tx, row: ChainRow, height: number): Promise<void> {
  const booked = await tx
    .update(chainTransfer)
    .set({ claimedKind: null })
    .where(
      and(
        eq(chainTransfer.chainId, row.chainId),
        gt(chainTransfer.blockNumber, height),
        fixed(eq(chainTransfer.claimedKind, "unmatched")),
        fixed(eq(chainTransfer.canonical, true)),
      ),
    )
    .returning();
  await resolvePending(
    tx,
    "void",
    booked.map((log) => templates.unmatchedEventKey({ chain: row.slug, ...log })),
  );
}
