/** What the rows themselves allow and forbid, whoever writes them. */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { defaultSettings, type Engine } from "#facilitator";
import { address, fromBytes, type Hash } from "#kernel/bytes";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import { claimKey } from "../../../facilitator/scheme/claim-key.ts";
import { findClaims, moveClaims, type NewClaim } from "../../../facilitator/settlement/claim/claim.ts";
import { transactionReader } from "../../../facilitator/settlement/claim/newest-transaction.ts";
import { type ClaimState, claimStates, transitions } from "../../../facilitator/settlement/claim/state.ts";
import { claim } from "../../../facilitator/settlement/claim/tables.ts";
import { type Lane, takeNonce } from "../../../facilitator/settlement/lane/lane.ts";
import { attempt, signer, slot, slotItem } from "../../../facilitator/settlement/lane/tables.ts";
import { chainTransfer } from "../../../facilitator/settlement/observer/tables.ts";
import { granter, releaseGrant } from "../../../facilitator/settlement/settle/grant.ts";
import { answerReader } from "../../../facilitator/settlement/settle/places.ts";
import { settleAnswer } from "../../../facilitator/settlement/settle/tables.ts";
import type { SettleAnswer } from "../../../facilitator/settlement/verify/request.ts";
import { sqlState } from "../../../facilitator/store/sql-error.ts";
import { sharedDatabase } from "../../support/db.ts";
import { silentLog } from "../../support/dev-chain.ts";

const newId = idMaker({ clock: systemClock, random: systemRandom });
const word = () => fromBytes(randomBytes(32)) as Hash;
const account = () => address(fromBytes(randomBytes(20)));
const chainId = 31_337;

const database = sharedDatabase();

function engine(): Engine {
  return {
    db: database.db,
    lookupDb: database.db,
    searchDb: database.db,
    loopDb: database.db,
    chains: new Map(),
    clock: systemClock,
    newId,
    log: silentLog,
    meter: { count: () => undefined, time: () => undefined },
    checkpoint: async () => undefined,
    holder: newId("req"),
    settings: defaultSettings,
  };
}

/** The columns of a place in a block go with the states that have one. */
function placeOf(state: ClaimState): Partial<NewClaim> {
  return state === "included" || state === "final"
    ? { creditState: "credited", includedBlock: 1, includedHash: word(), includedTx: word(), includedLog: 0 }
    : { creditState: "none", includedBlock: null, includedHash: null, includedTx: null, includedLog: null };
}

async function newClaim(state: ClaimState, over: Partial<NewClaim> = {}): Promise<Hash> {
  const parts = { chainId, nonceDomain: account(), payer: account(), nonce: word(), ...over };
  const key = claimKey(parts);
  await database.db.pool.insert(claim).values({
    claimKey: key,
    id: newId("stl"),
    kind: "x402",
    merchantId: newId("mer"),
    payableId: newId("x402r"),
    method: "eip3009",
    token: account(),
    payTo: account(),
    amount: 10n,
    fee: 1n,
    validAfter: 0n,
    validBefore: 100n,
    signature: "0x01",
    payerHasCode: false,
    fingerprint: word(),
    ...placeOf(state),
    state,
    ...parts,
  });
  return key;
}

async function move(from: ClaimState, to: ClaimState): Promise<boolean> {
  const key = await newClaim(from);
  const moved = await database.db.tx((tx) =>
    moveClaims(engine(), tx, { keys: [key], to, cause: "a test", set: placeOf(to) }),
  );
  const [row] = await findClaims(database.db.pool, [key]);
  expect(row?.state).toBe(moved.length === 1 ? to : from);
  const events = await database.query(
    `SELECT event.state, event."from", event.version FROM claim_event AS event
     JOIN claim ON claim.id = event.claim_id WHERE claim.claim_key = decode($1, 'hex')`,
    [key.slice(2)],
  );
  expect(events).toEqual(moved.length === 1 ? [{ state: to, from, version: 2 }] : []);
  return moved.length === 1;
}

