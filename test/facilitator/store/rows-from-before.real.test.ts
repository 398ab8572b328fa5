/** What migrations make of rows that were written before them. */
import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, inject, it, onTestFinished } from "vitest";
import { post, resolvePending, templates, trialBalance } from "#ledger";
import { type Database, migrate, openDatabase } from "#store";
import { entryId } from "../../../facilitator/ledger/transfer.ts";
import { databaseAt } from "../../support/database-at.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { payment } from "../ledger/rows.ts";

const folder = fileURLToPath(new URL("../../../migrations", import.meta.url));

/** A database as the migrations up to this one left it. */
async function databaseAsOf(last: string) {
  const server = inject("databaseUrl");
  const name = `before_${randomBytes(6).toString("hex")}`;
  const admin = new pg.Pool({ connectionString: server, max: 1 });
  await admin.query(`CREATE DATABASE ${name}`);
  const url = databaseAt(server, name);
  const older = await mkdtemp(join(tmpdir(), "farebox-migrations-"));
  await cp(folder, older, { recursive: true });
  const file = join(older, "meta", "_journal.json");
  const journal = JSON.parse(await readFile(file, "utf8")) as { entries: { tag: string }[] };
  const length = journal.entries.findIndex(({ tag }) => tag === last) + 1;
  await writeFile(file, JSON.stringify({ ...journal, entries: journal.entries.slice(0, length) }));
  await migrate({ url, folder: older });
  const owner = new pg.Pool({ connectionString: url, max: 1 });
  // A server that is told to drop the database may speak to a connection that is just being closed.
  for (const pool of [admin, owner]) pool.on("error", () => {});
  const db = openDatabase({ url, log: silentLog, name: "test", maxConnections: 2, role: "farebox_app" });
  onTestFinished(async () => {
    await Promise.all([db.close(), owner.end(), rm(older, { recursive: true })]);
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
  });
  return {
    db,
    query: async (text: string, values: unknown[] = []) => (await owner.query(text, values)).rows,
    goOn: () => migrate({ url, folder }),
  };
}

/** A claim that was sent twice: its first slot is closed, its second one is open. */
const claimSentTwice = `
  WITH made AS (INSERT INTO claim (claim_key, id, kind, merchant_id, payable_id, chain_id, method, nonce_domain, payer, nonce, token,
      pay_to, amount, fee, valid_after, valid_before, signature, payer_has_code, fingerprint, state)
    SELECT sha256('farebox/claim/v1'::bytea || ('\\x' || repeat('00', 24))::bytea || int8send(1) || at || at || word),
      'stl_twice', 'x402', 'mer_one', 'x402r_one', 1, 'eip3009', at, at, word, at, at, 10, 1, 0, 100, '\\x01', false, word, 'submitting'
    FROM (SELECT ('\\x' || repeat('11', 20))::bytea AS at, ('\\x' || repeat('22', 32))::bytea AS word) AS parts
    RETURNING claim_key),
  slots AS (INSERT INTO slot (id, chain_id, signer, nonce, open, sent_at_block, created_at)
    VALUES ('first', 1, '\\x11', 1, false, 1, now()), ('second', 1, '\\x11', 2, true, 1, now() + interval '1 s')),
  items AS (INSERT INTO slot_item (slot_id, claim_key, idx, open)
    SELECT id, claim_key, 0, id = 'second' FROM made, unnest(ARRAY['first', 'second']) AS id),
  logs AS (INSERT INTO chain_transfer (chain_id, block_number, block_hash, tx_hash, log_index, token, sender, recipient, amount,
      block_time, canonical, authorization_key, claimed_by, claimed_kind)
    SELECT 1, 1, '\\x01', '\\x01', 0, '\\x01', '\\x01', '\\x01', 10, now(), true, claim_key, claim_key, 'x402' FROM made)
  INSERT INTO claim_event (claim_key, version, state, cause) SELECT claim_key, 1, 'claimed', 'before' FROM made`;

const books = async (db: Database) =>
  (await trialBalance(db.pool)).map(({ path, posted, pending }) => [path, posted, pending]);

it("a claim keeps its events, its newest slot and its log", async () => {
  const { query, goOn } = await databaseAsOf("0030_keys_that_lie_together");
  await query(claimSentTwice);
  await goOn();
  expect(await query("SELECT slot_id FROM claim")).toEqual([{ slot_id: "second" }]);
  expect(await query("SELECT claim_id, version, state FROM claim_event")).toEqual([
    { claim_id: "stl_twice", version: 1, state: "claimed" },
  ]);
  const again = query(`INSERT INTO chain_transfer SELECT (jsonb_populate_record(log, '{"log_index": 1}')).*
    FROM chain_transfer AS log`);
  await expect(again).rejects.toMatchObject({ constraint: "chain_transfer_authorization" });
});

it.each(["post", "void"] as const)("an entry resolved by %s stays so, with every amount", async (how) => {
  const { db, query, goOn } = await databaseAsOf("0030_keys_that_lie_together");
  const [paid, open] = [payment("resolved"), payment("open")];
  const event = templates.x402EventKey(paid);
  await db.tx((tx) => post(tx, [paid, open].map(templates.x402Credited)));
  await db.tx((tx) => resolvePending(tx, how, [event]));
  // As it was named before.
  await query("ALTER TABLE ledger_transfer DISABLE TRIGGER USER");
  await query(
    `UPDATE ledger_transfer SET entry_id = decode('${entryId(`${event}:${how}`).slice(2)}', 'hex') WHERE event_key = $1`,
    [`${event}:${how}`],
  );
  await query("ALTER TABLE ledger_transfer ENABLE TRIGGER USER");
  const before = await books(db);
  await goOn();
  await db.tx((tx) => resolvePending(tx, how, [event])); // which it is: nothing moves
  expect(await books(db)).toEqual(before);
  const other = db.tx((tx) => resolvePending(tx, how === "post" ? "void" : "post", [event]));
  await expect(other).rejects.toMatchObject({ code: "ledger_conflict" });
  expect(await books(db)).toEqual(before);
  await db.tx((tx) => resolvePending(tx, "post", [templates.x402EventKey(open)]));
  expect(await query("SELECT count(*)::int AS resolved FROM ledger_transfer WHERE ref IS NOT NULL")).toEqual([
    { resolved: 4 },
  ]);
  await expect(query("UPDATE ledger_transfer SET amount = 1")).rejects.toMatchObject({ code: "23001" });
});
