/** Old settlements: the rows of those that are there, many times over under other keys. What points to what stays so.
 *  Nobody may use the database meanwhile: indexes do not take part until all rows are there, or ten million settlements
 *  would take a day. */
import pg from "pg";

/** Copies of one column, `s` being the number of the copy: hashes and addresses of the same length, ids that are as long. */
const bytes = (column: string) => `substr(sha256(${column} || int4send(s)), 1, length(${column}))` as const;
const id = (column: string) =>
  `split_part(${column}, '_', 1) || '_' || upper(substr(encode(sha256(convert_to(${column} || s, 'UTF8')), 'hex'), 1, 26))` as const;
const text = (column: string) => `${column} || ' ' || s` as const;
/** Long before the ledger's checkpoint, as what a job has folded is. */
const earlier = (column: string) => `${column} - interval '1 day' - s * interval '1 minute'` as const;

function neighbour(entry: string): string {
  return `set_byte(${entry}, 15, get_byte(${entry}, 15) # 1)`;
}

interface Copied {
  readonly table: string;
  /** Of the rows that are copied. */
  readonly where: string;
  /** Columns that differ in each copy; the others are as they are. */
  readonly changed: Readonly<Record<string, string>>;
}

const payer = bytes("payer");
const claimKey = bytes("claim_key");
const slotId = text("slot_id");
/** What resolves an entry is its neighbour in the index, whose ids differ in the last bit. */
const entryId = `(CASE WHEN ref IS NULL THEN ${bytes("entry_id")} ELSE ${neighbour(bytes(neighbour("entry_id")))} END)`;

/** All that a settlement leaves in the centre and that grows with their number. Balances are left as they are. */
const ofSettlements: readonly Copied[] = [
  {
    table: "claim",
    where: "state = 'final'",
    changed: {
      ...{
        claim_key: claimKey,
        id: id("id"),
        payer,
        nonce: bytes("nonce"),
        fingerprint: bytes("fingerprint"),
        slot_id: slotId,
      },
      ...{ included_hash: bytes("included_hash"), included_tx: bytes("included_tx") },
      ...{ created_at: earlier("created_at"), updated_at: earlier("updated_at") },
    },
  },
  { table: "claim_event", where: "true", changed: { claim_id: id("claim_id") } },
  {
    table: "slot",
    where: "NOT open",
    changed: { id: text("id"), signer: bytes("signer"), mined_tx: bytes("mined_tx") },
  },
  { table: "slot_item", where: "NOT open", changed: { slot_id: slotId, claim_key: claimKey } },
  { table: "attempt", where: "true", changed: { slot_id: slotId, tx_hash: bytes("tx_hash") } },
  {
    table: "chain_transfer",
    where: "claimed_kind = 'x402'",
    changed: {
      ...{ block_hash: bytes("block_hash"), tx_hash: bytes("tx_hash"), sender: bytes("sender") },
      authorization_key: bytes("authorization_key"),
    },
  },
  {
    table: "ledger_transfer",
    where: "subject LIKE 'stl_%'",
    changed: {
      ...{ id: bytes("id"), entry_id: entryId, ref: bytes("ref"), subject: id("subject") },
      posted_at: earlier("posted_at"),
    },
  },
  {
    table: "outbox",
    where: "delivered_at IS NOT NULL AND subject LIKE 'stl_%'",
    changed: { id: id("id"), subject: id("subject"), occurred_at: earlier("occurred_at") },
  },
  { table: "payer_gas", where: "true", changed: { payer, since: "since - interval '1 day'" } },
];

/** All that the merchant's payments add to it. */
const ofPayments: readonly Copied[] = [
  { table: "payment_intent", where: "source = 'x402'", changed: { id: id("id") } },
  {
    table: "clearing",
    where: "provider_reference LIKE 'stl_%'",
    changed: {
      ...{ id: id("id"), intent_id: id("intent_id"), provider_reference: id("provider_reference") },
    },
  },
  { table: "timeline_entry", where: "true", changed: { clearing_id: id("clearing_id") } },
  {
    table: "event",
    where: "true",
    changed: { id: id("id"), subject: id("subject"), created_at: earlier("created_at") },
  },
  { table: "counted_fact", where: "true", changed: { id: id("id") } },
  { table: "payable_payer", where: "true", changed: { payer } },
];

/** How many rows of each kind there are to be, about. */
export interface Old {
  readonly settlements: number;
  readonly payments: number;
}

/** Copies what is settled until there are about as many as told; says how many there are then, and how many bytes of
 *  all. Nothing may be under way, and the server is nobody else's. */
