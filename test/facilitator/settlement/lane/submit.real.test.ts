/** A batch that two processes work for: one of them sends it, the other drops what it signed. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { address, type Hash, hash } from "#kernel/bytes";
import { claimKey } from "../../../../facilitator/scheme/claim-key.ts";
import type { SentClaim } from "../../../../facilitator/settlement/claim/claim-parts.ts";
import { claim } from "../../../../facilitator/settlement/claim/tables.ts";
import type { Engine } from "../../../../facilitator/settlement/engine.ts";
import type { Lane } from "../../../../facilitator/settlement/lane/lane.ts";
import { submit } from "../../../../facilitator/settlement/lane/submit.ts";
import { attempt, signer, slot, slotItem } from "../../../../facilitator/settlement/lane/tables.ts";
import { freshDatabase, type TestDatabase } from "../../../support/db.ts";
import { silentLog } from "../../../support/dev-chain.ts";

const CHAIN = 31_337;
const KEYS = [address(`0x${"11".repeat(20)}`), address(`0x${"22".repeat(20)}`)] as const;
const bytes = (n: number) => hash(`0x${n.toString(16).padStart(64, "0")}`);

let database: TestDatabase;
let sent: Hash[];
beforeEach(async () => {
  database = await freshDatabase();
  sent = [];
  await database.db.pool
    .insert(signer)
    .values(KEYS.map((key) => ({ chainId: CHAIN, address: key, nextNonce: 5, fence: 2 })));
});
afterEach(() => database.drop());

function engine(): Engine {
  return {
    loopDb: database.db,
    clock: { now: () => new Date() },
    meter: { count: () => {}, time: () => {} },
    checkpoint: async () => {},
    log: silentLog,
  } as unknown as Engine;
}

/** A lane as a process holds it that took it under this fence; it signs the transaction `signed`. */
function lane(key: (typeof KEYS)[number], fence: number, signed: number): Lane {
  return {
    chain: { row: { slug: "local", chainId: CHAIN }, send: async () => sent.push(bytes(signed)) },
    signer: { address: key, sign: async () => ({ hash: bytes(signed), raw: "0x02" }) },
    fence,
    maySign: true,
  } as unknown as Lane;
}

async function waitingClaim(): Promise<SentClaim> {
  const parts = { chainId: CHAIN, nonceDomain: KEYS[0], payer: KEYS[0], nonce: bytes(1) };
  const [row] = await database.db.pool
    .insert(claim)
    .values({
      ...{ claimKey: claimKey(parts), ...parts, method: "eip3009", id: "stl_1", kind: "x402" },
      ...{ merchantId: "mer_1", payableId: "x402r_1", token: KEYS[0], payTo: KEYS[1], amount: 10n, fee: 0n },
      ...{ validAfter: 0n, validBefore: 2n ** 40n, signature: "0x00", payerHasCode: false },
      ...{ fingerprint: bytes(1), state: "claimed" },
    })
    .returning();
  return row as SentClaim;
}

const send = (by: Lane, nonce: number, claims: readonly SentClaim[]) =>
  submit(engine(), by, {
    ...{ nonce, claims, calls: [], gasLimit: 100_000n, atBlock: 1 },
    fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
  });

const rows = async () => ({
  slots: (await database.db.pool.select().from(slot)).map(({ id }) => id),
  items: (await database.db.pool.select().from(slotItem)).map(({ slotId }) => slotId),
  hashes: (await database.db.pool.select().from(attempt)).map(({ txHash }) => txHash),
  states: (await database.db.pool.select().from(claim)).map(({ state, version }) => [state, version]),
  nonces: (await database.db.pool.select().from(signer).orderBy(signer.address)).map((key) => key.nextNonce),
});

it("of a lane that another process took over meanwhile: nothing of it is written or sent", async () => {
  const paid = await waitingClaim();
  expect(await send(lane(KEYS[0], 1, 7), 5, [paid])).toBe(false);
  expect(sent).toEqual([]);
  const untouched = { slots: [], items: [], hashes: [], states: [["claimed", 1]], nonces: [5, 5] };
  expect(await rows()).toEqual(untouched);
});

it("that another process has sent in the same place: its transaction stands alone", async () => {
  const paid = await waitingClaim();
  expect(await send(lane(KEYS[0], 2, 7), 5, [paid])).toBe(true);
  const once = await rows();
  expect(once).toEqual({
    slots: [`${CHAIN}:${KEYS[0]}:5`],
    items: [`${CHAIN}:${KEYS[0]}:5`],
    hashes: [bytes(7)],
    states: [["submitting", 2]],
    nonces: [6, 5],
  });

  expect(await send(lane(KEYS[0], 1, 8), 5, [paid])).toBe(false);
  expect([await rows(), sent]).toEqual([once, [bytes(7)]]);
});

it("whose payment another lane has taken: the lane's nonce is not used up", async () => {
  const paid = await waitingClaim();
  await send(lane(KEYS[0], 2, 7), 5, [paid]);
  const once = await rows();

  expect(await send(lane(KEYS[1], 2, 8), 5, [paid])).toBe(false);
  expect([await rows(), sent]).toEqual([once, [bytes(7)]]);
});

it("names a slot and claims that are there, or nothing is written", async () => {
  const paid = await waitingClaim();
  await send(lane(KEYS[0], 2, 7), 5, [paid]);
  const once = await rows();
  const [slotId] = once.slots;
  const add = (of: string | undefined, ...keys: readonly Hash[]) =>
    database.query(
      "INSERT INTO slot_item (slot_id, claim_key, idx, open) SELECT $1, decode(key, 'hex'), place, false FROM unnest($2::text[]) WITH ORDINALITY AS _(key, place)",
      [of, keys.map((key) => key.slice(2))],
    );
  const refused = { code: "23503", constraint: "slot_item_references" };
  await expect(add("none", paid.claimKey)).rejects.toMatchObject(refused);
  await expect(add(slotId, paid.claimKey, bytes(9))).rejects.toMatchObject(refused);
  expect(await rows()).toEqual(once);
  await add(slotId, paid.claimKey);
  expect((await rows()).items).toEqual([slotId, slotId]);
});