describe("a claim's state", () => {
  it.each(claimStates)(
    "%s is left for what may follow it, with a line in its timeline, and for nothing else",
    async (from) => {
      const left: ClaimState[] = [];
      for (const to of claimStates) if (await move(from, to)) left.push(to);
      expect(left.sort()).toEqual([...transitions[from]].sort());
    },
  );

  it("moves once when many want to move it at the same time", async () => {
    const key = await newClaim("claimed");
    const moves = await Promise.all(
      Array.from({ length: 10 }, () =>
        database.db.tx((tx) =>
          moveClaims(engine(), tx, { keys: [key], to: "failed-watch", cause: "a race" }),
        ),
      ),
    );
    expect(moves.filter(({ length }) => length === 1)).toHaveLength(1);
  });
});

async function refusal(work: Promise<unknown>): Promise<string | null> {
  return work.then(
    () => "it was allowed",
    (error: unknown) => sqlState(error),
  );
}

describe("what the tables make impossible", () => {
  const unique = "23505";
  const check = "23514";

  it("two claims on one authorization", async () => {
    const same = { nonceDomain: account(), payer: account(), nonce: word() };
    await newClaim("claimed", same);
    expect(await refusal(newClaim("claimed", same))).toBe(unique);
    // under another key, too
    expect(await refusal(newClaim("claimed", { ...same, claimKey: word() }))).toBe(check);
  });

  it("a credit without its place, a place without a credit, a fee above the amount, a claim on nothing", async () => {
    expect(await refusal(newClaim("included", { includedBlock: null }))).toBe(check);
    expect(await refusal(newClaim("claimed", { creditState: "credited" }))).toBe(check);
    expect(await refusal(newClaim("claimed", { includedBlock: 1 }))).toBe(check);
    expect(await refusal(newClaim("claimed", { fee: 11n }))).toBe(check);
    expect(await refusal(newClaim("claimed", { amount: 0n, fee: 0n }))).toBe(check);
  });

  it("one nonce for two slots, and one claim in two open slots", async () => {
    const key = account();
    const [one, other] = [newId("req"), newId("req")];
    const at = { chainId, signer: key, sentAtBlock: 1 };
    const { pool } = database.db;
    await pool.insert(slot).values({ ...at, id: one, nonce: 0 });
    expect(await refusal(pool.insert(slot).values({ ...at, id: other, nonce: 0 }))).toBe(unique);
    await pool.insert(slot).values({ ...at, id: other, nonce: 1 });
    const claimKey = await newClaim("submitting");
    await pool.insert(slotItem).values({ slotId: one, claimKey, idx: 0 });
    expect(await refusal(pool.insert(slotItem).values({ slotId: other, claimKey, idx: 0 }))).toBe(unique);
  });

  it("two logs that pay one claim", async () => {
    const authorizationKey = await newClaim("submitting");
    const log = (claimedKind: "x402" | "sweep" | "unmatched" | null) =>
      database.db.pool.insert(chainTransfer).values({
        ...{ chainId, blockNumber: 1, blockHash: word(), txHash: word(), logIndex: 0, amount: 10n },
        ...{ token: account(), sender: account(), recipient: account(), blockTime: new Date() },
        ...{ canonical: true, authorizationKey, claimedKind },
      });
    await log("x402");
    for (const kind of ["x402", "sweep"] as const) expect(await refusal(log(kind))).toBe(unique);
    // a token that tells of one use twice: the rest is money that no claim accounts for
    for (const kind of [null, null, "unmatched", "unmatched"] as const) await log(kind);
  });

  it("the end of a claim, by anybody", async () => {
    const key = await newClaim("claimed");
    const text = "DELETE FROM claim WHERE claim_key = decode($1, 'hex')";
    expect(await refusal(database.query(text, [key.slice(2)]))).toBe("23001");
  });
});

