import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { sha256 } from "#kernel/codec";
import { account, balanceAt, merchantBalances, post, resolvePending, templates, trialBalance } from "#ledger";
import { sharedDatabase } from "../../support/db.ts";
import { balances, differences, payment, stray, transfers, usdc } from "./rows.ts";

const books = sharedDatabase();

const rowsOf = async (event: string) => (await transfers(books)).filter((row) => row.event === event);
const postOne = (entry: ReturnType<typeof templates.x402Credited>) => books.db.tx((tx) => post(tx, [entry]));

describe("x402Credited: worked posting 4, a payment of 0.01 at 50 bps", () => {
  it("books net and fee out of the treasury, pending", async () => {
    const paid = payment("four");
    await postOne(templates.x402Credited(paid));
    const event = `x402:${paid.claimKey}:0`;
    const shared = {
      code: "x402-credited",
      event,
      phase: "pending",
      debit: "asset:treasury:base",
      asset: usdc,
      subject: "stl_four",
      block: "1000",
    };
    expect(await rowsOf(event)).toEqual([
      { ...shared, leg: "net", credit: "liability:merchant:mer_one:available", amount: "9950" },
      { ...shared, leg: "fee", credit: "income:fees", amount: "50" },
    ]);
    expect(await balances(books)).toEqual({
      "asset:treasury:base": [0n, 10_000n],
      "liability:merchant:mer_one:available": [0n, 9_950n],
      "income:fees": [0n, 50n],
    });
  });

  it("is posted when its block is final, row by row and for the whole amount", async () => {
    const event = templates.x402EventKey(payment("four"));
    await books.db.tx((tx) => resolvePending(tx, "post", [event]));
    const shared = {
      code: "x402-credited",
      event: `${event}:post`,
      phase: "post",
      debit: "asset:treasury:base",
      asset: usdc,
      subject: "stl_four",
      block: "1000",
    };
    expect(await rowsOf(`${event}:post`)).toEqual([
      { ...shared, leg: "net", credit: "liability:merchant:mer_one:available", amount: "9950" },
      { ...shared, leg: "fee", credit: "income:fees", amount: "50" },
    ]);
    const refs = await books.query<{ same: boolean }>(
      `SELECT resolved.amount = pending.amount AND resolved.debit_account = pending.debit_account
         AND resolved.credit_account = pending.credit_account AND pending.phase = 'pending' AS same
       FROM ledger_transfer AS resolved JOIN ledger_transfer AS pending ON pending.id = resolved.ref
       WHERE resolved.event_key = $1`,
      [`${event}:post`],
    );
    expect(refs).toEqual([{ same: true }, { same: true }]);
    expect(await balances(books)).toEqual({
      "asset:treasury:base": [10_000n, 0n],
      "liability:merchant:mer_one:available": [9_950n, 0n],
      "income:fees": [50n, 0n],
    });
  });

  it("leaves out the fee's row when there is no fee", async () => {
    const free = payment("free", { fee: 0n, merchantId: "mer_free" });
    await postOne(templates.x402Credited(free));
    const rows = await rowsOf(templates.x402EventKey(free));
    expect(rows.map(({ leg, amount }) => [leg, amount])).toEqual([["net", "10000"]]);
  });

  it("has rows of its own in another epoch: a payment that was mined again", async () => {
    const again = payment("four", { epoch: 1 });
    expect(await postOne(templates.x402Credited(again))).toEqual(["created"]);
    expect(await rowsOf(templates.x402EventKey(again))).toHaveLength(2);
  });
});

describe("unmatchedReceived and x402Matched: worked posting 7, money that finds its owner later", () => {
  it("books what came in as owed to nobody yet, pending", async () => {
    const log = stray("seven");
    await postOne(templates.unmatchedReceived(log));
    const event = templates.unmatchedEventKey(log);
    expect(event).toContain(`unmatched:base:${log.txHash}:3:${log.blockHash}`);
    expect(await rowsOf(event)).toEqual([
      {
        code: "unmatched-received",
        event,
        leg: "in",
        phase: "pending",
        debit: "asset:treasury:base",
        credit: "liability:unmatched",
        amount: "5000000",
        asset: usdc,
        subject: log.txHash,
        block: "1000",
      },
    ]);
  });

  it("moves it to the merchant and to us at once, without touching the treasury", async () => {
    await books.db.tx((tx) => resolvePending(tx, "post", [templates.unmatchedEventKey(stray("seven"))]));
    const treasury = (await balances(books))["asset:treasury:base"];
    const matched = payment("seven", { gross: 5_000_000n, fee: 25_000n, merchantId: "mer_seven" });
    await postOne(templates.x402Matched(matched));
    const event = templates.x402EventKey(matched);
    const shared = {
      code: "x402-matched",
      event,
      phase: "single",
      debit: "liability:unmatched",
      asset: usdc,
      subject: "stl_seven",
      block: "1000",
    };
    expect(await rowsOf(event)).toEqual([
      { ...shared, leg: "net", credit: "liability:merchant:mer_seven:available", amount: "4975000" },
      { ...shared, leg: "fee", credit: "income:fees", amount: "25000" },
    ]);
    const after = await balances(books);
    expect(after["asset:treasury:base"]).toEqual(treasury);
    expect(after["liability:unmatched"]).toEqual([0n, 0n]);
    expect(after["liability:merchant:mer_seven:available"]).toEqual([4_975_000n, 0n]);
  });

  it("is another event when the same log is mined in another block", () => {
    const log = stray("reorg");
    const moved = templates.unmatchedReceived({ ...log, blockHash: sha256("another block") });
    expect(moved.id).not.toBe(templates.unmatchedReceived(log).id);
  });
});