export async function growOld(
  databaseUrl: string,
  old: Old,
  say: (line: string) => void,
): Promise<Old & { readonly bytes: number }> {
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  const timed = async (what: string, work: () => Promise<unknown>) => {
    const began = performance.now();
    await work();
    say(`${what}: ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  };
  try {
    await db.query("SET maintenance_work_mem = '2GB'");
    await hurry(db, true);
    await copyOld(db, old, timed);
    await hurry(db, false);
    await timed("writing all of it", () => db.query("CHECKPOINT"));
    await timed("warming the indexes", () => warmIndexes(db));
    return await count(db);
  } finally {
    await db.end();
  }
}

/** The rows alone, and what the planner knows of them. `db` is a superuser's. */
export async function copyOld(
  db: pg.Client,
  old: Old,
  timed: (what: string, work: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  // Neither triggers nor references: the rows they would look at are copies, too.
  await db.query("SET session_replication_role = replica");
  const settled = (await count(db)).settlements;
  await withFreeKeys(db, async () => {
    for (const [tables, wanted] of [
      [ofSettlements, old.settlements],
      [ofPayments, old.payments],
    ] as const)
      for (const each of tables)
        await timed(each.table, () =>
          withoutIndexes(db, each.table, () => copy(db, each, Math.ceil(wanted / settled))),
        );
  });
  await timed("looking at all of it", () => db.query("VACUUM (ANALYZE)"));
}

/** What is laid need not outlive the machine. */
async function hurry(db: pg.Client, isHurried: boolean): Promise<void> {
  for (const [name, value] of Object.entries({
    fsync: "off",
    full_page_writes: "off",
    max_wal_size: "'4GB'",
  }))
    await db.query(isHurried ? `ALTER SYSTEM SET ${name} = ${value}` : `ALTER SYSTEM RESET ${name}`);
  await db.query("SELECT pg_reload_conf()");
}

/** Keys are hashes: a server that has run for a while has been all over its indexes, and holds of them what fits. The
 *  smallest come last, and stay: of indexes that are read as often, their pages are read oftenest. What was laid was
 *  written once, one table after the other. */
async function warmIndexes(db: pg.Client): Promise<void> {
  await db.query("CREATE EXTENSION IF NOT EXISTS pg_prewarm");
  const { rows } = await db.query<{ index: string }>(
    `SELECT oid::regclass::text AS index FROM pg_class
     WHERE relkind = 'i' AND relnamespace = 'public'::regnamespace ORDER BY pg_relation_size(oid) DESC`,
  );
  for (const { index } of rows) await db.query("SELECT pg_prewarm($1::regclass)", [index]);
}

/** A copy's key is not the hash of its authorization or event, which those that name it do not know. */
async function withFreeKeys(db: pg.Client, work: () => Promise<void>): Promise<void> {
  const { rows } = await db.query<{ table: string; name: string; definition: string }>(
    `SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE conname IN ('claim_key_of_authorization', 'ledger_transfer_resolution')`,
  );
  for (const { table, name } of rows) await db.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  await work();
  for (const { table, name, definition } of rows)
    await db.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition} NOT VALID`);
}

/** To build an index of many rows at once takes a fraction of what it takes row by row. */
async function withoutIndexes(db: pg.Client, table: string, work: () => Promise<void>): Promise<void> {
  await db.query("UPDATE pg_index SET indisready = false, indisvalid = false WHERE indrelid = $1::regclass", [
    table,
  ]);
  await work();
  await db.query(`REINDEX TABLE "${table}"`);
}

async function count(db: pg.Client): Promise<Old & { readonly bytes: number }> {
  const { rows } = await db.query<{ settlements: string; payments: string; bytes: string }>(
    `SELECT (SELECT count(*) FROM claim WHERE state = 'final') AS settlements,
       (SELECT count(*) FROM payment_intent WHERE source = 'x402') AS payments,
       pg_database_size(current_database()) AS bytes`,
  );
  const [row] = rows;
  return {
    settlements: Number(row?.settlements),
    payments: Number(row?.payments),
    bytes: Number(row?.bytes),
  };
}

async function copy(db: pg.Client, { table, where, changed }: Copied, copies: number): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = $1 AND is_identity = 'NO' ORDER BY ordinal_position`,
    [table],
  );
  const names = rows.map(({ name }) => name);
  const missing = Object.keys(changed).filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`${table} has no column ${missing.join(", ")}`);
  const columns = names.map((name) => `"${name}"`).join(", ");
  const values = names.map((name) => changed[name] ?? `"${name}"`).join(", ");
  await db.query(
    `INSERT INTO "${table}" (${columns}) SELECT ${values}
     FROM (SELECT * FROM "${table}" WHERE ${where}) AS old CROSS JOIN generate_series(1, ${copies}) AS s`,
  );
}
