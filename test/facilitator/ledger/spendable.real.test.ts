/** What a merchant may spend, and what is still to come. */
import { describe, expect, it } from "vitest";
import { hasPosted, holdAvailable, pendingCredits, post, resolvePending, templates } from "#ledger";
import type { Tx } from "#store";
import { sharedDatabase } from "../../support/db.ts";
import { payment, usdc } from "./rows.ts";

const books = sharedDatabase();

const purse = (merchantId: string) => ({ merchantId, asset: usdc });
const held = (merchantId: string) => books.db.tx((tx) => holdAvailable(tx, purse(merchantId)));
const coming = (merchantId: string, ...subjects: string[]) =>
  pendingCredits(books.db.pool, { ...purse(merchantId), subjects });

async function credit(merchantId: string, name: string, over: { epoch?: number } = {}) {
  const made = payment(name, { merchantId, ...over });
  await books.db.tx((tx) => post(tx, [templates.x402Credited(made)]));
  const key = `x402:${made.claimKey}:${made.epoch}`;
  return (how: "post" | "void") => books.db.tx((tx) => resolvePending(tx, how, [key]));
}

describe("what may be spent", () => {
  it("is what is posted, less what is on its way out", async () => {
    expect(await held("mer_a")).toBe(0n);
    const end = await credit("mer_a", "a");
    expect(await held("mer_a")).toBe(0n);
    await end("post");
    expect(await held("mer_a")).toBe(9_950n);
    await books.db.tx((tx) =>
      post(tx, [templates.payoutCreated({ payoutId: "po_a", ...purse("mer_a"), amount: 950n })]),
    );
    expect(await held("mer_a")).toBe(9_000n);
    expect(await held("mer_b")).toBe(0n);
  });

  it("is held: who would book on the account waits for the end of the transaction, and then sees what was left", async () => {
    await (await credit("mer_c", "c"))("post");
    const order: string[] = [];
    let payout: Promise<void> | undefined;
    await books.db.tx(async (tx: Tx) => {
      await holdAvailable(tx, purse("mer_c"));
      payout = books.db.tx(async (other) => {
        await post(other, [templates.payoutCreated({ payoutId: "po_c", ...purse("mer_c"), amount: 1n })]);
        order.push("booked");
      });
      await waitingFor(1);
      order.push("let go");
    });
    await payout;
    expect(order).toEqual(["let go", "booked"]);
  });

  /** Resolves when so many sessions of this database wait for a lock. */
  async function waitingFor(count: number): Promise<void> {
    for (;;) {
      const [row] = await books.query<{ count: string }>(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      if (Number(row?.count) >= count) return;
    }
  }
});

describe("what is still to come", () => {
  it("is by subject what is pending on the merchant's account, until it is posted or void", async () => {
    const first = await credit("mer_d", "d1");
    const second = await credit("mer_d", "d2");
    expect(await coming("mer_d", "stl_d1", "stl_d2", "stl_d3")).toEqual(
      new Map([
        ["stl_d1", 9_950n],
        ["stl_d2", 9_950n],
      ]),
    );
    await first("post");
    await second("void");
    expect(await coming("mer_d", "stl_d1", "stl_d2")).toEqual(new Map());
    // mined again after a reorg
    await credit("mer_d", "d2", { epoch: 1 });
    expect(await coming("mer_d", "stl_d1", "stl_d2")).toEqual(new Map([["stl_d2", 9_950n]]));
    expect(await coming("mer_d")).toEqual(new Map());
  });

  it("is not another merchant's", async () => {
    await credit("mer_e", "e");
    expect(await coming("mer_f", "stl_e")).toEqual(new Map());
  });
});

describe("what is posted about a subject", () => {
  it("is nothing while it is pending, and after it was void; then something", async () => {
    const posted = () => hasPosted(books.db.pool, "stl_g");
    expect(await posted()).toBe(false);
    const first = await credit("mer_g", "g");
    expect(await posted()).toBe(false);
    await first("void");
    expect(await posted()).toBe(false);
    const second = await credit("mer_g", "g", { epoch: 1 });
    expect(await posted()).toBe(false);
    await second("post");
    expect(await posted()).toBe(true);
    // What is booked at once was never pending.
    const payout = { payoutId: "po_g", ...purse("mer_g"), amount: 1n };
    await books.db.tx((tx) => post(tx, [templates.payoutCreated(payout)]));
    expect(await hasPosted(books.db.pool, "po_g")).toBe(true);
  });
});
