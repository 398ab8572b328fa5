import { and, eq, inArray, notExists, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { type Executor, fixed, type Tx } from "#store";
import { type Account, merchantAvailable } from "./account.ts";
import { ledgerBalance, ledgerTransfer } from "./tables.ts";

interface Purse {
  readonly merchantId: string;
  /** `USDC@base`. */
  readonly asset: string;
}

/** What a merchant may spend, in atomic units: posted, less what is on its way out. Nobody else books on the account
 *  until the transaction ends; take it as the last lock, after what the transaction itself posts. */
export async function holdAvailable(tx: Tx, { merchantId, asset }: Purse): Promise<bigint> {
  const [balance] = await tx
    .select()
    .from(ledgerBalance)
    .where(eq(ledgerBalance.accountId, merchantAvailable(merchantId, asset).id))
    .for("update");
  return balance ? balance.creditsPosted - balance.debitsPosted - balance.debitsPending : 0n;
}

/** What events about these subjects have credited to a merchant in blocks that are not final yet, in atomic units by
 *  subject. A subject without such a credit is not in it. */
export async function pendingCredits(
  db: Executor,
  { merchantId, asset, subjects }: Purse & { readonly subjects: readonly string[] },
): Promise<ReadonlyMap<string, bigint>> {
  if (subjects.length === 0) return new Map();
  const resolution = alias(ledgerTransfer, "resolution");
  const rows = await db
    .select({ subject: ledgerTransfer.subject, amount: sql<string>`sum(${ledgerTransfer.amount})` })
    .from(ledgerTransfer)
    .where(
      and(
        inArray(ledgerTransfer.subject, [...subjects]),
        fixed(eq(ledgerTransfer.phase, "pending")),
        eq(ledgerTransfer.creditAccount, merchantAvailable(merchantId, asset).id),
        notExists(
          db
            .select({ id: resolution.id })
            .from(resolution)
            .where(
              and(eq(resolution.subject, ledgerTransfer.subject), eq(resolution.ref, ledgerTransfer.id)),
            ),
        ),
      ),
    )
    .groupBy(ledgerTransfer.subject);
  return new Map(
    rows.flatMap(({ subject, amount }) => (subject ? [[subject, BigInt(amount)] as const] : [])),
  );
}

/** Whether something about a subject is posted: booked at once, or pending once and final now. */
export async function hasPosted(db: Executor, subject: string): Promise<boolean> {
  const rows = await db
    .select({ id: ledgerTransfer.id })
    .from(ledgerTransfer)
    .where(and(eq(ledgerTransfer.subject, subject), fixed(inArray(ledgerTransfer.phase, ["post", "single"]))))
    .limit(1);
  return rows.length > 0;
}

/** What an asset account holds for good, in atomic units, less what leaves it in blocks that are not final yet. */
export async function freeOf(db: Executor, { id }: Account): Promise<bigint> {
  const [balance] = await db.select().from(ledgerBalance).where(eq(ledgerBalance.accountId, id));
  return balance ? balance.debitsPosted - balance.creditsPosted - balance.creditsPending : 0n;
}