describe("payouts: worked posting 10, 25 out of what a merchant has", () => {
  const payout = { payoutId: "po_one", merchantId: "mer_payout", asset: usdc, amount: 25_000_000n };
  const available = "liability:merchant:mer_payout:available";
  const reserved = "liability:merchant:mer_payout:reserved";
  const shared = { amount: "25000000", asset: usdc, subject: "po_one" };
  const sent = {
    eventKey: "payout:claim:0",
    subject: "po_one",
    merchantId: "mer_payout",
    asset: usdc,
    amount: 25_000_000n,
    blockNumber: 1_002,
  };

  it("are locked when asked for, at once, and not without the money", async () => {
    await expect(postOne(templates.payoutCreated(payout))).rejects.toThrow();
    const paid = payment("payout", { merchantId: "mer_payout", gross: 30_000_000n, fee: 0n });
    await postOne(templates.x402Credited(paid));
    await books.db.tx((tx) => resolvePending(tx, "post", [templates.x402EventKey(paid)]));
    await postOne(templates.payoutCreated(payout));
    expect(await rowsOf("payout:po_one:created")).toEqual([
      {
        ...shared,
        code: "payout-created",
        event: "payout:po_one:created",
        leg: "out",
        phase: "single",
        debit: available,
        credit: reserved,
        block: null,
      },
    ]);
    const after = await balances(books);
    expect([after[available], after[reserved]]).toEqual([
      [5_000_000n, 0n],
      [25_000_000n, 0n],
    ]);
  });

  it("leave the treasury when the chain moved them, pending until that is final", async () => {
    const before = (await balances(books))["asset:treasury:base"] ?? [0n, 0n];
    await postOne(templates.reservedSent(sent));
    expect(await rowsOf(sent.eventKey)).toEqual([
      {
        ...shared,
        code: "reserved-sent",
        event: sent.eventKey,
        leg: "out",
        phase: "pending",
        debit: reserved,
        credit: "asset:treasury:base",
        block: "1002",
      },
    ]);
    // what is on its way cannot be given back as well
    await expect(postOne(templates.payoutReleased(payout))).rejects.toThrow();
    await books.db.tx((tx) => resolvePending(tx, "post", [sent.eventKey]));
    const after = await balances(books);
    expect(after[reserved]).toEqual([0n, 0n]);
    expect(after["asset:treasury:base"]).toEqual([before[0] - 25_000_000n, before[1]]);
  });

  it("go back whole when they were not sent, once", async () => {
    const other = { ...payout, payoutId: "po_two", amount: 5_000_000n };
    await postOne(templates.payoutCreated(other));
    expect(await postOne(templates.payoutReleased(other))).toEqual(["created"]);
    expect(await postOne(templates.payoutReleased(other))).toEqual(["exists"]);
    expect((await rowsOf("payout:po_two:released"))[0]).toMatchObject({
      code: "payout-released",
      phase: "single",
      debit: reserved,
      credit: available,
      amount: "5000000",
    });
    const after = await balances(books);
    expect([after[available], after[reserved]]).toEqual([
      [5_000_000n, 0n],
      [0n, 0n],
    ]);
  });
});

describe("treasuryOpened", () => {
  it("books what a treasury held before us as funding, at once, one time per asset", async () => {
    const opened = { asset: "EURC@base", amount: 7_000_000n, blockNumber: 900 };
    expect(await postOne(templates.treasuryOpened(opened))).toEqual(["created"]);
    expect(await postOne(templates.treasuryOpened(opened))).toEqual(["exists"]);
    expect(await rowsOf("treasury-opening:EURC@base")).toEqual([
      {
        code: "treasury-opened",
        event: "treasury-opening:EURC@base",
        leg: "opening",
        phase: "single",
        debit: "asset:treasury:base",
        credit: "equity:funding",
        amount: "7000000",
        asset: "EURC@base",
        subject: null,
        block: "900",
      },
    ]);
  });
});

