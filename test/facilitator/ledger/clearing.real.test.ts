/** The rows of a merchant payment: money that comes in by deposit or router, settles, or goes back. */
import { describe, expect, it } from "vitest";
import { sha256 } from "#kernel/codec";
import { type Deposit, type Entry, post, resolvePending, templates } from "#ledger";
import { sharedDatabase } from "../../support/db.ts";
import { balances, differences, transfers, usdc } from "./rows.ts";

const books = sharedDatabase();

const postOne = (entry: Entry) => books.db.tx((tx) => post(tx, [entry]));
const resolve = (how: "post" | "void", key: string) => books.db.tx((tx) => resolvePending(tx, how, [key]));

/** Rows of one event: code, phase, leg, `debit → credit`, amount, subject and height. */
async function rowsOf(event: string) {
  const rows = (await transfers(books)).filter((row) => row.event === event);
  return rows.map(({ code, phase, leg, debit, credit, amount, subject, block }) => [
    ...[code, phase, leg, `${debit} → ${credit}`],
    ...[amount, subject, block],
  ]);
}
/** What changed in the balances, posted and pending, while `work` ran. */
async function changes(work: () => Promise<unknown>) {
  const before = await balances(books);
  await work();
  const entries = Object.entries(await balances(books)).map(([path, [posted, pending]]) => {
    const [oldPosted, oldPending] = before[path] ?? [0n, 0n];
    return [path, [posted - oldPosted, pending - oldPending]] as const;
  });
  return Object.fromEntries(entries.filter(([, [posted, pending]]) => posted !== 0n || pending !== 0n));
}

function arrived(name: string, over: Partial<Deposit> = {}): Deposit {
  return {
    chain: "base",
    txHash: sha256(name),
    logIndex: 0,
    blockHash: sha256(`block of ${name}`),
    booking: 1,
    blockNumber: 1_000,
    path: "deposit-match",
    asset: usdc,
    clearingId: `clr_${name}`,
    toClearing: 49_990_000n,
    toOverpayment: 0n,
    toUnmatched: 0n,
    ...over,
  };
}
const [deposit, treasury] = ["asset:deposit:base", "asset:treasury:base"];
const [clearing, overpayment] = ["liability:clearing", "liability:overpayment"];
const [returns, unmatched, fees] = ["liability:returns-in-transit", "liability:unmatched", "income:fees"];
const available = "liability:merchant:mer_one:available";
const reserved = "liability:merchant:mer_one:reserved";

describe("depositReceived: worked postings 1, 5 and 7", () => {
  it("books what lies on a deposit address for its clearing, at once", async () => {
    const one = arrived("one");
    const changed = await changes(() => postOne(templates.depositReceived(one)));
    const event = `deposit:base:${one.txHash}:0:${one.blockHash}`;
    expect(await rowsOf(event)).toEqual([
      [
        ...["deposit-received", "single", "clearing", `${deposit} → ${clearing}`],
        ...["49990000", "clr_one", "1000"],
      ],
    ]);
    expect(changed).toEqual({ [deposit]: [49_990_000n, 0n], [clearing]: [49_990_000n, 0n] });
    expect(await postOne(templates.depositReceived(one))).toEqual(["exists"]);
  });

  it("books a router's payment as money in the treasury", async () => {
    const changed = await changes(() =>
      postOne(templates.depositReceived(arrived("routed", { path: "on-chain-contract" }))),
    );
    expect(changed).toEqual({ [treasury]: [49_990_000n, 0n], [clearing]: [49_990_000n, 0n] });
  });

  it("splits what is too much from what was asked, and books what fits nothing as unmatched", async () => {
    const five = arrived("five", { logIndex: 1, toClearing: 100_000_000n, toOverpayment: 20_000_000n });
    await postOne(templates.depositReceived(five));
    expect((await rowsOf(templates.depositEventKey(five))).map((row) => row.slice(2, 5))).toEqual([
      ["clearing", `${deposit} → ${clearing}`, "100000000"],
      ["overpayment", `${deposit} → ${overpayment}`, "20000000"],
    ]);
    const seven = arrived("seven", { toClearing: 0n, toUnmatched: 5_000_000n });
    const changed = await changes(() => postOne(templates.depositReceived(seven)));
    expect(changed).toEqual({ [deposit]: [5_000_000n, 0n], [unmatched]: [5_000_000n, 0n] });
    const { clearingId } = seven;
    const matched = templates.unmatchedMatched({ ...seven, clearingId, amount: 5_000_000n });
    expect(await changes(() => postOne(matched))).toEqual({
      [unmatched]: [-5_000_000n, 0n],
      [clearing]: [5_000_000n, 0n],
    });
    expect(await rowsOf(`${templates.depositEventKey(seven)}:matched`)).toEqual([
      [
        ...["unmatched-matched", "single", "matched", `${unmatched} → ${clearing}`],
        ...["5000000", "clr_seven", null],
      ],
    ]);
  });
});

