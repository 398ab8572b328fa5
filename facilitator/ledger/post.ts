import { inArray, sql } from "drizzle-orm";
import type { Hex } from "#kernel/bytes";
import { fault } from "#kernel/fault";
import { insertMany, type Tx, toBytesArray, toNumericArray } from "#store";
import type { Account } from "./account.ts";
import { ledgerAccount, ledgerTransfer } from "./tables.ts";
import type { Entry, Transfer } from "./transfer.ts";

export type Posted = "created" | "exists";

interface Delta {
  debitsPosted: bigint;
  creditsPosted: bigint;
  debitsPending: bigint;
  creditsPending: bigint;
}

/** Posts entries, each whole or not at all, in the caller's transaction. An entry posted before, or earlier in the
 *  same call, answers `exists` and moves nothing. Reads nothing to decide. Faults: `ledger_conflict` when an id stands
 *  for other contents; a bounded account that would be overdrawn fails the transaction (SQLSTATE 23514). The only
 *  writer of these tables. */
export async function post(tx: Tx, entries: readonly Entry[]): Promise<readonly Posted[]> {
  const rows = distinctRows(entries);
  if (rows.length === 0) return entries.map(() => "exists");
  const created = await insert(tx, rows);
  await refuseConflicts(
    tx,
    rows.filter(({ transfer }) => !created.has(transfer.id)),
  );
  refuseHalves(entries, created);
  await moveBalances(
    tx,
    rows.filter(({ transfer }) => created.has(transfer.id)).map(({ transfer }) => transfer),
  );
  const untold = new Set(created);
  return entries.map((entry) =>
    entry.transfers.filter(({ id }) => untold.delete(id)).length > 0 ? "created" : "exists",
  );
}

type Row = { readonly entry: Entry; readonly transfer: Transfer; readonly sequence: number };

/** In the order of their index, so that postings of the same events at the same time wait for each other in one
 *  direction. */
function distinctRows(entries: readonly Entry[]): readonly Row[] {
  const byId = new Map<Hex, Row>();
  for (const entry of entries) {
    entry.transfers.forEach((transfer, sequence) => {
      const known = byId.get(transfer.id);
      if (known && contents(known.transfer) !== contents(transfer)) throw conflict(transfer);
      if (!known) byId.set(transfer.id, { entry, transfer, sequence });
    });
  }
  return [...byId.values()].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}

const placeOf = ({ entry, transfer }: Row) => `${entry.id} ${transfer.leg}`;

/** In id order, for the same reason. */
function accountsOf(rows: readonly Row[]): readonly Account[] {
  const accounts = new Map<Hex, Account>();
  for (const { transfer } of rows)
    accounts.set(transfer.debit.id, transfer.debit).set(transfer.credit.id, transfer.credit);
  return [...accounts.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Opens the accounts that are new, and adds the transfers: one statement, since an account is known by its id alone. */
async function insert(tx: Tx, rows: readonly Row[]): Promise<ReadonlySet<Hex>> {
  const values = rows.map(({ entry, transfer, sequence }) => ({
    id: transfer.id,
    entryId: entry.id,
    leg: transfer.leg,
    eventKey: entry.eventKey,
    code: entry.code,
    debitAccount: transfer.debit.id,
    creditAccount: transfer.credit.id,
    amount: transfer.amount,
    asset: transfer.debit.asset,
    phase: transfer.phase,
    ref: transfer.ref,
    subject: entry.subject,
    blockNumber: entry.blockNumber,
    sequence,
  }));
  const inserted = await tx.execute<{ id: Hex }>(sql`
    WITH opened AS (${insertMany(ledgerAccount, accountsOf(rows))} ON CONFLICT DO NOTHING RETURNING id, bounded),
      balances AS (INSERT INTO ledger_balance (account_id, bounded) SELECT id, bounded FROM opened ON CONFLICT DO NOTHING)
    ${insertMany(ledgerTransfer, values)} ON CONFLICT (entry_id, leg) DO NOTHING RETURNING id`);
  return new Set(inserted.rows.map(({ id }) => id));
}

/** `exists` is success only for the same content. */
async function refuseConflicts(tx: Tx, repeated: readonly Row[]): Promise<void> {
  if (repeated.length === 0) return;
  const stored = await tx
    .select()
    .from(ledgerTransfer)
    .where(
      inArray(
        ledgerTransfer.entryId,
        repeated.map(({ entry }) => entry.id),
      ),
    );
  const known = new Map(
    stored.map(({ debitAccount, creditAccount, ...row }) => [
      row.id,
      contents({ ...row, debit: { id: debitAccount }, credit: { id: creditAccount } }),
    ]),
  );
  for (const { transfer } of repeated)
    if (known.get(transfer.id) !== contents(transfer)) throw conflict(transfer);
}

/** An event has all its legs from its first posting on; one that grows a leg is another event. */
function refuseHalves(entries: readonly Entry[], created: ReadonlySet<Hex>): void {
  for (const { transfers } of entries) {
    const old = transfers.find(({ id }) => !created.has(id));
    if (old && transfers.some(({ id }) => created.has(id))) throw conflict(old);
  }
}

type Contents = Pick<Transfer, "amount" | "phase" | "ref"> & {
  readonly debit: Pick<Account, "id">;
  readonly credit: Pick<Account, "id">;
};

function contents({ amount, phase, ref, debit, credit }: Contents): string {
  return [amount, phase, ref, debit.id, credit.id].join(" ");
}

function conflict({ id }: Transfer): Error {
  return fault("ledger_conflict", { transfer: id });
}

async function moveBalances(tx: Tx, transfers: readonly Transfer[]): Promise<void> {
  const deltas = new Map<Hex, Delta>();
  const of = (account: Account): Delta => {
    const known = deltas.get(account.id) ?? {
      debitsPosted: 0n,
      creditsPosted: 0n,
      debitsPending: 0n,
      creditsPending: 0n,
    };
    deltas.set(account.id, known);
    return known;
  };
  for (const { debit, credit, amount, phase } of transfers) {
    const posted = phase === "single" || phase === "post" ? amount : 0n;
    const pendingChange = phase === "pending" ? amount : phase === "single" ? 0n : -amount;
    of(debit).debitsPosted += posted;
    of(debit).debitsPending += pendingChange;
    of(credit).creditsPosted += posted;
    of(credit).creditsPending += pendingChange;
  }
  if (deltas.size === 0) return;
  const ids = [...deltas.keys()].sort();
  const values = ids.map((id) => of({ id } as Account));
  // Locked in id order first: an UPDATE … FROM locks in whatever order its plan visits.
  await tx.execute(sql`
    WITH locked AS MATERIALIZED (
      SELECT account_id FROM ledger_balance WHERE account_id = ANY(${toBytesArray(ids)}) ORDER BY account_id FOR UPDATE)
    UPDATE ledger_balance AS balance SET
      debits_posted = balance.debits_posted + delta.debits_posted,
      credits_posted = balance.credits_posted + delta.credits_posted,
      debits_pending = balance.debits_pending + delta.debits_pending,
      credits_pending = balance.credits_pending + delta.credits_pending,
      version = balance.version + 1
    FROM locked, unnest(
      ${toBytesArray(ids)},
      ${toNumericArray(values.map((v) => v.debitsPosted))},
      ${toNumericArray(values.map((v) => v.creditsPosted))},
      ${toNumericArray(values.map((v) => v.debitsPending))},
      ${toNumericArray(values.map((v) => v.creditsPending))}
    ) AS delta(id, debits_posted, credits_posted, debits_pending, credits_pending)
    WHERE balance.account_id = locked.account_id AND delta.id = locked.account_id`);
}
