/** Repetitions: an id stands for one payload, and an authorization that was claimed for one payment. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Checkpoint } from "#facilitator";
import { fault } from "#kernel/fault";
import { chainFaults } from "../support/chain-faults.ts";
import { gate } from "../support/gate.ts";
import {
  type Answer,
  newPayer,
  type RunningHouse,
  sharedMerchant,
  sharedWorld,
  startHouse,
} from "../support/house.ts";
import { attemptsOf, claimOf } from "../support/records.ts";
import { expectAtRest, newPayment, type Payment } from "../support/scene.ts";

const faults = chainFaults();
/** The database fails at these steps, once each. */
const failing = new Map<Checkpoint, "database_unavailable" | "commit_unknown">();

const world = sharedWorld({
  wrapChain: faults.wrap,
  async checkpoint(step) {
    const code = failing.get(step);
    failing.delete(step);
    if (code) throw fault(code);
  },
});
const merchant = sharedMerchant(world);

const withoutReplayed = ({ body: { extra, ...body } }: Answer) => ({
  ...body,
  extra: { ...extra, replayed: undefined },
});

async function expectReplayed(settle: () => Promise<Answer>): Promise<void> {
  const first = await settle();
  expect(first).toMatchObject({ status: 200, body: { success: true } });
  expect(first.headers.get("idempotent-replayed")).toBeNull();
  const [second, third] = [await settle(), await settle()];
  expect(second.status).toBe(200);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(second.body.extra.replayed).toBe(true);
  expect(withoutReplayed(second)).toEqual(withoutReplayed(first));
  expect(JSON.stringify(third.body)).toBe(JSON.stringify(second.body));
}

