/** A token that left the configuration while payments in it were open. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { address, fromBytes, type Hash, type Hex } from "#kernel/bytes";
import type { LogFields } from "#kernel/log";
import { claimKey } from "../../../../facilitator/scheme/claim-key.ts";
import { freshDatabase, type TestDatabase } from "../../../support/db.ts";
import { type DevChain, silentLog, startDevChain } from "../../../support/dev-chain.ts";
import { newMerchant, type RunningHouse, startHouse, until } from "../../../support/house.ts";
import { ledgerOf, stateOf } from "../../../support/records.ts";
import { newPayment } from "../../../support/scene.ts";

let dev: DevChain;
let database: TestDatabase;
let asking: RunningHouse;

beforeAll(async () => {
  [dev, database] = await Promise.all([startDevChain(), freshDatabase()]);
  await (await startHouse(dev, database)).stop(); // or nobody would have begun to follow the chain
  asking = await startHouse(dev, database, { role: "web", settings: { maxWaitMs: 100 } });
});
afterAll(async () => {
  await asking?.stop();
  await database?.drop();
  await dev?.stop();
});

const bytea = (hex: Hex) => hex.replace("0x", "\\x");

/** The same claim again, in dev EURC, in another state. Returns the rest of its id. */
async function twinInEurc(nonce: string, over: Record<string, unknown>, chainId = 31_337): Promise<string> {
  const name = randomBytes(8).toString("hex");
  const eurc = dev.contracts.assets.EURC;
  const [first] = await database.query<{ payer: string }>(
    "SELECT payer FROM claim WHERE nonce = decode($1, 'hex')",
    [nonce.slice(2)],
  );
  const parts = { nonceDomain: address(eurc), payer: address(first?.payer ?? "") };
  const own = fromBytes(randomBytes(32)) as Hash;
  const key = claimKey({ chainId, nonce: own, ...parts });
  const row = {
    ...{ chain_id: chainId, claim_key: bytea(key), id: `stl_${name}`, payable_id: `po_${name}` },
    ...{ nonce: bytea(own), token: bytea(eurc), nonce_domain: bytea(eurc) },
    ...over,
  };
  await database.query(
    "INSERT INTO claim SELECT (jsonb_populate_record(claim, $2::jsonb)).* FROM claim WHERE nonce = decode($1, 'hex')",
    [nonce.slice(2), JSON.stringify(row)],
  );
  return row.id;
}

interface RecordedTransfer {
  readonly paymentId?: string | null;
  readonly canonical?: boolean;
  readonly claimedKind?: "unmatched" | null;
}

/** A transfer of dev EURC to the treasury, as recorded while the token was listed. */
async function transferInEurc(
  logIndex: number,
  { paymentId = null, canonical = true, claimedKind = null }: RecordedTransfer = {},
): Promise<void> {
  await database.query(
    `INSERT INTO chain_transfer (chain_id, block_number, block_hash, tx_hash, log_index, token, sender, recipient, amount,
       block_time, canonical, authorization_key, claimed_kind, booked_final)
     SELECT 31337, 1, decode(repeat('11', 32), 'hex'), decode($1, 'hex'), $5::int, decode($2, 'hex'), decode($2, 'hex'),
       decode($3, 'hex'), 10000, now(), $6, (SELECT claim_key FROM claim WHERE id = $4), $7::text, $7::text IS NOT NULL`,
    [
      randomBytes(32).toString("hex"),
      dev.contracts.assets.EURC.slice(2),
      dev.contracts.treasury.address.slice(2),
      paymentId,
      ...[logIndex, canonical, claimedKind],
    ],
  );
}

const stateById = async (id: string) =>
  (await database.query<{ state: string }>("SELECT state FROM claim WHERE id = $1", [id]))[0]?.state;

it("what is open in a token that is no longer listed waits in sight, and everything else goes on", async () => {
  const merchant = await newMerchant(asking);
  const place = { dev, database, baseUrl: asking.baseUrl };
  const paid = await newPayment(place, merchant);
  const told = await paid.settle();
  expect(told.body).toMatchObject({ errorReason: "settlement_pending" });
  // given one of each kind in the other token: to be sent, paid and waiting for its depth, ended, and money from nobody
  const toSend = await twinInEurc(paid.nonce, {});
  const credited = await twinInEurc(paid.nonce, { state: "submitting" });
  const payout = await twinInEurc(paid.nonce, { kind: "payout", state: "review", valid_before: 1 });
  const spent = await twinInEurc(paid.nonce, { kind: "refund", state: "failed-watch" });
  await transferInEurc(0, { paymentId: credited });
  await transferInEurc(3);
  // and what waits for nothing: it ended, is of a chain that others serve, left its chain, or is booked
  await twinInEurc(paid.nonce, { state: "expired" });
  await twinInEurc(paid.nonce, {}, 1);
  await transferInEurc(1, { canonical: false });
  await transferInEurc(2, { claimedKind: "unmatched" });
  const logged: (readonly [LogFields, string])[] = [];
  const log = { ...silentLog, error: (fields: LogFields, text: string) => void logged.push([fields, text]) };
  // when a process works that does not list it
  const assets = (dev.config.assets ?? []).filter(({ symbol }) => symbol !== "EURC");
  const working = await startHouse({ ...dev, config: { ...dev.config, assets } }, database, { log });
  try {
    await database.query(`
      UPDATE chain_transfer SET (block_number, block_hash) =
        (SELECT number, hash FROM observer JOIN chain_block ON number = start_block)`);
    await database.query(
      `UPDATE claim SET (spent_block, spent_hash) =
        (SELECT number, hash FROM observer JOIN chain_block ON number = start_block) WHERE id = $1`,
      [spent],
    );
    await until(async () => {
      await dev.anvil.mine();
      return (await stateOf(database, paid.nonce)) === "final";
    }, "the payment in the listed token is final");
    await until(async () => (await stateById(toSend)) === "review", "the unsent one waits for a person");
    const later = await newPayment(place, merchant);
    await later.settle();
    await until(async () => {
      await dev.anvil.mine();
      return (await stateOf(database, later.nonce)) === "final";
    }, "later payments go the whole way, too");
  } finally {
    await working.stop();
  }
  expect(await database.query("SELECT reason FROM claim WHERE id = $1", [toSend])).toEqual([
    { reason: "invalid_payment_requirements" },
  ]);
  const left = await Promise.all([credited, payout, spent].map(stateById));
  expect(left).toEqual(["submitting", "review", "failed-watch"]);
  expect([await ledgerOf(database, credited), await ledgerOf(database, payout)]).toEqual([[], []]);
  expect(logged).toContainEqual([
    { chain: "local", claims: 4, transfers: 2 },
    "money in tokens that are no longer listed waits: list them again to have it booked",
  ]);
  // and when it is listed again, what was paid is credited
  await database.query("UPDATE claim SET valid_before = 99999999999 WHERE id = $1", [payout]);
  const again = await startHouse(dev, database);
  try {
    await until(async () => {
      await dev.anvil.mine();
      return (await stateById(credited)) === "final";
    }, "it is credited");
  } finally {
    await again.stop();
  }
  expect(await ledgerOf(database, credited)).toEqual([
    "pending net treasury → available 9950",
    "pending fee treasury → fees 50",
    "post net treasury → available 9950",
    "post fee treasury → fees 50",
  ]);
});
