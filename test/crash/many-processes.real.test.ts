/** Two processes that answer and two that work, on one database and one chain: all payments settle once, though the worker
 *  that has the leases is killed amid them. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Answer, books, get, newMerchant, startWorld, until } from "../support/house.ts";
import { type ServiceProcess, standBy } from "../support/processes.ts";
import { claimOf, ledgerOf, stateOf } from "../support/records.ts";
import { expectAtRest, newPayment, type Payment } from "../support/scene.ts";

vi.setConfig({ testTimeout: 300_000 });

const LANES = 2;
const COUNT = 16;
/** Leases so long that no process of a busy machine loses one by being slow, and time for its answers. */
const SETTINGS = { leaseSeconds: 5, maxWaitMs: 60_000 };
let world: Awaited<ReturnType<typeof startWorld>>;
let merchant: Awaited<ReturnType<typeof newMerchant>>;
let webs: readonly ServiceProcess[] = [];
let leader: ServiceProcess;
let other: ServiceProcess;

/** Who has the leases of the chain and its lanes. */
async function holders(): Promise<readonly (string | null)[]> {
  const rows = await world.database.query<{ holder: string | null }>(
    `SELECT lease_holder AS holder FROM observer WHERE lease_until > now()
     UNION ALL SELECT lease_holder FROM signer WHERE lease_until > now()`,
  );
  return rows.map(({ holder }) => holder);
}

/** The house in this process registers resources and looks; it has no lanes. */
beforeAll(async () => {
  world = await startWorld({ role: "web", blockTimeSeconds: 1 });
  merchant = await newMerchant(world);
  const roles = ["worker", "worker", "web", "web"] as const;
  const [first, ...rest] = await Promise.all(
    roles.map((role) => standBy(world.dev, world.database, { role, lanes: LANES, settings: SETTINGS })),
  );
  if (!first) throw new Error("no process");
  leader = await first.start();
  await until(async () => (await holders()).length === 1 + LANES, "the first worker has every lease", 60_000);
  const started = await Promise.all(rest.map((each) => each.start()));
  other = started[0] ?? leader;
  webs = started.slice(1);
}, 300_000);
afterAll(async () => {
  await Promise.all([leader, other, ...webs].map((each) => each?.stop()));
  await world.stop();
});

const idOf = ({ nonce }: Payment) => ({ "Idempotency-Key": `many processes ${nonce}` });

/** As a client does: while the outcome is open, or nothing could be checked, the identical request again. */
async function settled(paid: Payment, baseUrl: string): Promise<Answer> {
  let answer = await paid.settle(idOf(paid), baseUrl);
  await until(
    async () => {
      const { errorReason } = answer.body;
      if (!["settlement_pending", "unexpected_settle_error"].includes(errorReason)) return true;
      answer = await paid.settle(idOf(paid), baseUrl);
      return false;
    },
    "the payment has an outcome",
    120_000,
  );
  return answer;
}

describe("a process with a role", () => {
  it("answers everything as web, and as worker whether it is well", async () => {
    for (const { baseUrl } of webs) {
      expect(await get(baseUrl, "/health/ready")).toMatchObject({ status: 200, body: { status: "ready" } });
      expect(await get(baseUrl, "/x402/supported")).toMatchObject({ status: 200, body: { kinds: [{}] } });
    }
    for (const { baseUrl } of [leader, other]) {
      expect(await get(baseUrl, "/health")).toMatchObject({ status: 200, body: { status: "ok" } });
      expect(await get(baseUrl, "/health/ready")).toMatchObject({ status: 200 });
      for (const path of ["/x402/supported", "/v1/merchant", "/openapi.json"])
        expect(await get(baseUrl, path)).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
  });
});

describe("two web processes and two workers", () => {
  it("settle every payment once, though the worker with the leases is killed midway", async () => {
    const resource = await merchant.register();
    const terms = { validBefore: BigInt(Math.floor(Date.now() / 1000) + 3_600) };
    const payments = await Promise.all(
      Array.from({ length: COUNT }, () => newPayment(world, merchant, { resource, terms })),
    );
    const webOf = (i: number) => webs[i % webs.length]?.baseUrl ?? "";
    const [before] = await holders();
    const [first, second] = [payments.slice(0, 4), payments.slice(4)];
    // the first settle while all is well
    const early = await Promise.all(first.map((paid, i) => settled(paid, webOf(i))));
    for (const { body } of early) expect([body.success, body.errorReason]).toEqual([true, undefined]);
    // the others are under way when the worker dies
    const answering = second.map((paid, i) => settled(paid, webOf(i)));
    const underWay = async () => await Promise.all(second.map(({ nonce }) => stateOf(world.database, nonce)));
    await until(async () => (await underWay()).includes("submitting"), "some of them are sent", 60_000);
    await leader.stop();
    const answers = await Promise.all(answering);
    for (const { body } of answers) expect([body.success, body.errorReason]).toEqual([true, undefined]);
    // the other worker has every lease
    await until(async () => (await holders()).length === 1 + LANES, "the leases are taken over", 60_000);
    const now = new Set(await holders());
    expect(now.size).toBe(1);
    expect(now.has(before ?? "")).toBe(false);
    // each was credited once, and nobody else is told of it as fresh, at either process
    await expectAtRest(world);
    for (const [i, { nonce }] of payments.entries()) {
      const claim = await claimOf(world.database, nonce);
      expect(claim).toMatchObject({ state: "final", credit_epoch: 0 });
      expect(await ledgerOf(world.database, claim?.id ?? "")).toEqual([
        "pending net treasury → available 9950",
        "pending fee treasury → fees 50",
        "post net treasury → available 9950",
        "post fee treasury → fees 50",
      ]);
      expect((await payments[i]?.settle({}, webOf(i + 1)))?.status).toBe(409);
    }
    const { available, fees, treasury, chain } = await books(world.dev, world.database);
    expect(available.posted).toBe(BigInt(COUNT) * 9_950n);
    expect(fees.posted).toBe(BigInt(COUNT) * 50n);
    expect(treasury).toBe(chain);
  });
});
