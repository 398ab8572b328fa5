/** Refunds are brought to where their money is, turn by turn; the lanes answer here as a test says. */
import { eq } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { OutgoingStatus } from "#facilitator";
import { checksum, type Hash } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { post, resolvePending, templates } from "#ledger";
import { clearing } from "../../../api/clearing/tables.ts";
import { paymentIntent } from "../../../api/payment-intent/tables.ts";
import { newKey } from "../../support/authorization.ts";
import { sharedDatabase } from "../../support/db.ts";
import { type Caller, caller, newCaller } from "../caller.ts";
import { fakeFacilitator, newId, now, world } from "../world.ts";

const database = sharedDatabase();
const asset = "USDC@base";

let at = now;
const forward = (ms: number) => {
  at = new Date(at.getTime() + ms);
};
const LATER_MS = 30_000;

/** What was queued, in that order; what cannot be; and where each order stands. */
let queued: string[] = [];
const refused = new Set<string>();
const statuses = new Map<string, OutgoingStatus>();
/** Comes between the answer of the lanes and what is made of it. */
let meanwhile: (() => Promise<void>) | null = null;
const facilitator = fakeFacilitator({
  outgoing: {
    queue: async (_tx, { id }) => {
      if (refused.has(id)) throw new Error("it cannot be queued");
      queued.push(id);
    },
    isOurs: async () => false,
    cancel: async () => false,
    status: async (ids) => {
      const answer = ids.flatMap((id) => statuses.get(id) ?? []);
      const work = meanwhile;
      meanwhile = null;
      await work?.();
      return answer;
    },
  },
});
const time = { now: () => at, monotonicMs: () => at.getTime(), sleep: async () => {} };
let api: ReturnType<typeof world>;
beforeAll(() => {
  api = world({ db: database.db, facilitator, time });
});
beforeEach(() => {
  queued = [];
});

async function turn(): Promise<void> {
  const loop = api.loops.find(({ name }) => name === "refunds");
  if (!loop) throw new Error("nothing follows refunds");
  await loop.turn();
}

/** The lanes have moved it: they tell that, and answer with it when they are asked. */
async function move(id: string, state: OutgoingStatus["state"], transaction: Hash | null = null) {
  statuses.set(id, { id, state, transaction, failure: null });
  const { merchantId } = (await read(id)) ?? { merchantId: "" };
  const fact = {
    id: newId("evt"),
    type: "outgoing.moved",
    subject: id,
    merchantId,
    payload: {},
    sequence: 1,
  };
  await database.db.tx(async (tx) => {
    for (const hear of api.hearers) await hear(tx, [fact]);
  });
}

/** 10 dollars by deposit, of which the block is not final yet as far as the payment knows, and a refund of 4 of them. */
async function promised(): Promise<string> {
  const owner = await newCaller(database.db);
  const key = { "idempotency-key": newId("key") };
  const call = caller(api.app, owner);
  const { body: intent } = await call("POST", "/v1/payment-intents", {
    headers: key,
    body: { amount: { amount: "10.00", asset: "USD" } },
  });
  await credit(owner, intent.id);
  const made = await call("POST", `/v1/payments/${intent.id}/refunds`, {
    headers: key,
    body: { amount: { amount: "4", asset: "USD" }, destination: checksum(newKey().address) },
  });
  expect(made).toMatchObject({ status: 201, body: { state: "pending" } });
  return made.body.id;
}

async function credit({ merchantId }: Caller, intentId: `pi_${string}`): Promise<void> {
  const [clearingId, gross] = [newId("clr"), 10_000_000n];
  const place = { chain: "base", txHash: sha256(intentId), ordinal: 0, logIndex: 0, blockHash: sha256("b") };
  const parts = { toClearing: gross, toOverpayment: 0n, toUnmatched: 0n };
  const settled = { clearingId, attempt: 1, merchantId, asset, gross, fee: 0n, blockNumber: 1 };
  await database.db.tx(async (tx) => {
    await tx.insert(clearing).values({
      ...{ merchantId, id: clearingId, intentId, state: "settled", provider: "evm" },
      ...{ providerReference: "ord_1", executionPath: "deposit-match", chain: "base", asset: "USDC" },
      ...{ sourceAmount: gross, settlementAmount: gross, fee: 0n, feeBps: 0, toleranceBps: 0 },
      ...{ rateFrom: "USD", rateTo: "USDC", scaledRate: 10n ** 18n, rateSource: "parity", rateLockedAt: at },
      ...{ expiresAt: at, isFinal: false, sequence: 1, createdAt: at, updatedAt: at },
    });
    const cleared = { clearingId, clearingState: "settled", executionPath: "deposit-match" } as const;
    await tx
      .update(paymentIntent)
      .set({ ...cleared, status: "completed", completedAt: at })
      .where(eq(paymentIntent.id, intentId));
    const deposit = { ...place, ...parts, asset, clearingId, booking: 1, blockNumber: 1 };
    await post(tx, [
      templates.depositReceived({ ...deposit, path: "on-chain-contract" }),
      templates.clearingSettled(settled),
    ]);
    await resolvePending(tx, "post", [templates.settleEventKey(settled)]);
  });
}