describe("depositReversed", () => {
  const gone = arrived("gone", { toClearing: 7_000_000n, toOverpayment: 2n, toUnmatched: 1n });

  it("mirrors every row at the same height, once", async () => {
    await postOne(templates.depositReceived(gone));
    const changed = await changes(() => postOne(templates.depositReversed(gone)));
    expect(changed).toEqual({
      [deposit]: [-7_000_003n, 0n],
      [clearing]: [-7_000_000n, 0n],
      [overpayment]: [-2n, 0n],
      [unmatched]: [-1n, 0n],
    });
    const about = ["clr_gone", "1000"];
    expect(await rowsOf(`${templates.depositEventKey(gone)}:reversal`)).toEqual([
      ["deposit-reversed", "single", "clearing", `${clearing} → ${deposit}`, "7000000", ...about],
      ["deposit-reversed", "single", "overpayment", `${overpayment} → ${deposit}`, "2", ...about],
      ["deposit-reversed", "single", "unmatched", `${unmatched} → ${deposit}`, "1", ...about],
    ]);
    expect(await postOne(templates.depositReversed(gone))).toEqual(["exists"]);
  });

  it("leaves room for the same block to come back, and for another one", async () => {
    const back = { ...gone, booking: 2 };
    const changed = await changes(() => postOne(templates.depositReceived(back)));
    expect(changed[deposit]).toEqual([7_000_003n, 0n]);
    expect(templates.depositEventKey(back)).toBe(`${templates.depositEventKey(gone)}:2`);
    const elsewhere = { ...gone, blockHash: sha256("another block") };
    expect(templates.depositReceived(elsewhere).id).not.toBe(templates.depositReceived(gone).id);
  });

  it("cannot take what its clearing has spent", async () => {
    const spent = arrived("spent", { asset: "EURC@base", toClearing: 10n });
    await postOne(templates.depositReceived(spent));
    const settled = { clearingId: "clr_spent", attempt: 1, merchantId: "mer_spent", blockNumber: 1_000 };
    await postOne(templates.clearingSettled({ ...settled, asset: "EURC@base", gross: 10n, fee: 0n }));
    await expect(postOne(templates.depositReversed(spent))).rejects.toThrow();
  });
});

describe("clearingSettled: worked postings 3 and 14", () => {
  const settled = {
    clearingId: "clr_one",
    attempt: 1,
    merchantId: "mer_one",
    asset: usdc,
    gross: 49_990_000n,
    fee: 249_950n,
    blockNumber: 1_003,
  };

  it("moves gross less fee to the merchant and the fee to us, pending, then posted", async () => {
    const first = await changes(() => postOne(templates.clearingSettled(settled)));
    expect(first).toEqual({
      [clearing]: [0n, -49_990_000n],
      [available]: [0n, 49_740_050n],
      [fees]: [0n, 249_950n],
    });
    const key = templates.settleEventKey(settled);
    expect(key).toBe("settle:clr_one:1");
    expect(await rowsOf(key)).toEqual([
      ["clearing-settled", "pending", "net", `${clearing} → ${available}`, "49740050", "clr_one", "1003"],
      ["clearing-settled", "pending", "fee", `${clearing} → ${fees}`, "249950", "clr_one", "1003"],
    ]);
    expect(await changes(() => resolve("post", key))).toEqual({
      [clearing]: [-49_990_000n, 49_990_000n],
      [available]: [49_740_050n, -49_740_050n],
      [fees]: [249_950n, -249_950n],
    });
  });

  it("is void where its deposit left the chain, and has rows of its own at the next attempt", async () => {
    const [again, then] = [2, 3].map((attempt) => ({ ...settled, attempt, gross: 100n, fee: 1n }));
    if (!again || !then) throw new Error("two attempts");
    await postOne(templates.clearingSettled(again));
    await resolve("void", templates.settleEventKey(again));
    expect(await postOne(templates.clearingSettled(then))).toEqual(["created"]);
    await resolve("void", templates.settleEventKey(then));
  });

  it("repays what the merchant owed before it earns", async () => {
    const fourteen = { ...settled, attempt: 14, gross: 100_000_000n, fee: 500_000n, repaid: 39_740_050n };
    const changed = await changes(() => postOne(templates.clearingSettled(fourteen)));
    expect(changed).toEqual({
      [clearing]: [0n, -100_000_000n],
      [available]: [0n, 59_759_950n],
      [fees]: [0n, 500_000n],
      "asset:receivable:merchant:mer_one": [0n, -39_740_050n],
    });
    await resolve("void", templates.settleEventKey(fourteen));
  });

  it("is refused beyond what payers sent", async () => {
    const tooMuch = { ...settled, attempt: 99, gross: 10n ** 15n };
    await expect(postOne(templates.clearingSettled(tooMuch))).rejects.toThrow();
  });
});

