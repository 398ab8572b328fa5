import { beforeAll, describe, expect, it } from "vitest";
import { imbalance, post, resolvePending, templates } from "#ledger";
import { sharedDatabase } from "../../support/db.ts";
import { differences, payment, stray, usdc } from "./rows.ts";

const books = sharedDatabase();
beforeAll(async () => {
  const paid = ["one", "two", "three"].map((name) => payment(name));
  await books.db.tx(async (tx) => {
    await post(tx, paid.map(templates.x402Credited));
    await post(tx, [templates.unmatchedReceived({ ...stray("euro"), asset: "EURC@base" })]);
    await resolvePending(tx, "post", paid.slice(0, 1).map(templates.x402EventKey));
    await resolvePending(tx, "void", paid.slice(1, 2).map(templates.x402EventKey));
  });
});

/** As the owner, who may: the change is undone afterwards, since the next one is tried alone. */
async function foundAfter(statement: string, undo: string): Promise<Record<string, bigint>> {
  await books.query(statement);
  const found = await differences(books);
  await books.query(undo);
  expect(await differences(books)).toEqual({});
  return found;
}
const treasury = `account_id = (SELECT id FROM ledger_account WHERE path = 'asset:treasury:base' AND asset = '${usdc}')`;
const fees = `account_id = (SELECT id FROM ledger_account WHERE path = 'income:fees' AND asset = '${usdc}')`;
const add = (where: string, columns: readonly string[], amount: number) =>
  `UPDATE ledger_balance SET ${columns.map((column) => `${column} = ${column} + ${amount}`).join(", ")} WHERE ${where}`;

describe("imbalance", () => {
  it("names every asset of the books, at zero", async () => {
    expect(await imbalance(books.db.pool)).toEqual([
      { asset: "EURC@base", difference: 0n },
      { asset: usdc, difference: 0n },
    ]);
  });

  it.each(["debits_posted", "credits_posted", "debits_pending", "credits_pending"])(
    "finds one unit too much in %s, and the asset it is in",
    async (column) => {
      const found = await foundAfter(add(treasury, [column], 1), add(treasury, [column], -1));
      // once over all accounts of the asset, once against the fold
      expect(found).toEqual({ [usdc]: 2n });
    },
  );

  it.each([
    ["posted", ["debits_posted", "credits_posted"]],
    ["pending", ["debits_pending", "credits_pending"]],
  ])("finds what was added to both sides of one account, which nets to nothing: %s", async (_, columns) => {
    expect(await foundAfter(add(treasury, columns, 5), add(treasury, columns, -5))).toEqual({ [usdc]: 10n });
  });

  it("finds what was moved between two accounts, which adds up over all", async () => {
    const shift = (amount: number) =>
      [add(treasury, ["debits_posted"], -amount), add(fees, ["debits_posted"], amount)].join("; ");
    expect(await foundAfter(shift(3), shift(-3))).toEqual({ [usdc]: 6n });
  });

  it("finds a balance row that is gone", async () => {
    await books.query(`CREATE TABLE kept AS SELECT * FROM ledger_balance WHERE ${fees}`);
    const found = await foundAfter(
      `DELETE FROM ledger_balance WHERE ${fees}`,
      "INSERT INTO ledger_balance SELECT * FROM kept",
    );
    expect(found).toEqual({ [usdc]: expect.any(BigInt) });
  });

  it("finds a transfer that no balance knows of", async () => {
    await books.query(`
      INSERT INTO ledger_transfer (id, entry_id, leg, event_key, code, debit_account, credit_account, amount, asset, phase, sequence)
      SELECT '\\x00', '\\x00', 'leg', 'by hand', 'test', debit_account, credit_account, 42, asset, 'single', 0
      FROM ledger_transfer WHERE asset = 'EURC@base' LIMIT 1`);
    expect(await differences(books)).toEqual({ "EURC@base": 84n });
  });
});
