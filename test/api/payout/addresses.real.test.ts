/** Whom a payout may go to, on two chains with two tokens, and how it is shown; nothing leaves here. */
import { describe, expect, it } from "vitest";
import type { Facilitator, OutgoingStatus } from "#facilitator";
import { checksum, hash } from "#kernel/bytes";
import { post, resolvePending, templates } from "#ledger";
import { newKey } from "../../support/authorization.ts";
import { sharedDatabase } from "../../support/db.ts";
import { factsOf } from "../../support/records.ts";
import { caller, newCaller } from "../caller.ts";
import { fakeFacilitator, newId, now, rail, txHash, world } from "../world.ts";

const database = sharedDatabase();

const euros = checksum(newKey().address);
const rails = [
  rail,
  { ...rail, asset: "EURC", contract: euros },
  { ...rail, chain: "polygon", network: "eip155:137" },
] as const;

type Order = Parameters<Facilitator["outgoing"]["queue"]>[1];

/** A merchant of a service in production, whose clock stands still until it is moved. */
async function house() {
  const orders: Order[] = [];
  const statuses: OutgoingStatus[] = [];
  let at = now;
  const facilitator = fakeFacilitator({
    rails: () => rails,
    outgoing: {
      queue: async (_tx, order) => void orders.push(order),
      isOurs: async () => false,
      cancel: async () => false,
      status: async (ids) => statuses.filter(({ id }) => ids.includes(id)),
    },
  });
  const { app } = world({
    db: database.db,
    facilitator,
    time: { now: () => at, monotonicMs: () => at.getTime(), sleep: async () => {} },
  });
  const owner = await newCaller(database.db);
  const call = caller(app, owner);
  const add = async (chain: string, address = checksum(newKey().address)) =>
    (await call("POST", "/v1/payout-addresses", { body: { chain, address } })).body;
  let count = 0;
  const pay = (destination: string, over: Record<string, unknown> = {}) =>
    call("POST", "/v1/payouts", {
      body: { amount: { amount: "1", asset: "USDC" }, chain: "base", destination, ...over },
      headers: { "idempotency-key": `p-${++count}` },
    });
  const wait = (hours: number) => {
    at = new Date(at.getTime() + hours * 3_600_000);
  };
  return { owner, call, add, pay, wait, orders, statuses };
}

describe("the address book", () => {
  it("keeps an address with its label, as plain text; added again it comes back as it is", async () => {
    const { call, add, owner } = await house();
    const path = "/v1/payout-addresses";
    const address = checksum(newKey().address);
    const named = (label: string) => call("POST", path, { body: { chain: "base", address, label } });
    const made = await named(" Cold\u200b\nwallet ");
    expect(made).toMatchObject({ status: 201, body: { chain: "base", address, label: "Cold wallet" } });
    expect((await named("Another")).body).toEqual(made.body);
    expect((await call("GET", path)).body).toEqual([made.body]);
    expect((await add("base")).label).toBe("");
    // the merchant is told of each once
    const told = await database.query(
      "SELECT FROM outbox WHERE merchant_id = $1 AND type = 'payout_address.added'",
      [owner.merchantId],
    );
    expect(told).toHaveLength(2);
  });
});

describe("a payout's destination", () => {
  it("409 payout_address_cooling for the day after it was added, be it named by address or by id; its merchant was told", async () => {
    const { add, pay, wait, orders } = await house();
    const { id, address, usableFrom } = await add("base");
    expect(Date.parse(usableFrom) - now.getTime()).toBe(24 * 3_600_000);
    expect(await factsOf(database, id)).toEqual(["payout_address.added"]);
    wait(23.99);
    for (const named of [id, address])
      expect(await pay(named)).toMatchObject({
        status: 409,
        body: { code: "payout_address_cooling", errors: [{ pointer: "/destination" }] },
      });
    expect(orders).toEqual([]);
    wait(0.01);
    for (const named of [id, address]) {
      const made = await pay(named);
      expect(made).toMatchObject({ status: 201, body: { destination: address } });
      expect(await factsOf(database, made.body.id)).toEqual(["payout.created"]);
    }
    expect(orders.map(({ recipient }) => checksum(recipient))).toEqual([address, address]);
  });

  it("422 payout_address_unknown on another chain than it is in the book for, and once it is removed", async () => {
    const { call, add, pay, wait, orders } = await house();
    const elsewhere = await add("polygon");
    const removed = await add("base");
    wait(24);
    const remove = () => call("DELETE", `/v1/payout-addresses/${removed.id}`);
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 404]);
    for (const named of [elsewhere.id, elsewhere.address, removed.id, removed.address])
      expect(await pay(named)).toMatchObject({ status: 422, body: { code: "payout_address_unknown" } });
    expect(orders).toEqual([]);
    // Who adds it again waits again.
    const again = await add("base", removed.address);
    expect(again.id).not.toBe(removed.id);
    expect(await pay(again.id)).toMatchObject({ status: 409, body: { code: "payout_address_cooling" } });
  });
});

