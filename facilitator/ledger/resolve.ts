import { and, eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Hex } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { type Tx, toBytesArray } from "#store";
import { post } from "./post.ts";
import { ledgerAccount, ledgerTransfer } from "./tables.ts";
import { type Entry, entryId, transferId } from "./transfer.ts";

/** Posts (their block is final) or voids (their block left the chain) the pending transfers of these events. It
 *  mirrors the rows that stand in the books, it computes nothing anew. Doing it again changes nothing; resolving the other way afterwards breaks the unique `ref` and throws. */
export async function resolvePending(
  tx: Tx,
  how: "post" | "void",
  eventKeys: readonly string[],
): Promise<void> {
  const entries = await pendingEntries(tx, eventKeys.map(entryId));
  await post(
    tx,
    entries.map((pendingEntry) => mirror(pendingEntry, how)),
  );
}

function mirror(original: Entry, how: "post" | "void"): Entry {
  const eventKey = `${original.eventKey}:${how}`;
  return {
    ...original,
    id: entryId(eventKey),
    eventKey,
    transfers: original.transfers.map((transfer) => ({
      ...transfer,
      id: transferId(eventKey, transfer.leg),
      phase: how,
      ref: transfer.id,
    })),
  };
}

async function pendingEntries(tx: Tx, ids: readonly Hex[]): Promise<readonly Entry[]> {
  if (ids.length === 0) return [];
  const debit = alias(ledgerAccount, "debit");
  const credit = alias(ledgerAccount, "credit");
  const rows = await tx
    .select({ transfer: ledgerTransfer, debit, credit })
    .from(ledgerTransfer)
    .innerJoin(debit, eq(debit.id, ledgerTransfer.debitAccount))
    .innerJoin(credit, eq(credit.id, ledgerTransfer.creditAccount))
    .where(
      and(sql`${ledgerTransfer.entryId} = ANY(${toBytesArray(ids)})`, eq(ledgerTransfer.phase, "pending")),
    )
    .orderBy(ledgerTransfer.entryId, ledgerTransfer.sequence);
  const entries = new Map<Hex, Entry>();
  for (const row of rows) {
    const { entryId: id, eventKey, code, subject, blockNumber } = row.transfer;
    const known = entries.get(id) ?? { id, eventKey, code, subject, blockNumber, transfers: [] };
    const { id: transferId, leg, amount, phase, ref } = row.transfer;
    entries.set(id, {
      ...known,
      transfers: [
        ...known.transfers,
        { id: transferId, leg, amount, phase, ref, debit: row.debit, credit: row.credit },
      ],
    });
  }
  assert(entries.size === new Set(ids).size, "an entry to resolve has no pending transfers");
  return [...entries.values()];
}
