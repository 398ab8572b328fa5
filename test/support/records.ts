/** What the rows say of one payment, for looking at after a fault. */
import type { Hash } from "#kernel/bytes";
import type { TestDatabase } from "./db.ts";
import type { DevChain } from "./dev-chain.ts";

export interface ClaimRecord {
  readonly id: string;
  readonly state: string;
  readonly credit_state: string;
  readonly credit_epoch: number;
  readonly attempts: number;
  readonly reason: string | null;
  readonly settled_by: string | null;
  readonly included_tx: string | null;
  readonly granted: boolean;
}

/** The claim of an authorization, by its nonce; null while there is none. */
export async function claimOf(database: TestDatabase, nonce: Hash): Promise<ClaimRecord | null> {
  const [row] = await database.query<ClaimRecord>(
    `SELECT id, state, credit_state, credit_epoch, attempts, reason, settled_by,
       '0x' || encode(included_tx, 'hex') AS included_tx, success_granted_at IS NOT NULL AS granted
     FROM claim WHERE nonce = decode($1, 'hex')`,
    [nonce.slice(2)],
  );
  return row ?? null;
}

export async function stateOf(database: TestDatabase, nonce: Hash): Promise<string | null> {
  return (await claimOf(database, nonce))?.state ?? null;
}

/** The books' rows of a payment, or of an unmatched transaction, in the order in which they were written:
 *  `pending net asset:treasury → liability:… 9950`. */
export async function ledgerOf(database: TestDatabase, subject: string): Promise<readonly string[]> {
  const rows = await database.query<{ line: string }>(
    `SELECT concat_ws(' ', transfer.phase, transfer.leg, split_part(debit.path, ':', 2), '→',
       CASE WHEN credit.path LIKE '%:available' THEN 'available' ELSE split_part(credit.path, ':', 2) END,
       transfer.amount) AS line
     FROM ledger_transfer AS transfer
     JOIN ledger_account AS debit ON debit.id = transfer.debit_account
     JOIN ledger_account AS credit ON credit.id = transfer.credit_account
     WHERE transfer.subject = $1 ORDER BY transfer.posted_at, transfer.event_key, transfer.sequence`,
    [subject],
  );
  return rows.map(({ line }) => line);
}

/** Facts told of a payment, in their order. */
export async function factsOf(database: TestDatabase, paymentId: string): Promise<readonly string[]> {
  const rows = await database.query<{ type: string }>(
    "SELECT type FROM outbox WHERE subject = $1 ORDER BY sequence",
    [paymentId],
  );
  return rows.map(({ type }) => type);
}

export interface AttemptRecord {
  readonly tx_hash: string;
  readonly nonce: number;
  readonly seq: number;
  readonly max_fee: string;
  readonly tip: string;
}

/** Every transaction ever signed for a payment. */
export function attemptsOf(database: TestDatabase, nonce: Hash): Promise<AttemptRecord[]> {
  return database.query<AttemptRecord>(
    `SELECT '0x' || encode(attempt.tx_hash, 'hex') AS tx_hash, slot.nonce, attempt.seq, attempt.max_fee, attempt.tip
     FROM attempt JOIN slot ON slot.id = attempt.slot_id JOIN slot_item ON slot_item.slot_id = slot.id
     JOIN claim ON claim.claim_key = slot_item.claim_key
     WHERE claim.nonce = decode($1, 'hex') ORDER BY slot.nonce, attempt.seq`,
    [nonce.slice(2)],
  );
}

/** Transactions that the first gas key has had mined. */
export function transactionsSent(dev: DevChain): Promise<number> {
  return dev.chain.nonce(dev.lane, "latest");
}

/** How many statements wait for what another transaction holds, of those that name `what`. */
export async function waitingForLocks({ database }: { readonly database: TestDatabase }, what = "") {
  const rows = await database.query(
    `SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`,
    [what],
  );
  return rows.length;
}