describe("the grant of success", () => {
  const answer = { outcome: "settled" } as unknown as SettleAnswer;
  const asking = (claimKey: Hash) => ({ claimKey, requestId: newId("req"), answer, answerIds: [] });

  it("is given to one of a hundred, over two processes", async () => {
    const claimKey = await newClaim("included");
    const processes = [granter(engine()), granter(engine())];
    const given = await Promise.all(
      Array.from({ length: 100 }, (_, i) => processes[i % 2]?.(asking(claimKey))),
    );
    expect(given.filter((won) => won)).toHaveLength(1);
  });

  it("is not given for what is not credited", async () => {
    expect(await granter(engine())(asking(await newClaim("submitting")))).toBe(false);
  });

  it("keeps one answer under an id that came with two payments at once, and tells both payers of their own", async () => {
    const grant = granter(engine());
    const [scope, id, payloadHash] = [`key:${newId("x402r")}`, "one id", word()];
    const both = [await newClaim("included"), await newClaim("included")];
    const won = both.map((claimKey) =>
      grant({
        ...asking(claimKey),
        answer: { ...answer, reason: claimKey } as never,
        answerIds: [{ scope, id, payloadHash }],
      }),
    );
    expect(await Promise.all(won)).toEqual([true, true]);
    const kept = await database.query<{ reason: Hash }>(
      "SELECT body->>'reason' AS reason FROM settle_answer WHERE scope = $1 AND id = $2",
      [scope, id],
    );
    expect(kept).toEqual([{ reason: expect.toBeOneOf(both) }]);
  });

  it("is taken back by the request that has it, and by no other; then the next one gets it", async () => {
    const claimKey = await newClaim("included");
    const [{ id } = { id: "" }] = await findClaims(database.db.pool, [claimKey]);
    const winner = asking(claimKey);
    const grant = granter(engine());
    expect(await grant(winner)).toBe(true);
    await releaseGrant(engine(), id, newId("req"));
    expect(await grant(asking(claimKey))).toBe(false);
    await releaseGrant(engine(), id, winner.requestId);
    expect(await grant(asking(claimKey))).toBe(true);
  });
});

describe("a lane's nonce", () => {
  it("is taken once, in order, under the fence that holds, and by a lane that may sign", async () => {
    const key = account();
    await database.db.pool.insert(signer).values({ chainId, address: key, nextNonce: 7, fence: 3 });
    const lane = (fence: number) =>
      ({ chain: { row: { chainId } }, signer: { address: key }, fence, maySign: true }) as unknown as Lane;
    const take = (fence: number, nonce: number) => database.db.tx((tx) => takeNonce(tx, lane(fence), nonce));
    expect(await take(2, 7)).toBe(false);
    expect(await take(3, 8)).toBe(false);
    expect((await Promise.all([take(3, 7), take(3, 7)])).sort()).toEqual([false, true]);
    expect(await take(3, 8)).toBe(true);
    await database.query("UPDATE signer SET state = 'quarantined' WHERE address = decode($1, 'hex')", [
      key.slice(2),
    ]);
    expect(await take(3, 9)).toBe(false);
  });
});

describe("what many ask for at the same time", () => {
  it("the newest transaction, each of its own claim: none while nothing is signed", async () => {
    const { pool } = database.db;
    const at = { chainId, signer: account(), sentAtBlock: 1 };
    const sent = async (nonce: number, hashes: readonly Hash[]) => {
      const id = newId("req");
      await pool.insert(slot).values({ ...at, id, nonce });
      const fees = { raw: "0x02" as const, maxFee: 1n, tip: 1n, gasLimit: 1n };
      await pool
        .insert(attempt)
        .values(hashes.map((txHash, seq) => ({ slotId: id, seq: seq + 1, txHash, ...fees })));
      return { claimKey: await newClaim("submitting", { slotId: id }), includedTx: null };
    };
    const [first, second, replaced, included] = [word(), word(), word(), word()];
    const unsigned = { claimKey: await newClaim("claimed"), includedTx: null };
    const asked = [await sent(1, [first]), unsigned, await sent(2, [second, replaced])];
    const read = transactionReader(pool);
    const paid = { claimKey: await newClaim("included"), includedTx: included };
    expect(await Promise.all([...asked, paid].map(read))).toEqual([first, "", replaced, included]);
  });

  it("their answers, each those of its own ids", async () => {
    const kept = ["a", "b", "c"].map((id) => ({
      ...{ scope: id === "c" ? "key:other" : "key:mine", id, payloadHash: word(), claimKey: word() },
      body: id === "b" ? null : { outcome: "settled", paymentId: id },
    }));
    await database.db.pool.insert(settleAnswer).values(kept);
    const [a, b, c] = kept.map(({ claimKey: _, ...row }) => row);
    const read = answerReader(database.db.pool);
    const mine = (id: string) => ({ scope: "key:mine", id });
    const asked = [[mine("a"), mine("b")], [mine("c")], [{ scope: "key:other", id: "c" }], [mine("a")]];
    expect(await Promise.all(asked.map(read))).toEqual([[a, b], [], [c], [a]]);
  });
});
