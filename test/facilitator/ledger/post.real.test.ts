import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { account, type Entry, post, resolvePending, templates } from "#ledger";
import { sqlState } from "#store";
import { entry, pending, single } from "../../../facilitator/ledger/transfer.ts";
import { sharedDatabase } from "../../support/db.ts";
import { balances, differences, payment, stray, transfers, usdc } from "./rows.ts";

let count = 0;
let name = "";
const books = sharedDatabase();
beforeEach(() => {
  count += 1;
  name = `payment-${count}`;
});
afterAll(async () => {
  expect(await differences(books)).toEqual({});
});

const postAll = (entries: readonly Entry[]) => books.db.tx((tx) => post(tx, entries));
const snapshot = async () => ({ rows: await transfers(books), balances: await balances(books) });
const stateOf = (work: Promise<unknown>) => work.then(() => null, sqlState);

/** One transfer between two accounts, at once. */
function move(event: string, debit: account.Account, credit: account.Account, amount: bigint): Entry {
  const about = { code: "test", eventKey: event, subject: null, blockNumber: null };
  return entry(about, [single("only", { debit, credit, amount })]);
}

describe("post", () => {
  it("answers exists the second time and moves nothing", async () => {
    const credited = templates.x402Credited(payment(name));
    expect(await postAll([credited])).toEqual(["created"]);
    const before = await snapshot();
    expect(await postAll([credited])).toEqual(["exists"]);
    expect(await snapshot()).toEqual(before);
  });

  it("moves an event once that is named twice in one call", async () => {
    const credited = templates.x402Credited(payment(name, { merchantId: name }));
    expect(await postAll([credited, credited])).toEqual(["created", "exists"]);
    expect((await balances(books))[`liability:merchant:${name}:available`]).toEqual([0n, 9_950n]);
    expect(await differences(books)).toEqual({});
  });

  it("answers for each entry of a call, in the order of the call", async () => {
    const [one, two] = [payment(`${name}-a`), payment(`${name}-b`)].map(templates.x402Credited);
    if (!one || !two) throw new Error("two entries");
    await postAll([two]);
    expect(await postAll([one, two])).toEqual(["created", "exists"]);
  });

  it("posts nothing for no entries", async () => {
    expect(await postAll([])).toEqual([]);
  });

  it.each<[string, Partial<Parameters<typeof templates.x402Credited>[0]>]>([
    ["another amount", { gross: 10_001n }],
    ["another merchant", { merchantId: "mer_other" }],
    ["another asset", { asset: "USDC@polygon" }],
  ])("refuses the same event with %s, and moves nothing", async (_, other) => {
    await postAll([templates.x402Credited(payment(name))]);
    const before = await snapshot();
    const changed = templates.x402Credited(payment(name, other));
    await expect(postAll([changed])).rejects.toMatchObject({ code: "ledger_conflict", kind: "bug" });
    expect(await snapshot()).toEqual(before);
  });

  it("refuses the same event in another phase: matched is not credited", async () => {
    await postAll([templates.x402Credited(payment(name))]);
    await expect(postAll([templates.x402Matched(payment(name))])).rejects.toMatchObject({
      code: "ledger_conflict",
    });
  });

  it("refuses two contents of one event in one call", async () => {
    const entries = [payment(name), payment(name, { gross: 11_000n })].map(templates.x402Credited);
    await expect(postAll(entries)).rejects.toMatchObject({ code: "ledger_conflict" });
  });

  it("refuses an event that grows a leg after it was posted", async () => {
    await postAll([templates.x402Credited(payment(name, { fee: 0n, gross: 9_950n }))]);
    const before = await snapshot();
    await expect(postAll([templates.x402Credited(payment(name))])).rejects.toMatchObject({
      code: "ledger_conflict",
    });
    expect(await snapshot()).toEqual(before);
  });

  it("leaves nothing behind when its transaction rolls back, whatever else was in it", async () => {
    const before = await snapshot();
    const work = books.db.tx(async (tx) => {
      await post(tx, [templates.x402Credited(payment(name, { merchantId: name }))]);
      await post(tx, [templates.unmatchedReceived(stray(name))]);
      throw new Error("something else failed");
    });
    await expect(work).rejects.toThrow("something else failed");
    expect(await snapshot()).toEqual(before);
    expect(await books.query("SELECT 1 FROM ledger_account WHERE path LIKE $1", [`%${name}%`])).toEqual([]);
  });

  it("posts all entries of a call or none: one that is refused takes the others along", async () => {
    const before = await snapshot();
    const overdrawn = move(`${name}-over`, account.merchantAvailable(name, usdc), account.fees(usdc), 1n);
    const state = await stateOf(postAll([templates.unmatchedReceived(stray(name)), overdrawn]));
    expect(state).toBe("23514");
    expect(await snapshot()).toEqual(before);
  });

  it("takes no leg below zero and none that mixes assets", () => {
    const [from, to] = [account.treasury(usdc), account.fees(usdc)];
    expect(() => move(name, from, to, -1n)).toThrow("is negative");
    expect(() => move(name, from, account.fees("EURC@base"), 1n)).toThrow("mixes assets");
    expect(move(name, from, to, 0n).transfers).toEqual([]);
  });
});