async function becomeFinal(...refunds: readonly string[]): Promise<void> {
  await database.query(
    "UPDATE clearing SET is_final = true WHERE id IN (SELECT clearing_id FROM refund WHERE id = ANY($1))",
    [refunds],
  );
}

interface Seen {
  readonly merchantId: string;
  readonly state: string;
  readonly reference: string | null;
  readonly failure: string | null;
  readonly updatedAt: Date;
}
async function read(id: string): Promise<Seen | undefined> {
  const [row] = await database.query<Seen>(
    `SELECT merchant_id AS "merchantId", state, provider_reference AS reference, failure_reason AS failure,
       updated_at AS "updatedAt" FROM refund WHERE id = $1`,
    [id],
  );
  return row;
}

async function sent(): Promise<string> {
  const id = await promised();
  await becomeFinal(id);
  await turn();
  expect(queued).toEqual([id]);
  return id;
}

describe("a refund that cannot go on", () => {
  it("holds up no other one, and is looked at again later", async () => {
    const [stuck, other] = [await promised(), await promised()];
    await becomeFinal(stuck, other);
    refused.add(stuck);
    await turn();
    expect(queued).toEqual([other]);
    expect(api.log.lines.join()).toContain("it cannot be queued");
    refused.delete(stuck);
    await turn();
    expect(queued).toEqual([other]);
    forward(LATER_MS);
    await turn();
    expect(queued).toEqual([other, stuck]);
  });
});

describe("where its money is", () => {
  it("is not lost where it is told between a look and what is made of that look", async () => {
    const id = await sent();
    forward(LATER_MS);
    statuses.set(id, { id, state: "queued", transaction: null, failure: null });
    meanwhile = async () => {
      forward(1);
      await move(id, "sending");
    };
    await turn();
    expect(await read(id)).toMatchObject({ state: "pending" });
    await turn();
    expect(await read(id)).toMatchObject({ state: "processing" });
  });

  it("is shown as the chain has it: by the transaction that pays it now, and by none while there is none", async () => {
    const id = await sent();
    const [first, second] = [sha256("first"), sha256("second")];
    await move(id, "sent", first);
    await turn();
    expect(await read(id)).toMatchObject({ state: "processing", reference: first });
    forward(1_000);
    // its block left the chain
    await move(id, "sending");
    await turn();
    expect(await read(id)).toMatchObject({ state: "processing", reference: null, updatedAt: at });
    forward(1_000);
    await move(id, "sending");
    await turn();
    expect((await read(id))?.updatedAt).not.toEqual(at);
    await move(id, "final", second);
    await turn();
    expect(await read(id)).toMatchObject({ state: "succeeded", reference: second });
    const told = await database.query(
      "SELECT type, payload->'previous'->>'state' AS previous FROM outbox WHERE subject = $1 ORDER BY sequence",
      [id],
    );
    expect(told).toEqual([
      { type: "refund.created", previous: null },
      { type: "refund.processing", previous: "pending" },
      { type: "refund.succeeded", previous: "processing" },
    ]);
  });

  it("of one that failed without a word says all the same what became of the money", async () => {
    const id = await sent();
    await move(id, "failed");
    await turn();
    const row = await read(id);
    expect(row).toMatchObject({ state: "failed", failure: expect.stringContaining("available again") });
  });

  it("of one that was taken back in the lanes is told as that", async () => {
    const id = await sent();
    await move(id, "cancelled");
    await turn();
    expect(await read(id)).toMatchObject({ state: "cancelled", failure: null });
  });
});