describe("sweepMoved: worked posting 2", () => {
  it("moves money from the deposit addresses into the treasury, pending, then posted", async () => {
    const swept = { eventKey: "sweep:claim:0", subject: "ord_one", asset: usdc, amount: 49_990_000n };
    await changes(() => postOne(templates.sweepMoved({ ...swept, blockNumber: 1_005 })));
    expect(await rowsOf("sweep:claim:0")).toEqual([
      ["sweep-moved", "pending", "sweep", `${treasury} → ${deposit}`, "49990000", "ord_one", "1005"],
    ]);
    expect(await changes(() => resolve("post", "sweep:claim:0"))).toEqual({
      [treasury]: [49_990_000n, -49_990_000n],
      [deposit]: [-49_990_000n, 49_990_000n],
    });
  });
});

describe("refunds: worked posting 9, 20 with our fee's share", () => {
  const refund = {
    refundId: "re_one",
    merchantId: "mer_one",
    asset: usdc,
    net: 19_900_000n,
    feeShare: 100_000n,
  };

  it("lock the merchant's part and ours when asked for", async () => {
    expect(await changes(() => postOne(templates.refundCreated(refund)))).toEqual({
      [available]: [-19_900_000n, 0n],
      [fees]: [-100_000n, 0n],
      [reserved]: [20_000_000n, 0n],
    });
    expect(await rowsOf("refund:re_one:created")).toEqual([
      ["refund-created", "single", "net", `${available} → ${reserved}`, "19900000", "re_one", null],
      ["refund-created", "single", "fee", `${fees} → ${reserved}`, "100000", "re_one", null],
    ]);
  });

  it("go back to where they came from when they were not sent, once", async () => {
    expect(await changes(() => postOne(templates.refundReleased(refund)))).toEqual({
      [available]: [19_900_000n, 0n],
      [fees]: [100_000n, 0n],
      [reserved]: [-20_000_000n, 0n],
    });
    expect(await rowsOf("refund:re_one:released")).toEqual([
      ["refund-released", "single", "net", `${reserved} → ${available}`, "19900000", "re_one", null],
      ["refund-released", "single", "fee", `${reserved} → ${fees}`, "100000", "re_one", null],
    ]);
    expect(await postOne(templates.refundReleased(refund))).toEqual(["exists"]);
  });

  it("are refused without the money", async () => {
    const tooMuch = { ...refund, refundId: "re_two", net: 10n ** 12n };
    await expect(postOne(templates.refundCreated(tooMuch))).rejects.toThrow();
  });
});

describe("returns: worked postings 6 and 13", () => {
  const excess = { returnId: "ret_one", subject: "clr_five", asset: usdc, amount: 20_000_000n } as const;
  const sent = { ...excess, eventKey: "return:claim:0", blockNumber: 1_009 };

  it("take the excess out of what is owed when decided, and not twice", async () => {
    const decided = { ...excess, from: "overpayment" as const };
    expect(await changes(() => postOne(templates.returnDecided(decided)))).toEqual({
      [overpayment]: [-20_000_000n, 0n],
      [returns]: [20_000_000n, 0n],
    });
    expect(await rowsOf("return:ret_one:decided")).toEqual([
      ["return-decided", "single", "out", `${overpayment} → ${returns}`, "20000000", "clr_five", null],
    ]);
    const twice = { ...decided, returnId: "ret_two" };
    await expect(postOne(templates.returnDecided(twice))).rejects.toThrow();
  });

  it("leave the treasury when the chain moved them, pending until that is final", async () => {
    expect(await changes(() => postOne(templates.returnSent(sent)))).toEqual({
      [returns]: [0n, -20_000_000n],
      [treasury]: [0n, -20_000_000n],
    });
    expect(await rowsOf("return:claim:0")).toEqual([
      ["return-sent", "pending", "out", `${returns} → ${treasury}`, "20000000", "clr_five", "1009"],
    ]);
    // what is on its way cannot be given back as well
    await expect(postOne(templates.returnReleased({ ...excess, from: "overpayment" }))).rejects.toThrow();
    await resolve("post", "return:claim:0");
  });

  it.each([
    ["clearing", clearing],
    ["unmatched", unmatched],
  ] as const)("go back to %s when they were not sent", async (from, path) => {
    const due = { returnId: `ret_${from}`, subject: "clr_gone", asset: usdc, amount: 1n, from };
    expect(await changes(() => postOne(templates.returnDecided(due)))).toEqual({
      [path]: [-1n, 0n],
      [returns]: [1n, 0n],
    });
    expect(await changes(() => postOne(templates.returnReleased(due)))).toEqual({
      [path]: [1n, 0n],
      [returns]: [-1n, 0n],
    });
    expect(await rowsOf(`return:ret_${from}:released`)).toEqual([
      ["return-released", "single", "back", `${returns} → ${path}`, "1", "clr_gone", null],
    ]);
  });
});

it("all of it leaves books that balance", async () => {
  expect(await differences(books)).toEqual({});
});
