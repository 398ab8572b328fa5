/** What a settlement reads does not grow with those that are over: plans that are kept for every value of a statement's
 *  parameters must find few rows among many, too. */
import pg from "pg";
import { afterEach, beforeEach, expect, it } from "vitest";
import { copyOld } from "../../../../bench/old-rows.ts";
import { type Offer, paymentBody } from "../../../../bench/payments.ts";
import { openShop, type Shop } from "../../../property/payments/shop.ts";
import { tokens } from "../../../simulation/world.ts";

const MANY = 20_000;
const FEW = 3_000;
const PAYMENTS = 16;
/** So many that to look for the log of each seems to cost more than to read the logs of a few thousand. */
const WAITING = 300;

let shop: Shop;
let offer: Offer;
let owner: pg.Client;
beforeEach(async () => {
  shop = await openShop();
  owner = new pg.Client({ connectionString: shop.world.database.url });
  await owner.connect();
  const made = await shop.call("POST", "/v1/x402/resources", {
    url: "https://merchant.example.com/read",
    price: { amount: "0.01", asset: "USD" },
    rails: [{ chain: "local", asset: "USDC" }],
  });
  const { body } = await shop.call("GET", `/x402/resources/${made.body.id}/payment-required`);
  offer = { resource: body.resource, requirements: body.accepts[0] };
  await settle(PAYMENTS);
});
afterEach(async () => {
  await owner.end();
  await shop.close();
});

it("reads as few rows among many old settlements as among none", async () => {
  // given many that are settled, and statements that are planned once for all
  await layOld(MANY);
  await planOnceForAll();
  // when some more are settled
  await settle(PAYMENTS);
  // then no table was read through
  expect((await whatWasRead()).filter(({ read }) => read >= MANY)).toEqual([]);
});

it("reads the logs that nobody has claimed, and not all there are, where the planner knows of many open claims", async () => {
  // given statements that were planned while many waited for a block
  await layOld(FEW);
  await settle(WAITING, {
    whileWaiting: async () => {
      await owner.query("ANALYZE");
      await planOnceForAll();
    },
  });
  // then the logs of old settlements were not read again; by the table's own count, since in an index the entries of dead
  // rows are counted, too, as long as somebody on the server may still want those rows
  const read = (await whatWasRead()).filter(({ name }) => name === "chain_transfer");
  expect(read).toHaveLength(1);
  expect(read.filter((each) => each.read >= FEW)).toEqual([]);
});

it("looks the block of a payment up, and not through all there are, where nothing was known of blocks when that was planned", async () => {
  // given statements that were planned in a new database, and many blocks since
  await settle(PAYMENTS, { whileIncluded: planOnceForAll });
  await layBlocks(MANY);
  await owner.query("SELECT pg_stat_reset()");
  // when some more become final
  await settle(PAYMENTS);
  // then the other blocks were not read
  const read = (await whatWasRead()).filter(({ name }) => name.startsWith("chain_block"));
  expect(read.filter((each) => each.read >= MANY)).toEqual([]);
});

const layBlocks = (count: number) =>
  owner.query(
    `INSERT INTO chain_block (chain_id, number, hash, parent, timestamp, canonical)
     SELECT chain_id, -block, sha256(block::text::bytea), sha256((block + 1)::text::bytea), 0, true
     FROM observer, generate_series(1, $1::int) AS block`,
    [count],
  );

const layOld = (count: number) =>
  copyOld(owner, { settlements: count, payments: count }, (_, work) => work().then(() => {}));

/** From here on, on new connections, as those of loops are; and what was read until now is forgotten. */
async function planOnceForAll(): Promise<void> {
  const { pathname } = new URL(shop.world.database.url);
  const name = pathname.slice(1);
  await owner.query(`ALTER DATABASE ${name} SET plan_cache_mode = force_generic_plan`);
  await owner.query(`ALTER DATABASE ${name} SET enable_seqscan = off`);
  await endOthers();
  await owner.query("SELECT pg_stat_reset()");
}

/** Rows, of tables and of indexes. */
async function whatWasRead(): Promise<readonly { readonly name: string; readonly read: number }[]> {
  await endOthers();
  const { rows } = await owner.query<{ name: string; read: string }>(
    `SELECT relname AS name, seq_tup_read + coalesce(idx_tup_fetch, 0) AS read FROM pg_stat_user_tables
       UNION ALL SELECT indexrelname, idx_tup_read FROM pg_stat_user_indexes`,
  );
  return rows.map(({ name, read }) => ({ name, read: Number(read) }));
}

/** What happens before there is a block with them, and once there is. */
interface Meanwhile {
  readonly whileWaiting?: () => Promise<void>;
  readonly whileIncluded?: () => Promise<void>;
}

/** Settles, and follows the chain until all are final and told. */
async function settle(count: number, { whileWaiting, whileIncluded }: Meanwhile = {}): Promise<void> {
  const { world } = shop;
  const { timestamp } = await world.sim.chain.head();
  const answers = Array.from({ length: count }, () => {
    const { key, address } = world.payer(tokens.USDC, 10_000n);
    const payer = { address, privateKey: Buffer.from(key.slice(2), "hex") };
    const body = paymentBody(offer, payer, { validBefore: timestamp + 300 });
    return shop.ask("/x402/settle", JSON.parse(body));
  });
  await shop.turn();
  await whileWaiting?.();
  for (let block = 0; block < 8; block += 1) {
    await shop.turn();
    if (block === 1) await whileIncluded?.();
    world.sim.mine();
  }
  await shop.turn();
  for (const { body } of await Promise.all(answers)) expect(body).toMatchObject({ success: true });
}

/** What they read is counted when they are gone. */
async function endOthers(): Promise<void> {
  await owner.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
}
