/** Who goes in the next batch, on real rows: nobody's flood keeps the others out. */
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { address, hash } from "#kernel/bytes";
import { claimKey } from "../../../../facilitator/scheme/claim-key.ts";
import { claim } from "../../../../facilitator/settlement/claim/tables.ts";
import { defaultSettings, type Engine } from "../../../../facilitator/settlement/engine.ts";
import { nextClaims, queueOf, reserve } from "../../../../facilitator/settlement/lane/queue.ts";
import { sharedDatabase } from "../../../support/db.ts";

const CHAIN = 31337;
let engine: Engine;
let count = 0;

const database = sharedDatabase();
beforeAll(async () => {
  engine = { loopDb: database.db, settings: defaultSettings } as Engine;
});
beforeEach(() => database.query("UPDATE claim SET state = 'failed-watch'"));

const payerAt = (n: number) => address(`0x${n.toString(16).padStart(40, "0")}`);
const bytes = (n: number) => hash(`0x${n.toString(16).padStart(64, "0")}`);

/** Claims that wait, in the order in which they came. */
async function waiting(
  ...groups: readonly { merchant: string; payer: number; claims: number; kind?: "sweep" }[]
): Promise<void> {
  for (const { merchant, payer, claims, kind = "x402" } of groups)
    for (let i = 0; i < claims; i += 1) {
      count += 1;
      const parts = {
        chainId: CHAIN,
        nonceDomain: payerAt(1),
        payer: payerAt(payer),
        nonce: bytes(count),
      };
      await database.db.pool.insert(claim).values({
        ...{ claimKey: claimKey(parts), ...parts, method: "eip3009" },
        ...{ id: `stl_${count}`, kind, merchantId: merchant, payableId: "x402r_1" },
        ...{
          token: payerAt(1),
          payTo: payerAt(2),
          amount: 10n,
          fee: 0n,
          validAfter: 0n,
          validBefore: 2n ** 40n,
        },
        ...{ signature: "0x00", payerHasCode: false, fingerprint: bytes(count), state: "claimed" },
        createdAt: new Date(1_800_000_000_000 + count),
      });
    }
}

/** Items of a batch by payer. */
async function batch(limit: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { payer } of await reserve(engine, await nextClaims(engine, CHAIN, limit, "payments"))) {
    const n = Number(BigInt(payer));
    counts[n] = (counts[n] ?? 0) + 1;
  }
  return counts;
}

describe("a batch", () => {
  it("takes merchants in turn: one merchant's flood leaves room for the other's single payment", async () => {
    await waiting(
      { merchant: "mer_flood", payer: 11, claims: 30 },
      { merchant: "mer_quiet", payer: 12, claims: 1 },
    );
    expect(await batch(10)).toEqual({ 11: 9, 12: 1 });
  });

  it("takes a merchant's payers in turn: one payer's flood leaves room for the payers behind it", async () => {
    await waiting(
      { merchant: "mer_1", payer: 21, claims: 30 },
      { merchant: "mer_1", payer: 22, claims: 1 },
      { merchant: "mer_1", payer: 23, claims: 2 },
    );
    expect(await batch(10)).toEqual({ 21: 7, 22: 1, 23: 2 });
  });

  it("takes the oldest first where nobody floods, and is full while anything waits", async () => {
    await waiting({ merchant: "mer_1", payer: 31, claims: 5 });
    expect(await batch(3)).toEqual({ 31: 3 });
    expect(await batch(10)).toEqual({ 31: 2 });
    expect(await batch(10)).toEqual({});
  });

  it("takes four at most of a payer who has failed within the hour, across merchants, and of others what fits", async () => {
    await waiting(
      { merchant: "mer_1", payer: 41, claims: 6 },
      { merchant: "mer_2", payer: 41, claims: 6 },
      { merchant: "mer_1", payer: 42, claims: 6 },
    );
    const failed = (since: string) =>
      database.query(
        `INSERT INTO payer_gas (payer, chain_id, since, wei, wasted_wei, failures, has_paid)
         VALUES (decode($1, 'hex'), $2, now() - $3::interval, 1, 1, 1, true)
         ON CONFLICT (payer, chain_id) DO UPDATE SET since = excluded.since`,
        [payerAt(41).slice(2), CHAIN, since],
      );
    await failed("1 minute");
    expect(await batch(100)).toEqual({ 41: 4, 42: 6 });
    // its others wait for the next batches; when the hour is over they go all together
    await failed("2 hours");
    expect(await batch(100)).toEqual({ 41: 8 });
  });
});

describe("a reservation", () => {
  it("is one process's: who found the same claims gets those that were left", async () => {
    await waiting({ merchant: "mer_1", payer: 61, claims: 3 });
    const [first, second] = [
      await nextClaims(engine, CHAIN, 2, "payments"),
      await nextClaims(engine, CHAIN, 3, "payments"),
    ];
    expect(second.map(({ claimKey }) => claimKey)).toEqual(
      expect.arrayContaining(first.map(({ claimKey }) => claimKey)),
    );
    expect(await reserve(engine, first)).toEqual(first);
    expect(await reserve(engine, second)).toEqual(second.slice(2));
    expect(await nextClaims(engine, CHAIN, 3, "payments")).toEqual([]);
  });
});

describe("what waits", () => {
  it("is counted no further than a backlog goes, payments and sweeps apart, the oldest of each", async () => {
    await waiting(
      { merchant: "mer_1", payer: 51, claims: 30, kind: "sweep" },
      { merchant: "mer_1", payer: 52, claims: 30 },
    );
    // A backlog is more than four batches of five.
    const queue = await queueOf(engine, { chainId: CHAIN, batchLimit: 5 });
    expect(queue).toMatchObject({ length: 21, sweeps: 21, hasOrders: false });
    expect(queue.oldestSweepMs - queue.oldestMs).toBeCloseTo(30, 0);
  });
});