describe("a settle that carries an id", () => {
  it("by Idempotency-Key: the stored answer comes back, and says that it is one", async () => {
    const paid = await newPayment(world, merchant);
    await expectReplayed(() => paid.settle({ "Idempotency-Key": "order 1" }));
    // and without the id it is a second settle
    expect(await paid.settle()).toMatchObject({ status: 409, body: { errorReason: "duplicate_settlement" } });
    // and it is the same after finality
    await expectAtRest(world);
    expect((await paid.settle({ "Idempotency-Key": "order 1" })).body).toMatchObject({ success: true });
  });

  it("by payment-identifier: the same, for whoever has the payload", async () => {
    const identifier = { info: { required: false, id: "pay_0123456789abcdef" } };
    const paid = await newPayment(world, merchant, {
      terms: { extensions: { "payment-identifier": identifier } },
    });
    await expectReplayed(() => paid.settle());
    expect(await paid.verify()).toMatchObject({ body: { isValid: true } });
  });

  it("by payment-identifier, with another payload under the same: verify says so before settle does", async () => {
    const resource = await merchant.register();
    const identifier = { info: { required: false, id: "pay_another_payload" } };
    const terms = { extensions: { "payment-identifier": identifier } };
    const [one, other] = [
      await newPayment(world, merchant, { resource, terms }),
      await newPayment(world, merchant, { resource, terms }),
    ];
    expect(await other.verify()).toMatchObject({ body: { isValid: true } });
    expect((await one.settle()).body.success).toBe(true);
    // also where it could not be paid, as settle has it
    const poor = await newPayment(world, merchant, { resource, terms, payer: await newPayer(world.dev, 0n) });
    for (const reused of [other, poor]) {
      expect(await reused.verify()).toMatchObject({
        status: 200,
        body: {
          isValid: false,
          invalidReason: "invalid_payload",
          invalidMessage: expect.stringContaining("payment identifier"),
          payer: expect.any(String),
        },
      });
      expect(await reused.settle()).toMatchObject({ status: 409, body: { code: "idempotency_key_reused" } });
    }
    expect(await one.verify()).toMatchObject({ body: { isValid: true } });
    // and the same id is free for something else
    expect(await (await newPayment(world, merchant, { terms })).verify()).toMatchObject({
      body: { isValid: true },
    });
  });

  it("with another payload under the same id: 409, and nothing of it is charged", async () => {
    const resource = await merchant.register();
    const [one, other] = [
      await newPayment(world, merchant, { resource }),
      await newPayment(world, merchant, { resource }),
    ];
    const id = { "Idempotency-Key": "order 2" };
    expect((await one.settle(id)).body.success).toBe(true);
    expect(await other.settle(id)).toMatchObject({
      status: 409,
      body: { code: "idempotency_key_reused", success: false, transaction: "" },
    });
    expect(await claimOf(world.database, other.nonce)).toBeNull();
    // also where it could not be paid: the id is what its caller has to look at first
    const poor = await newPayment(world, merchant, { resource, payer: await newPayer(world.dev, 0n) });
    expect(await poor.settle(id)).toMatchObject({ status: 409, body: { code: "idempotency_key_reused" } });
  });

  it("with two payloads under one id at the same time: one is charged", async () => {
    const resource = await merchant.register();
    for (let round = 0; round < 5; round += 1) {
      const both: Payment[] = [];
      for (let i = 0; i < 2; i += 1) both.push(await newPayment(world, merchant, { resource }));
      const id = { "Idempotency-Key": `order 3, round ${round}` };
      const answers = await Promise.all(both.map((paid) => paid.settle(id)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      const claims = await Promise.all(both.map(({ nonce }) => claimOf(world.database, nonce)));
      expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
    }
  });

  it("whose payment was refused: the id is free for a better one", async () => {
    const resource = await merchant.register();
    const poor = await newPayment(world, merchant, { resource, payer: await newPayer(world.dev, 0n) });
    const id = { "Idempotency-Key": "order 4" };
    expect((await poor.settle(id)).body).toMatchObject({ errorReason: "insufficient_funds" });
    const rich = await newPayment(world, merchant, { resource });
    expect((await rich.settle(id)).body).toMatchObject({ success: true });
  });

  it("and is sent a hundred times at once: one fresh success, all others its replay", async () => {
    const paid = await newPayment(world, merchant);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => paid.settle({ "Idempotency-Key": "order 5" })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const fresh = answers.filter(({ headers }) => headers.get("idempotent-replayed") === null);
    expect(fresh.map(({ body }) => body)).toEqual([expect.objectContaining({ success: true })]);
    expect(new Set(answers.map(({ body }) => body.transaction)).size).toBe(1);
    expect(await attemptsOf(world.database, paid.nonce)).toHaveLength(1);
  });
});

describe("a repetition that looks at the chain while another process settles the first", () => {
  let other: RunningHouse;
  beforeAll(async () => {
    other = await startHouse(world.dev, world.database);
  });
  afterAll(() => other.stop());

  /** The next look at the chain is held, and finds the money gone: what the first settle took is missing to the second. */
  function lookHeld() {
    const held = gate();
    const looking = gate();
    onTestFinished(held.open);
    faults.set({
      readAuthorizations: (real) => async (from, items) => {
        faults.clear();
        looking.open();
        await held.passed;
        const states = await real.readAuthorizations(from, items);
        return states.map((state) => ({ ...state, used: false, balance: 0n }));
      },
    });
    return { looking: looking.passed, letGo: held.open };
  }

  it("is told of the settlement, never that its payer has no money", async () => {
    const paid = await newPayment(world, merchant);
    const look = lookHeld();
    const second = paid.settle();
    await look.looking;
    const first = await paid.settle({}, other.baseUrl);
    expect(first.body).toMatchObject({ success: true });
    look.letGo();
    expect(await second).toMatchObject({
      status: 409,
      body: { errorReason: "duplicate_settlement", transaction: first.body.transaction },
    });
  });

  it("and a verify of it never says so either", async () => {
    const paid = await newPayment(world, merchant);
    const look = lookHeld();
    const verified = paid.verify();
    await look.looking;
    expect((await paid.settle({}, other.baseUrl)).body).toMatchObject({ success: true });
    look.letGo();
    expect(await verified).toMatchObject({ body: { isValid: false, invalidReason: "duplicate_settlement" } });
  });
});

describe("a database that fails in the middle of a settle", () => {
  it("before the claim commits: 503, nothing was recorded", async () => {
    const paid = await newPayment(world, merchant);
    failing.set("before-claim", "database_unavailable");
    expect(await paid.settle()).toMatchObject({
      status: 503,
      body: { success: false, errorReason: "unexpected_settle_error", transaction: "" },
    });
    expect(await claimOf(world.database, paid.nonce)).toBeNull();
    expect((await paid.settle()).body).toMatchObject({ success: true });
  });

  it("while nobody can say whether the claim was recorded: 503 pending, and the repetition tells", async () => {
    const paid = await newPayment(world, merchant);
    failing.set("claimed", "commit_unknown");
    expect(await paid.settle()).toMatchObject({
      status: 503,
      body: { success: false, errorReason: "settlement_pending", transaction: "" },
    });
    expect((await paid.settle()).body).toMatchObject({ success: true });
  });

  it.each(["first", "second"])(
    "when the %s caller would be granted: pending, never a failure",
    async (which) => {
      const paid = await newPayment(world, merchant);
      // Who will ask by an id again is granted apart from the credit, together with the answer that is kept.
      const id = { "Idempotency-Key": `the ${which} caller fails` };
      if (which === "second") {
        failing.set("before-grant", "database_unavailable");
        expect((await paid.settle(id)).body).toMatchObject({ errorReason: "settlement_pending" });
      }
      failing.set("before-grant", "database_unavailable");
      const pending = await paid.settle(id);
      expect(pending).toMatchObject({
        status: 200,
        body: { success: false, errorReason: "settlement_pending", extra: { paymentId: expect.any(String) } },
      });
      expect((await paid.settle(id)).body).toMatchObject({
        success: true,
        extra: { paymentId: pending.body.extra.paymentId },
      });
      expect(await paid.settle()).toMatchObject({ status: 409 });
    },
  );

  it("while nobody can say whether a grant was made: success all the same, and to nobody else", async () => {
    const paid = await newPayment(world, merchant);
    failing.set("granted", "commit_unknown");
    const id = { "Idempotency-Key": "whose grant is not known" };
    expect((await paid.settle(id)).body).toMatchObject({ success: true });
    expect(failing.has("granted")).toBe(false);
    expect(await paid.settle()).toMatchObject({
      status: 409,
      body: { errorReason: "duplicate_settlement" },
    });
  });

  it.each<[string, Checkpoint, "database_unavailable" | "commit_unknown"]>([
    ["before the credit commits", "before-credit", "database_unavailable"],
    ["while nobody can say whether it did", "credited", "commit_unknown"],
  ])("%s: the caller who waits is told success all the same, and nobody after it", async (_, step, code) => {
    const paid = await newPayment(world, merchant);
    failing.set(step, code);
    expect((await paid.settle()).body).toMatchObject({ success: true });
    expect(failing.has(step)).toBe(false);
    expect(await paid.settle()).toMatchObject({
      status: 409,
      body: { errorReason: "duplicate_settlement" },
    });
    expect(await claimOf(world.database, paid.nonce)).toMatchObject({ granted: true, credit_epoch: 0 });
  });
});

describe("an authorization that was claimed", () => {
  it("pays for nothing that costs more by now", async () => {
    const paid = await newPayment(world, merchant);
    expect((await paid.settle()).body).toMatchObject({ success: true });
    // as if nobody had heard of the success
    await world.database.query(
      "UPDATE claim SET success_granted_at = NULL, success_granted_to = NULL WHERE nonce = decode($1, 'hex')",
      [paid.nonce.slice(2)],
    );
    expect((await paid.verify()).body).toMatchObject({ isValid: true });
    const asked = paid.body.paymentRequirements;
    asked.amount = "1000000";
    expect((await paid.verify()).body).toMatchObject({
      isValid: false,
      invalidReason: "invalid_payment_requirements",
    });
    expect((await paid.settle()).body).toMatchObject({
      success: false,
      errorReason: "invalid_payment_requirements",
      errorMessage: expect.stringContaining("pays 10000 atomic units"),
    });
    asked.amount = "10000";
    expect((await paid.settle()).body).toMatchObject({ success: true });
  });
});

describe("a caller who goes away", () => {
  it("before its turn has come: nothing is claimed for it, and it may ask again", async () => {
    // given as many settles as are looked at together, all held at the chain
    const held = gate();
    const looking = gate();
    onTestFinished(held.open);
    faults.set({
      readAuthorizations: (real) => async (from, items) => {
        looking.open();
        await held.passed;
        return real.readAuthorizations(from, items);
      },
    });
    const first = await newPayment(world, merchant);
    const crowd = Array.from({ length: 200 }, () => first.settle());
    await looking.passed;
    // when somebody comes after them and goes away again
    const paid = await newPayment(world, merchant);
    const going = new AbortController();
    const url = `${world.baseUrl}/x402/resources/${paid.resource.id}/settle`;
    const headers = { "Content-Type": "application/json" };
    const left = fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify(paid.body),
      signal: going.signal,
    });
    const gone = expect(left).rejects.toThrow("aborted");
    // What is asked on another connection is answered after what was sent before it has been read.
    await fetch(`${world.baseUrl}/health`);
    going.abort();
    await gone;
    await fetch(`${world.baseUrl}/health`);
    held.open();
    faults.clear();
    // then the crowd is answered and nothing was claimed for who had left
    const answers = await Promise.all(crowd);
    expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
    expect(await claimOf(world.database, paid.nonce)).toBeNull();
    expect((await paid.settle()).body).toMatchObject({ success: true });
    await expectAtRest(world);
  });
});
