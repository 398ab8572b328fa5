import { and, desc, eq, inArray, or, type SQLWrapper, sql } from "drizzle-orm";
import { alias, type PgColumn } from "drizzle-orm/pg-core";
import { fromBytes, type Hex, toBytes } from "#kernel/bytes";
import { type Executor, readRows } from "#store";
import { ledgerAccount, ledgerTransfer } from "./tables.ts";
import { entryId, type Phase } from "./transfer.ts";

/** An entry as one merchant sees it: only the transfers that touch an account of its own. Atomic units of `asset`. */
export interface MerchantEntry {
  /** `je_` and the entry's 16 bytes in the alphabet of ULIDs. */
  readonly id: string;
  readonly code: string;
  /** The settlement or payout it is about. */
  readonly subject: string | null;
  readonly blockNumber: number | null;
  readonly postedAt: Date;
  readonly transfers: readonly {
    readonly debit: string;
    readonly credit: string;
    readonly asset: string;
    readonly amount: bigint;
    readonly phase: Phase;
  }[];
}

export interface EntryFilter {
  readonly limit: number;
  /** Entries before this one, newest first. */
  readonly after: string | null;
  /** One, or any of several. */
  readonly subject?: string | readonly string[] | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The merchant's entries, newest first, at most `limit`. */
export async function merchantEntries(
  db: Executor,
  merchantId: string,
  filter: EntryFilter,
): Promise<readonly MerchantEntry[]> {
  const own = db
    .select({ id: ledgerAccount.id })
    .from(ledgerAccount)
    .where(eq(ledgerAccount.merchantId, merchantId));
  const ids = await newest(db, own, filter);
  const touches = or(inArray(ledgerTransfer.debitAccount, own), inArray(ledgerTransfer.creditAccount, own));
  const entries = await readEntries(db, ids, touches);
  return ids.flatMap((id) => entries.get(id) ?? []);
}

/** The newest of each account and side, and of those the newest: an account may have any number, of which a page is read.
 *  Rows of an entry share their time and id, so the pair orders entries. */
async function newest(db: Executor, own: SQLWrapper, filter: EntryFilter): Promise<readonly Hex[]> {
  const { subject, from, to, after, limit } = filter;
  const { postedAt, entryId, debitAccount, creditAccount } = ledgerTransfer;
  const ofSide = (account: PgColumn) =>
    db
      .selectDistinct({ postedAt, entryId })
      .from(ledgerTransfer)
      .where(
        and(
          eq(account, sql`own.id`),
          isAbout(subject),
          from && sql`${postedAt} >= ${from.toISOString()}`,
          to && sql`${postedAt} < ${to.toISOString()}`,
          before(db, after),
        ),
      )
      .orderBy(desc(postedAt), desc(entryId))
      .limit(limit);
  const page = sql`SELECT DISTINCT ${postedAt}, ${entryId} FROM ${own} AS own CROSS JOIN LATERAL (
    ${ofSide(debitAccount)} UNION ALL ${ofSide(creditAccount)}) AS ledger_transfer
    ORDER BY ${postedAt} DESC, ${entryId} DESC LIMIT ${limit}`;
  const rows = await readRows(db, { postedAt, entryId }, page);
  return rows.map((row) => row.entryId);
}

function isAbout(subject: EntryFilter["subject"]) {
  if (subject === undefined) return undefined;
  return typeof subject === "string"
    ? eq(ledgerTransfer.subject, subject)
    : inArray(ledgerTransfer.subject, [...subject]);
}

function before(db: Executor, after: string | null) {
  if (after === null) return undefined;
  const id = toEntryId(after);
  if (id === null) return sql`false`;
  const { postedAt, entryId } = ledgerTransfer;
  const at = db.select({ at: sql`min(posted_at)` }).from(ledgerTransfer).where(eq(entryId, id));
  return sql`(${postedAt}, ${entryId}) < (${at}, ${sql.param(id, entryId)})`;
}

async function readEntries(db: Executor, ids: readonly Hex[], touches: ReturnType<typeof or>) {
  const entries = new Map<Hex, MerchantEntry>();
  if (ids.length === 0) return entries;
  const debit = alias(ledgerAccount, "debit");
  const credit = alias(ledgerAccount, "credit");
  const rows = await db
    .select({ transfer: ledgerTransfer, debit: debit.path, credit: credit.path })
    .from(ledgerTransfer)
    .innerJoin(debit, eq(debit.id, ledgerTransfer.debitAccount))
    .innerJoin(credit, eq(credit.id, ledgerTransfer.creditAccount))
    .where(and(inArray(ledgerTransfer.entryId, [...ids]), touches))
    .orderBy(ledgerTransfer.sequence);
  for (const row of rows) {
    const { entryId, code, subject, blockNumber, postedAt, asset, amount, phase } = row.transfer;
    const known = entries.get(entryId) ?? {
      id: toWireId(entryId),
      code,
      subject,
      blockNumber,
      postedAt,
      transfers: [],
    };
    const transfer = { debit: row.debit, credit: row.credit, asset, amount, phase };
    entries.set(entryId, { ...known, transfers: [...known.transfers, transfer] });
  }
  return entries;
}

/** Which of these events are in the books. */
export async function postedEvents(db: Executor, eventKeys: readonly string[]): Promise<ReadonlySet<string>> {
  if (eventKeys.length === 0) return new Set();
  const byId = new Map(eventKeys.map((key) => [entryId(key), key]));
  const found = await db
    .selectDistinct({ entryId: ledgerTransfer.entryId })
    .from(ledgerTransfer)
    .where(inArray(ledgerTransfer.entryId, [...byId.keys()]));
  return new Set(found.flatMap((row) => byId.get(row.entryId) ?? []));
}

/** What an event moved, `USDC@base`; null where it is not in the books. Of an event of one asset. */
export async function assetOfEvent(db: Executor, eventKey: string): Promise<string | null> {
  const [row] = await db
    .select({ asset: ledgerTransfer.asset })
    .from(ledgerTransfer)
    .where(eq(ledgerTransfer.entryId, entryId(eventKey)))
    .limit(1);
  return row?.asset ?? null;
}

function toWireId(entryId: Hex): string {
  let value = BigInt(entryId);
  let text = "";
  for (let i = 0; i < 26; i += 1) {
    text = ALPHABET.charAt(Number(value & 31n)) + text;
    value >>= 5n;
  }
  return `je_${text}`;
}

function toEntryId(wireId: string): Hex | null {
  if (!/^je_[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(wireId)) return null;
  const value = [...wireId.slice(3)].reduce(
    (sum, digit) => (sum << 5n) | BigInt(ALPHABET.indexOf(digit)),
    0n,
  );
  return fromBytes(toBytes(`0x${value.toString(16).padStart(32, "0")}`));
}
