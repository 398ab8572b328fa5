import { and, eq, sql } from "drizzle-orm";
import type { Hex } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { fixed, readRows, type Tx, toBytesArray } from "#store";
import type { Account } from "./account.ts";
import { post } from "./post.ts";
import { ledgerAccount, ledgerTransfer } from "./tables.ts";
import { type Entry, entryId, resolutionId, type Transfer, transferId } from "./transfer.ts";

/** Posts (their block is final) or voids (their block left the chain) the pending transfers of these events. It
 *  mirrors the rows that stand in the books, it computes nothing anew. Doing it again changes nothing. Faults:
 *  `ledger_conflict` when they were resolved the other way. */
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
  const eventKey = `${original.eventKey}:${how}`; // by which the database checks its id
  return {
    ...original,
    id: resolutionId(original.id),
    eventKey,
    transfers: original.transfers.map((transfer) => ({
      ...transfer,
      id: transferId(eventKey, transfer.leg),
      phase: how,
      ref: transfer.id,
    })),
  };
}

/** Few accounts stand behind many transfers: they are read once each. */
async function accountsOf(tx: Tx, ids: readonly Hex[]): Promise<(id: Hex) => Account> {
  const rows = await tx
    .select()
    .from(ledgerAccount)
    .where(sql`${ledgerAccount.id} = ANY(${toBytesArray([...new Set(ids)])})`);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return (id) => {
    const found = byId.get(id);
    assert(found, "a transfer names an account that is gone");
    return found;
  };
}

const pendingColumns = {
  entryId: ledgerTransfer.entryId,
  eventKey: ledgerTransfer.eventKey,
  code: ledgerTransfer.code,
  subject: ledgerTransfer.subject,
  blockNumber: ledgerTransfer.blockNumber,
  id: ledgerTransfer.id,
  leg: ledgerTransfer.leg,
  amount: ledgerTransfer.amount,
  debitAccount: ledgerTransfer.debitAccount,
  creditAccount: ledgerTransfer.creditAccount,
};

async function pendingEntries(tx: Tx, ids: readonly Hex[]): Promise<readonly Entry[]> {
  if (ids.length === 0) return [];
  const pending = tx
    .select(pendingColumns)
    .from(ledgerTransfer)
    .where(
      and(
        sql`${ledgerTransfer.entryId} = ANY(${toBytesArray(ids)})`,
        fixed(eq(ledgerTransfer.phase, "pending")),
      ),
    )
    .orderBy(ledgerTransfer.entryId, ledgerTransfer.sequence);
  const rows = await readRows(tx, pendingColumns, pending);
  const account = await accountsOf(
    tx,
    rows.flatMap(({ debitAccount, creditAccount }) => [debitAccount, creditAccount]),
  );
  const entries = new Map<Hex, Entry & { readonly transfers: Transfer[] }>();
  for (const { entryId: id, eventKey, code, subject, blockNumber, ...row } of rows) {
    const entry = entries.get(id) ?? { id, eventKey, code, subject, blockNumber, transfers: [] };
    const { debitAccount, creditAccount, ...transfer } = row;
    const [debit, credit] = [account(debitAccount), account(creditAccount)];
    entry.transfers.push({ ...transfer, phase: "pending", ref: null, debit, credit });
    entries.set(id, entry);
  }
  assert(entries.size === new Set(ids).size, "an entry to resolve has no pending transfers");
  return [...entries.values()];
}