describe("a payout", () => {
  it("is paid in the token that it names; 400 for nothing, and for a token that its chain has not 422", async () => {
    const { add, pay, wait, orders } = await house();
    const { id } = await add("base");
    wait(24);
    expect(await pay(id, { amount: { amount: "2", asset: "EURC" } })).toMatchObject({ status: 201 });
    expect(orders.map(({ token, amount }) => [checksum(token), amount])).toEqual([[euros, 2_000_000n]]);
    expect(await pay(id, { amount: { amount: "0", asset: "USDC" } })).toMatchObject({
      status: 400,
      body: { code: "validation_failed", errors: [{ pointer: "/amount/amount" }] },
    });
    expect(await pay(id, { amount: { amount: "2", asset: "EURC" }, chain: "polygon" })).toMatchObject({
      status: 422,
      body: { code: "rail_unsupported" },
    });
    expect(orders).toHaveLength(1);
  });

  it("is listed newest first, page by page, and says why it failed", async () => {
    const { call, add, pay, wait, statuses } = await house();
    const { id } = await add("base");
    wait(24);
    const made = [await pay(id), await pay(id), await pay(id)].map(({ body }) => body.id as string);
    const listed: string[] = [];
    for (let cursor = "", pages = 0; pages < 5; pages += 1) {
      const page = await call("GET", `/v1/payouts?limit=2${cursor}`);
      listed.push(...page.body.map((each: { id: string }) => each.id));
      const next = page.headers.get("next-cursor");
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    expect(listed).toEqual(made.toSorted().toReversed());
    const [first = "", second = ""] = made;
    statuses.push({ id: first, state: "failed", transaction: null, failure: "its payee is blocked" });
    expect((await call("GET", `/v1/payouts/${first}`)).body).toMatchObject({
      state: "failed",
      failureReason: "its payee is blocked",
    });
    // what is tried again has not failed
    statuses.push({ id: second, state: "sending", transaction: null, failure: "its payee is blocked" });
    expect((await call("GET", `/v1/payouts/${second}`)).body).toMatchObject({
      state: "processing",
      failureReason: null,
    });
  });
});

describe("GET /v1/balances", () => {
  it("tells each token on each chain apart: what can be spent, is coming, and is on its way out", async () => {
    const { owner, call } = await house();
    const { merchantId } = owner;
    const credited = (asset: string, gross: bigint, digit: string) =>
      templates.x402Credited({
        ...{ claimKey: hash(`0x${digit.repeat(64)}`), epoch: 0, settlementId: newId("stl") },
        ...{ merchantId, asset, gross, fee: 0n, blockNumber: 1 },
      });
    const [dollars, coins, coming] = [
      credited("USDC@base", 10_000_000n, "1"),
      credited("EURC@base", 3_000_000n, "2"),
      credited("USDC@polygon", 4_000_000n, "3"),
    ];
    const payout = { payoutId: newId("po"), merchantId, asset: "USDC@base", amount: 6_000_000n };
    await database.db.tx(async (tx) => {
      await post(tx, [dollars, coins, coming]);
      await resolvePending(tx, "post", [dollars.eventKey, coins.eventKey]);
      await post(tx, [templates.payoutCreated(payout)]);
      // Part of it lies in a block that is not final yet.
      const sent = { eventKey: txHash, subject: payout.payoutId, ...payout, amount: 2_000_000n };
      await post(tx, [templates.reservedSent({ ...sent, blockNumber: 2 })]);
    });
    const { body } = await call("GET", "/v1/balances");
    type Shown = Record<"available" | "pending" | "reserved", { amount: string }> & { chain: string };
    const shown = (body as (Shown & { asset: string })[]).map(({ asset, chain, ...money }) => [
      `${asset}@${chain}`,
      money.available.amount,
      money.pending.amount,
      money.reserved.amount,
    ]);
    expect(shown.sort()).toEqual([
      ["EURC@base", "3.000000", "0.000000", "0.000000"],
      ["USDC@base", "4.000000", "0.000000", "4.000000"],
      ["USDC@polygon", "0.000000", "4.000000", "0.000000"],
    ]);
  });
});
