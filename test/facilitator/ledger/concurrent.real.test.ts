import { afterAll, beforeAll, expect, it } from "vitest";
import { account, type Entry, post, resolvePending, templates } from "#ledger";
import { type Database, openDatabase } from "#store";
import { entry, single } from "../../../facilitator/ledger/transfer.ts";
import { sharedDatabase } from "../../support/db.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { until } from "../../support/house.ts";
import { balances, differences, payment, stray, transfers, usdc } from "./rows.ts";

const CONNECTIONS = 8;
const books = sharedDatabase();
let db: Database;
beforeAll(async () => {
  db = openDatabase({
    url: books.url,
    log: silentLog,
    name: "busy",
    maxConnections: CONNECTIONS,
    role: "farebox_app",
  });
});
afterAll(async () => {
  await db.close();
});

const workers = Array.from({ length: CONNECTIONS }, (_, index) => index);
/** Another order for each worker. */
const turned = <T>(items: readonly T[], by: number): T[] => {
  const at = (by * 7) % items.length;
  const order = [...items.slice(at), ...items.slice(0, at)];
  return by % 2 === 0 ? order : order.reverse();
};

it("eight connections post over the same hot accounts without a deadlock, and the totals are right", async () => {
  // given batches of every worker's own, over a few merchants and the accounts that all share
  const turns = 15;
  const merchants = ["mer_a", "mer_b", "mer_c"];
  const batch = (worker: number, turn: number): Entry[] => [
    ...turned(merchants, worker + turn).map((merchantId) =>
      templates.x402Credited(payment(`${worker}-${turn}-${merchantId}`, { merchantId })),
    ),
    templates.unmatchedReceived(stray(`${worker}-${turn}`, 7n)),
  ];
  // when all post at once
  await Promise.all(
    workers.map(async (worker) => {
      for (let turn = 0; turn < turns; turn += 1) {
        const entries = batch(worker, turn);
        await db.tx((tx) => post(tx, entries));
        const events = turned(
          entries.map(({ eventKey }) => eventKey),
          turn,
        );
        await db.tx((tx) => resolvePending(tx, "post", events));
      }
    }),
  );
  // then nothing is lost or doubled
  const rounds = BigInt(CONNECTIONS * turns);
  expect(await balances(books)).toEqual({
    "asset:treasury:base": [rounds * 30_007n, 0n],
    "income:fees": [rounds * 150n, 0n],
    "liability:unmatched": [rounds * 7n, 0n],
    ...Object.fromEntries(
      merchants.map((id) => [`liability:merchant:${id}:available`, [rounds * 9_950n, 0n]]),
    ),
  });
  expect(await differences(books)).toEqual({});
});

/** Starts all work behind a lock, so that every connection is at the same statement when it is lifted. */
async function atOnce<T>(table: string, work: (worker: number) => Promise<T>): Promise<T[]> {
  const owner = openDatabase({ url: books.url, log: silentLog, name: "gate", maxConnections: 2 });
  const waiting = `SELECT count(*)::int AS count
    FROM pg_locks JOIN pg_database AS place ON place.oid = database AND datname = current_database()
    WHERE NOT granted AND relation = $1::regclass`;
  let running: Promise<T[]> = Promise.resolve([]);
  await owner.tx(async (tx) => {
    await tx.execute(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
    running = Promise.all(workers.map(work));
    running.catch(() => undefined); // told by who awaits it
    await until(
      async () => (await books.query<{ count: number }>(waiting, [table]))[0]?.count === CONNECTIONS,
      "all connections wait at the gate",
      1_800, // less than the waiters' lock_timeout
    );
  });
  await owner.close();
  return running;
}

it("eight connections post the same events in other orders: each is created once, and none deadlocks", async () => {
  const pendingBefore = (await balances(books))["asset:treasury:base"]?.[1] ?? 0n;
  // of a merchant that has an account already, so that nobody waits for its opening
  const entries = Array.from({ length: 100 }, (_, n) =>
    templates.x402Credited(payment(`shared-${n}`, { merchantId: "mer_a" })),
  );
  const answers = await atOnce("ledger_transfer", (worker) => {
    const order = turned(entries, worker);
    return db.tx(async (tx) => {
      const posted = await post(tx, order);
      return order.filter((_, at) => posted[at] === "created").map(({ eventKey }) => eventKey);
    });
  });
  expect(answers.flat().sort()).toEqual(entries.map(({ eventKey }) => eventKey).sort());
  const pendingAfter = (await balances(books))["asset:treasury:base"]?.[1] ?? 0n;
  expect(pendingAfter - pendingBefore).toBe(1_000_000n);
  expect(await differences(books)).toEqual({});
});

it("eight connections meet accounts for the first time together, in other orders: each is opened once", async () => {
  const assets = Array.from({ length: 12 }, (_, n) => `USDC@chain-${n}`);
  const opening = (worker: number, asset: string) =>
    entry({ code: "test", eventKey: `open-${worker}-${asset}`, subject: null, blockNumber: null }, [
      single("in", { debit: account.treasury(asset), credit: account.unmatched(asset), amount: 1n }),
    ]);
  await atOnce("ledger_account", (worker) => {
    const entries = turned(assets, worker).map((asset) => opening(worker, asset));
    return db.tx((tx) => post(tx, entries));
  });
  const opened = await books.query<{ asset: string; debits: string }>(
    `SELECT asset, debits_posted::text AS debits FROM ledger_account
     JOIN ledger_balance ON account_id = id WHERE path LIKE 'asset:treasury:chain-%' ORDER BY asset`,
  );
  expect(opened).toEqual([...assets].sort().map((asset) => ({ asset, debits: "8" })));
});

it("eight connections want the last hundred of a bounded account: it is given out once", async () => {
  const available = account.merchantAvailable("mer_last", usdc);
  const about = (eventKey: string) => ({ code: "test", eventKey, subject: null, blockNumber: null });
  const into = { debit: account.treasury(usdc), credit: available, amount: 100n };
  const out = { debit: available, credit: account.fees(usdc), amount: 100n };
  await db.tx((tx) => post(tx, [entry(about("last-in"), [single("in", into)])]));
  const outcomes = await Promise.allSettled(
    workers.map((worker) =>
      db.tx((tx) => post(tx, [entry(about(`last-out-${worker}`), [single("out", out)])])),
    ),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect((await balances(books))[available.path]).toEqual([0n, 0n]);
  expect((await transfers(books)).filter(({ event }) => event.startsWith("last-out"))).toHaveLength(1);
});
