import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { foldOldTransfers, imbalance, post, recentImbalance, resolvePending, templates } from "#ledger";
import { freshDatabase, type TestDatabase } from "../../support/db.ts";
import { payment, usdc } from "./rows.ts";

const never = new AbortController().signal;
/** Of the payments in the books, in seconds before now. */
const ages = [7_200, 6_600, 6_599, 3_000, 601, 30, 0];

let books: TestDatabase;
beforeEach(async () => {
  books = await freshDatabase();
  const paid = ages.map((age) => payment(`${age}`));
  await books.db.tx(async (tx) => {
    await post(tx, paid.map(templates.x402Credited));
    await resolvePending(tx, "post", paid.slice(0, 6).map(templates.x402EventKey));
    await resolvePending(tx, "void", paid.slice(6).map(templates.x402EventKey));
  });
  // Each is resolved a minute after it was credited, but for the last.
  for (const { age, subject } of ages.map((age, i) => ({ age, subject: paid[i]?.settlementId })))
    await asOwner(
      `UPDATE ledger_transfer SET posted_at = now() - make_interval(secs => ${age} - CASE WHEN phase = 'pending' OR ${age} < 60 THEN 0 ELSE 60 END)
       WHERE subject = '${subject}'`,
    );
  await books.query("UPDATE ledger_checkpoint SET folded_to = now() - interval '2 hours 1 second'");
});
afterEach(() => books.drop());

/** The books are append-only: even their owner has to say so. */
const asOwner = (statement: string) =>
  books.query(
    `ALTER TABLE ledger_transfer DISABLE TRIGGER USER; ${statement}; ALTER TABLE ledger_transfer ENABLE TRIGGER USER`,
  );

const fold = () =>
  books.query(`SELECT debits_posted, credits_posted, debits_pending, credits_pending, path
    FROM ledger_fold JOIN ledger_account ON id = account_id ORDER BY path`);

/** The same as the rows before the checkpoint have it. */
const expectedFold = () =>
  books.query(`SELECT coalesce(sum(debit) FILTER (WHERE phase IN ('single','post')), 0) AS debits_posted,
      coalesce(sum(credit) FILTER (WHERE phase IN ('single','post')), 0) AS credits_posted,
      coalesce(sum(debit) FILTER (WHERE phase = 'pending'), 0) - coalesce(sum(debit) FILTER (WHERE phase IN ('post','void')), 0) AS debits_pending,
      coalesce(sum(credit) FILTER (WHERE phase = 'pending'), 0) - coalesce(sum(credit) FILTER (WHERE phase IN ('post','void')), 0) AS credits_pending,
      path
    FROM ledger_transfer, ledger_account, ledger_checkpoint,
      LATERAL (SELECT CASE WHEN debit_account = ledger_account.id THEN amount ELSE 0 END AS debit,
        CASE WHEN credit_account = ledger_account.id THEN amount ELSE 0 END AS credit) AS side
    WHERE ledger_account.id IN (debit_account, credit_account) AND posted_at < folded_to
    GROUP BY path ORDER BY path`);

const balanced = [{ asset: usdc, difference: 0n }];

describe("the fold of old transfers", () => {
  it("holds what was posted up to ten minutes ago, whatever is resolved by now", async () => {
    await foldOldTransfers(books.db, never);
    const folded = await fold();
    expect(folded.length).toBeGreaterThan(0);
    expect(folded).toEqual(await expectedFold());
    const [reached] = await books.query(
      "SELECT now() - folded_to BETWEEN '10 minutes' AND '11 minutes' AS is_there FROM ledger_checkpoint",
    );
    expect(reached).toEqual({ is_there: true });
    expect(await recentImbalance(books.db.pool)).toEqual(balanced);
    expect(await imbalance(books.db.pool)).toEqual(balanced);
  });

  it("is the same when it is made twice, or by two at once", async () => {
    await Promise.all([1, 2, 3].map(() => foldOldTransfers(books.db, never)));
    const folded = await fold();
    expect(folded).toEqual(await expectedFold());
    await foldOldTransfers(books.db, never);
    expect(await fold()).toEqual(folded);
  });

  it("begins with what was there before there was one", async () => {
    await books.query("DELETE FROM ledger_checkpoint");
    const migration = new URL("../../../migrations/0029_fold_of_old_transfers.sql", import.meta.url);
    const [backfill, checkpoint] = (await readFile(migration, "utf8"))
      .split("--> statement-breakpoint")
      .reverse();
    await books.query(`${checkpoint};${backfill}`);
    const folded = await fold();
    expect(folded.length).toBeGreaterThan(0);
    expect(folded).toEqual(await expectedFold());
  });

  it("is left as it is by a process that ends", async () => {
    await foldOldTransfers(books.db, AbortSignal.abort());
    expect(await fold()).toEqual([]);
    expect(await recentImbalance(books.db.pool)).toEqual(balanced);
  });

  it("lets a difference in a balance, and in what was posted since, be found without reading what is old", async () => {
    await foldOldTransfers(books.db, never);
    await books.query(`UPDATE ledger_balance SET debits_posted = debits_posted + 1
      WHERE account_id = (SELECT id FROM ledger_account WHERE path = 'asset:treasury:base')`);
    expect(await recentImbalance(books.db.pool)).toEqual([{ asset: usdc, difference: 2n }]);
    await byHand("now()");
    expect(await recentImbalance(books.db.pool)).toEqual(await imbalance(books.db.pool));
    // what is smuggled in among the old ones is found by who reads them all
    const before = await imbalance(books.db.pool);
    await byHand("now() - interval '1 hour'");
    expect(await recentImbalance(books.db.pool)).toEqual(before);
    expect(await imbalance(books.db.pool)).not.toEqual(before);
  });
});

/** A transfer that no balance knows of. */
const byHand = (at: string) =>
  books.query(`INSERT INTO ledger_transfer
      (id, entry_id, leg, event_key, code, debit_account, credit_account, amount, asset, phase, sequence, posted_at)
    SELECT sha256(posted::text::bytea), sha256(posted::text::bytea), 'leg', 'by hand', 'test', debit_account, credit_account, 42, asset, 'single', 0, posted
    FROM ledger_transfer, CAST(${at} AS timestamptz) AS posted LIMIT 1`);