describe("balanceAt", () => {
  it("is what an account held as of a block: what came or went later does not count, what was voided never did", async () => {
    const asset = "USDG@base";
    const paid = (name: string, gross: bigint, blockNumber: number) =>
      payment(name, { asset, gross, fee: 0n, blockNumber });
    const events = [paid("at-5", 100n, 5), paid("at-6", 30n, 6), paid("at-7", 4n, 7)];
    await books.db.tx((tx) => post(tx, events.map(templates.x402Credited)));
    const heldAt = (number: number) => balanceAt(books.db.pool, account.treasury(asset), number);
    const all = () => Promise.all([4, 5, 6, 7, 8].map(heldAt));
    expect(await all()).toEqual([0n, 100n, 130n, 134n, 134n]);
    const keys = events.map(templates.x402EventKey);
    await books.db.tx((tx) => resolvePending(tx, "post", keys.slice(0, 1)));
    await books.db.tx((tx) => resolvePending(tx, "void", keys.slice(1, 2)));
    expect(await all()).toEqual([0n, 100n, 100n, 104n, 104n]);
  });
});

describe("gasFunded and gasSpent: worked postings 12 and 2", () => {
  it("book a gas key's coin and what its transactions burn, at once and without a merchant", async () => {
    const lane = { chain: "base", signer: `0x${"ab".repeat(20)}`, asset: "ETH@base" };
    await postOne(templates.gasFunded({ ...lane, wei: 50_000_000_000_000_000n }));
    await postOne(templates.gasSpent({ ...lane, nonce: 7, wei: 2_100_000_000_000n, blockNumber: 1_001 }));
    const gas = (await transfers(books)).filter(({ asset }) => asset === "ETH@base");
    expect(gas).toEqual([
      {
        code: "gas-funded",
        event: `gas-funding:base:${lane.signer}`,
        leg: "funding",
        phase: "single",
        debit: "asset:gas:base",
        credit: "equity:funding",
        amount: "50000000000000000",
        asset: "ETH@base",
        subject: null,
        block: null,
      },
      {
        code: "gas-spent",
        event: `gas:base:${lane.signer}:7`,
        leg: "gas",
        phase: "single",
        debit: "expense:gas:base",
        credit: "asset:gas:base",
        amount: "2100000000000",
        asset: "ETH@base",
        subject: null,
        block: "1001",
      },
    ]);
  });

  it("post nothing for a key without coin", async () => {
    const entry = templates.gasFunded({ chain: "base", signer: "0xempty", asset: "ETH@base", wei: 0n });
    expect(entry.transfers).toEqual([]);
    expect(await postOne(entry)).toEqual(["exists"]);
  });
});

describe("ids", () => {
  it("follow from the event key and the leg alone", () => {
    const entry = templates.x402Credited(payment("ids"));
    const hash = (text: string) => `0x${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
    expect(entry.id).toBe(hash(`farebox/entry/v1\n${entry.eventKey}`));
    expect(entry.transfers.map(({ id }) => id)).toEqual([
      hash(`farebox/transfer/v1\n${entry.eventKey}\nnet`),
      hash(`farebox/transfer/v1\n${entry.eventKey}\nfee`),
    ]);
  });
});

describe("trialBalance", () => {
  it("shows what an asset holds, a liability owes, income earned, an expense cost and equity gave as positive", async () => {
    const rows = (await trialBalance(books.db.pool)).filter(({ asset }) => asset === "ETH@base");
    expect(rows).toEqual([
      {
        path: "asset:gas:base",
        type: "asset",
        asset: "ETH@base",
        posted: 49_997_900_000_000_000n,
        pending: 0n,
      },
      {
        path: "equity:funding",
        type: "equity",
        asset: "ETH@base",
        posted: 50_000_000_000_000_000n,
        pending: 0n,
      },
      {
        path: "expense:gas:base",
        type: "expense",
        asset: "ETH@base",
        posted: 2_100_000_000_000n,
        pending: 0n,
      },
    ]);
    const usd = await balances(books);
    for (const [posted, pending] of Object.values(usd)) {
      expect(posted).toBeGreaterThanOrEqual(0n);
      expect(pending).toBeGreaterThanOrEqual(0n);
    }
    expect(usd["income:fees"]).toEqual([25_050n, 50n]);
  });

  it("lists the accounts of one merchant for that merchant only", async () => {
    expect(await merchantBalances(books.db.pool, "mer_seven")).toEqual([
      {
        path: "liability:merchant:mer_seven:available",
        type: "liability",
        asset: usdc,
        posted: 4_975_000n,
        pending: 0n,
      },
    ]);
    expect(await merchantBalances(books.db.pool, "mer_nobody")).toEqual([]);
  });

  it("belongs to books that balance", async () => {
    expect(await differences(books)).toEqual({});
  });
});
