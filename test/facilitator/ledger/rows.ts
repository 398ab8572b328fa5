/** The books as a test reads them: whole rows, with the paths of their accounts. */
import { sha256 } from "#kernel/codec";
import { imbalance, trialBalance, type X402Payment } from "#ledger";
import type { TestDatabase } from "../../support/db.ts";

export const usdc = "USDC@base";
const block = 1_000;

export interface TransferRow {
  readonly code: string;
  readonly event: string;
  readonly leg: string;
  readonly phase: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount: string;
  readonly asset: string;
  readonly subject: string | null;
  readonly block: string | null;
}

/** Every transfer, in the order in which it was posted. */
export function transfers({ query }: TestDatabase): Promise<TransferRow[]> {
  return query<TransferRow>(`
    SELECT code, event_key AS event, leg, phase, debit.path AS debit, credit.path AS credit, amount::text AS amount,
      t.asset, subject, block_number AS block
    FROM ledger_transfer AS t
    JOIN ledger_account AS debit ON debit.id = t.debit_account
    JOIN ledger_account AS credit ON credit.id = t.credit_account
    ORDER BY t.posted_at, t.event_key, t.sequence`);
}

/** Balance of each account that was touched: posted and pending, signed by the account's type. */
export async function balances({ db }: TestDatabase): Promise<Record<string, readonly [bigint, bigint]>> {
  const rows = await trialBalance(db.pool);
  return Object.fromEntries(rows.map(({ path, posted, pending }) => [path, [posted, pending] as const]));
}

/** Assets whose books do not balance. */
export async function differences({ db }: TestDatabase): Promise<Record<string, bigint>> {
  const off = (await imbalance(db.pool)).filter(({ difference }) => difference !== 0n);
  return Object.fromEntries(off.map(({ asset, difference }) => [asset, difference]));
}

/** An x402 payment of 0.01 with a fee of 50 bps: worked posting 4. */
export function payment(name: string, over: Partial<X402Payment> = {}): X402Payment {
  return {
    claimKey: sha256(name),
    epoch: 0,
    settlementId: `stl_${name}`,
    merchantId: "mer_one",
    asset: usdc,
    gross: 10_000n,
    fee: 50n,
    blockNumber: block,
    ...over,
  };
}

/** A transfer to us that nobody claims. */
export function stray(name: string, amount = 5_000_000n) {
  return {
    chain: "base",
    blockHash: sha256(`block of ${name}`),
    txHash: sha256(name),
    logIndex: 3,
    bookings: 1,
    asset: usdc,
    amount,
    blockNumber: block,
  };
}
