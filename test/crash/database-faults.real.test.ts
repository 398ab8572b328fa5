/** A database that goes away, takes no writes, or has no connection or no room left, and comes back, while payments are under way. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import { gate } from "../support/gate.ts";
import {
  type Answer,
  type Merchant,
  newMerchant,
  type RunningHouse,
  startHouse,
  until,
} from "../support/house.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { type ServiceProcess, startProcess } from "../support/processes.ts";
import { claimOf, ledgerOf } from "../support/records.ts";
import { expectAtRest, newPayment, type Payment, type Place } from "../support/scene.ts";

const PAYMENTS = 24;
const BLOCK_MS = 200;
let dev: DevChain;
let database: OwnPostgres;
let looking: RunningHouse;
let service: ServiceProcess;
let place: Place;
let merchant: Merchant;
let hasEnded = false;

/** The service that is hit runs in a process of its own: that it does not exit is part of what is shown. */
beforeAll(async () => {
  [dev, database] = await Promise.all([startDevChain(), startOwnPostgres({ diskMegabytes: 400 })]);
  looking = await startHouse(dev, database, { role: "web" });
  service = await startProcess(dev, database);
  void service.ended.then(() => {
    hasEnded = true;
  });
  merchant = await newMerchant(looking);
  place = { dev, database, baseUrl: service.baseUrl };
});
afterAll(async () => {
  await service?.stop();
  await looking?.stop();
  await database?.drop();
  await dev?.stop();
});

async function somePayments(): Promise<readonly Payment[]> {
  const resource = await merchant.register();
  const payments: Payment[] = [];
  for (let i = 0; i < PAYMENTS; i += 1) payments.push(await newPayment(place, merchant, { resource }));
  return payments;
}

/** Repeats the identical request, as a client does, until it is told success; keeps every answer on the way. */
async function insist(paid: Payment, told: Answer[]): Promise<Answer> {
  const id = { "Idempotency-Key": `insist on ${paid.nonce}` };
  for (;;) {
    const answer = await paid.settle(id);
    told.push(answer);
    if (answer.body.success) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Payments one after the other, half of them before `fault` has struck, as it tells, and half since; all end settled
 *  once, and nobody was told anything wrong. It is felt where some of them have to ask again. */
async function expectUnharmed(fault: (hasStruck: () => void) => Promise<void>, isFelt = true): Promise<void> {
  const payments = await somePayments();
  const told: Answer[] = [];
  const blocks = setInterval(() => void dev.anvil.mine(), BLOCK_MS);
  onTestFinished(() => clearInterval(blocks));
  const struck = gate();
  const settling = payments.map(async (paid, i) => {
    if (i >= PAYMENTS / 2) await struck.passed;
    await new Promise((resolve) => setTimeout(resolve, (i % (PAYMENTS / 2)) * 50));
    return insist(paid, told);
  });
  await fault(struck.open);
  const recovered = Date.now();
  const answers = await Promise.all(settling);
  clearInterval(blocks);
  // nobody was told an error of ours as a 500, or as a verdict about the payment
  const words = told.map(({ status, body }) =>
    [status, body.success ? "success" : body.errorReason].join(" "),
  );
  const open = ["200 settlement_pending", "503 settlement_pending", "503 unexpected_settle_error"];
  expect(words.filter((word) => word !== "200 success" && !open.includes(word))).toEqual([]);
  if (isFelt) expect(told.length).toBeGreaterThan(PAYMENTS);
  expect(Date.now() - recovered).toBeLessThan(15_000);
  expect(hasEnded).toBe(false);
  // and each was paid and booked once
  await expectAtRest(place);
  for (const [i, paid] of payments.entries()) {
    const claim = await claimOf(database, paid.nonce);
    expect(claim).toMatchObject({ state: "final", included_tx: answers[i]?.body.transaction });
    expect(await ledgerOf(database, claim?.id ?? "")).toEqual([
      "pending net treasury → available 9950",
      "pending fee treasury → fees 50",
      "post net treasury → available 9950",
      "post fee treasury → fees 50",
    ]);
    expect(await paid.settle()).toMatchObject({ status: 409, body: { errorReason: "duplicate_settlement" } });
  }
}

describe("backends killed inside their transactions", () => {
  it("every payment ends settled once, and the process lives on", async () => {
    let killed = 0;
    await expectUnharmed(async (hasStruck) => {
      await until(async () => {
        const rows = await database.query<{ done: boolean }>(
          `SELECT pg_terminate_backend(pid) AS done FROM pg_stat_activity
           WHERE application_name LIKE 'farebox-%' AND application_name <> 'farebox-test' AND xact_start IS NOT NULL`,
        );
        killed += rows.length;
        if (killed > 0) hasStruck();
        return killed >= 20;
      }, "twenty transactions have been killed");
      // Which of them they were is chance's: all may have been of loops, which nobody asks.
    }, false);
  });
});

describe("a PostgreSQL that restarts under load", () => {
  it.each(["fast", "immediate"] as const)("%s: every payment ends settled once", async (how) => {
    await expectUnharmed(async (hasStruck) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      hasStruck();
      await database.restart(how);
    });
  });
});

const isReady = () => fetch(`${service.baseUrl}/health/ready`);

const createIntent = async () => {
  const response = await fetch(`${service.baseUrl}/v1/payment-intents`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${merchant.secretKey}`,
      "Content-Type": "application/json",
      "Idempotency-Key": crypto.randomUUID(),
    },
    body: JSON.stringify({ amount: { amount: "1.00", asset: "USD" } }),
  });
  return (await response.json()) as { readonly status: number | string; readonly code?: string };
};

describe("a PostgreSQL whose connections are all taken by somebody else", () => {
  const taken: pg.Client[] = [];
  const giveBack = () => Promise.all(taken.splice(0).map((client) => client.end()));

  /** The state that the server refuses one more with. */
  async function takeAll(): Promise<string | undefined> {
    for (;;) {
      const client = new pg.Client({ connectionString: database.url });
      client.on("error", () => undefined);
      try {
        await client.connect();
      } catch (error) {
        return (error as { readonly code?: string }).code;
      }
      taken.push(client);
    }
  }

  it("who finds none is told 503; every payment ends settled once", async () => {
    onTestFinished(async () => void (await giveBack()));
    await expectUnharmed(async (hasStruck) => {
      await until(async () => {
        expect(await takeAll()).toBe("53300");
        await taken[0]?.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name LIKE 'farebox-%' AND application_name <> 'farebox-test'`,
        );
        expect(await takeAll()).toBe("53300");
        const { status, code } = await createIntent();
        return status === 503 && code === "unavailable";
      }, "the service finds none");
      hasStruck();
      await giveBack();
    }, false);
  });
});