describe("a bounded account", () => {
  it("cannot spend what it does not have, to the last unit", async () => {
    const available = account.merchantAvailable(name, usdc);
    await postAll([move(`${name}-in`, account.treasury(usdc), available, 100n)]);
    expect(await stateOf(postAll([move(`${name}-101`, available, account.fees(usdc), 101n)]))).toBe("23514");
    expect(await stateOf(postAll([move(`${name}-100`, available, account.fees(usdc), 100n)]))).toBeNull();
    expect((await balances(books))[available.path]).toEqual([0n, 0n]);
  });

  it("cannot spend inflow that is pending, and can once it is posted", async () => {
    const available = account.merchantAvailable(name, usdc);
    const paid = payment(name, { merchantId: name });
    const spend = move(`${name}-out`, available, account.fees(usdc), 9_950n);
    await postAll([templates.x402Credited(paid)]);
    expect(await stateOf(postAll([spend]))).toBe("23514");
    await books.db.tx((tx) => resolvePending(tx, "post", [templates.x402EventKey(paid)]));
    expect(await postAll([spend])).toEqual(["created"]);
  });

  it("counts pending outflow as spent: it cannot be promised twice", async () => {
    const available = account.merchantAvailable(name, usdc);
    const out = (event: string) =>
      entry({ code: "test", eventKey: event, subject: null, blockNumber: null }, [
        pending("out", { debit: available, credit: account.treasury(usdc), amount: 60n }),
      ]);
    await postAll([move(`${name}-in`, account.treasury(usdc), available, 100n)]);
    expect(await postAll([out(`${name}-first`)])).toEqual(["created"]);
    expect(await stateOf(postAll([out(`${name}-second`)]))).toBe("23514");
    await books.db.tx((tx) => resolvePending(tx, "void", [`${name}-first`]));
    expect(await postAll([out(`${name}-third`)])).toEqual(["created"]);
  });

  it("of money without an owner gives out each unit once", async () => {
    await postAll([templates.unmatchedReceived(stray(name, 10_000n))]);
    await books.db.tx((tx) => resolvePending(tx, "post", [templates.unmatchedEventKey(stray(name))]));
    const claims = [payment(`${name}-a`), payment(`${name}-b`)].map(templates.x402Matched);
    const [first, second] = await Promise.allSettled(claims.map((each) => postAll([each])));
    expect([first?.status, second?.status].sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("is not the treasury: what left before it was seen coming in is shown, not refused", async () => {
    const before = (await balances(books))["asset:treasury:base"]?.[0] ?? 0n;
    await postAll([
      move(`${name}-out`, account.funding(usdc), account.treasury(usdc), before + 1n),
      move(`${name}-back`, account.treasury(usdc), account.funding(usdc), before + 1n),
    ]);
    expect((await balances(books))["asset:treasury:base"]?.[0]).toBe(before);
  });
});

describe("the books are append-only", () => {
  const changes = [
    "UPDATE ledger_transfer SET amount = amount + 1",
    "DELETE FROM ledger_transfer",
    "TRUNCATE ledger_transfer",
  ];

  it.each(changes)("by grant for the service's role: %s", async (statement) => {
    await postAll([templates.x402Credited(payment(name))]);
    const before = await transfers(books);
    expect(await stateOf(books.db.pool.execute(statement))).toBe("42501");
    expect(await transfers(books)).toEqual(before);
  });

  it.each(changes)("by trigger for the owner: %s", async (statement) => {
    await postAll([templates.x402Credited(payment(name))]);
    const before = await transfers(books);
    await expect(books.query(statement)).rejects.toMatchObject({ code: "23001" });
    expect(await transfers(books)).toEqual(before);
  });

  it.each(["DELETE FROM ledger_balance", "DELETE FROM ledger_account", "TRUNCATE ledger_balance"])(
    "and no account or balance is removed by the service's role: %s",
    async (statement) => {
      expect(await stateOf(books.db.pool.execute(statement))).toBe("42501");
    },
  );

  it("in their shape: no row without amount, between one account and itself, or of two assets", async () => {
    const insert = (columns: { amount?: string; credit?: string; asset?: string; ref?: string | null }) =>
      books.query(
        `INSERT INTO ledger_transfer
           (id, entry_id, leg, event_key, code, debit_account, credit_account, amount, asset, phase, ref, sequence)
         SELECT sha256(random()::text::bytea), '\\x01', 'leg', 'by hand', 'test', debit.id, credit.id, $1, $3, 'single', $4::bytea, 0
         FROM ledger_account AS debit, ledger_account AS credit
         WHERE debit.path = 'asset:treasury:base' AND debit.asset = 'USDC@base'
           AND credit.path = $2 AND credit.asset = 'USDC@base'`,
        [columns.amount ?? "1", columns.credit ?? "income:fees", columns.asset ?? usdc, columns.ref ?? null],
      );
    const noAccount = { code: "23503", constraint: "ledger_transfer_accounts" };
    await postAll([templates.x402Credited(payment(name))]);
    await expect(insert({ amount: "0" })).rejects.toMatchObject({ constraint: "ledger_transfer_amount" });
    await expect(insert({ amount: "-1" })).rejects.toMatchObject({ constraint: "ledger_transfer_amount" });
    await expect(insert({ credit: "asset:treasury:base" })).rejects.toMatchObject({
      constraint: "ledger_transfer_two_accounts",
    });
    await expect(insert({ asset: "EURC@base" })).rejects.toMatchObject(noAccount);
    await expect(insert({ ref: "\\x02" })).rejects.toMatchObject({ constraint: "ledger_transfer_ref_phase" });
  });

  it.each(["debit_account", "credit_account"])(
    "and every row of a statement has its accounts: %s",
    async (side) => {
      await postAll([templates.x402Credited(payment(name))]);
      const before = await snapshot();
      const columns = [
        "id",
        "entry_id",
        "leg",
        "event_key",
        "code",
        "debit_account",
        "credit_account",
        "amount",
      ];
      const values = columns.map((column) => {
        if (column === "entry_id") return "sha256(entry_id || sequence::text::bytea)";
        return column === side ? `CASE WHEN leg = 'fee' THEN '\\x00' ELSE ${side} END` : column;
      });
      const all = "asset, phase, ref, sequence";
      const twins = books.query(
        `INSERT INTO ledger_transfer (${columns}, ${all}) SELECT ${values}, ${all} FROM ledger_transfer WHERE event_key = $1`,
        [templates.x402EventKey(payment(name))],
      );
      await expect(twins).rejects.toMatchObject({ code: "23503", constraint: "ledger_transfer_accounts" });
      expect(await snapshot()).toEqual(before);
    },
  );

  it("and an account stays what it is, also for the owner", async () => {
    await postAll([templates.x402Credited(payment(name))]);
    const accounts = () => books.query("SELECT * FROM ledger_account ORDER BY id");
    const before = await accounts();
    const changes = ["UPDATE ledger_account SET asset = 'EURC@base'", "DELETE FROM ledger_account"];
    for (const change of [...changes, "TRUNCATE ledger_account CASCADE"])
      await expect(books.query(change)).rejects.toMatchObject({ code: "23001" });
    expect(await stateOf(books.db.pool.execute(changes[0] ?? ""))).toBe("42501");
    expect(await accounts()).toEqual(before);
  });

  it("and what was resolved stays so: a second post or void has no place, neither its own nor another", async () => {
    const paid = payment("resolved-by-hand");
    const event = templates.x402EventKey(paid);
    await postAll([templates.x402Credited(paid)]);
    await books.db.tx((tx) => resolvePending(tx, "post", [event]));
    const voidByHand = (entryId: string) =>
      books.query(
        `INSERT INTO ledger_transfer
           (id, entry_id, leg, event_key, code, debit_account, credit_account, amount, asset, phase, ref, sequence)
         SELECT sha256(random()::text::bytea), ${entryId}, leg, $1, code, debit_account, credit_account, amount, asset, 'void', ref, sequence
         FROM ledger_transfer WHERE event_key = $2`,
        [`${event}:void`, `${event}:post`],
      );
    await expect(voidByHand("entry_id")).rejects.toMatchObject({
      constraint: "ledger_transfer_entry_id_leg_pk",
    });
    await expect(voidByHand("sha256(entry_id)")).rejects.toMatchObject({
      constraint: "ledger_transfer_resolution",
    });
  });
});