describe("a PostgreSQL that takes no writes for a while, as after a fail-over", () => {
  const takeWrites = async (setting: "on" | "off") => {
    const readOnly = setting === "on" ? "off" : "on";
    await database.query(`ALTER SYSTEM SET default_transaction_read_only = ${readOnly}`);
    await database.query("SELECT pg_reload_conf()");
  };

  it("nobody is told that it is ready or that we erred; every payment ends settled once", async () => {
    await expectUnharmed(async (hasStruck) => {
      onTestFinished(() => takeWrites("on"));
      await takeWrites("off");
      hasStruck();
      await until(async () => (await isReady()).status === 503, "it says that it is not ready");
      expect(await (await isReady()).json()).toMatchObject({ checks: { database: "read-only" } });
      expect(await createIntent()).toMatchObject({ status: 503, code: "unavailable" });
      await takeWrites("on");
    }, false);
    expect((await isReady()).status).toBe(200);
  });
});

describe("a PostgreSQL whose disk is full for a while", () => {
  it("what has no room is told 503, and leaves nothing behind; every payment ends settled once", async (test) => {
    const { disk } = database;
    if (!disk) return test.skip("a disk can be mounted by root on Linux only");
    onTestFinished(() => disk.empty());
    const intents = async () =>
      (await database.query("SELECT FROM payment_intent WHERE source = 'api'")).length;
    const before = await intents();
    let created = 0;
    await expectUnharmed(async (hasStruck) => {
      await disk.fill();
      await until(async () => {
        const answer = await createIntent();
        if (answer.status === "created") created += 1;
        else expect(answer).toMatchObject({ status: 503, code: "unavailable" });
        return answer.status === 503;
      }, "there is no room for one more");
      hasStruck();
      await disk.empty();
    }, false);
    expect(await intents()).toBe(before + created);
  });

  it("and where not even its log has room, it ends; it is started again, and every payment ends settled once", async (test) => {
    const { disk } = database;
    if (!disk) return test.skip("a disk can be mounted by root on Linux only");
    onTestFinished(() => disk.empty());
    await expectUnharmed(async (hasStruck) => {
      await disk.fill();
      await until(async () => {
        await database.query("SELECT pg_switch_wal()").catch(() => undefined);
        return (await isReady()).status === 503;
      }, "the database has ended");
      hasStruck();
      expect(await createIntent()).toMatchObject({ status: 503, code: "unavailable" });
      await disk.empty();
      await database.restart("immediate");
    });
  });
});
