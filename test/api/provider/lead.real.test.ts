/** Payments at a provider that does not always answer, hears twice, or changes its mind; turn by turn, on a clock of the
 *  test's own. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { outbox } from "#store";
import { differences, transfers } from "../../facilitator/ledger/rows.ts";
import { sharedDatabase } from "../../support/db.ts";
import { gate } from "../../support/gate.ts";
import { type ManualClock, manualClock } from "../../support/manual-clock.ts";
import { caller, newCaller } from "../caller.ts";
import { fakeFacilitator, world } from "../world.ts";
import { scriptedProvider } from "./scripted-provider.ts";

const provider = scriptedProvider();
const database = sharedDatabase();
let time: ManualClock;
let api: ReturnType<typeof world>;
let call: ReturnType<typeof caller>;
beforeAll(async () => {
  time = manualClock();
  const facilitator = fakeFacilitator();
  api = world({ db: database.db, facilitator, providers: [provider.adapter], time, isSandbox: true });
  call = caller(api.app, await newCaller(database.db));
});
beforeEach(async () => {
  provider.reset();
  await database.query("UPDATE provider_order SET due_at = NULL"); // what earlier tests left waiting
});
afterEach(async () => expect(await differences(database)).toEqual({}));

let count = 0;
const fresh = () => ({ headers: { "idempotency-key": `lead-${++count}` } });

async function confirmed(): Promise<string> {
  const body = { amount: { amount: "50", asset: "USD" }, provider: "sandbox" };
  const made = await call("POST", "/v1/payment-intents", { ...fresh(), body });
  const begun = await call("POST", `/v1/payment-intents/${made.body.id}/confirm`, fresh());
  expect([begun.status, begun.body.code]).toEqual([200, undefined]);
  return made.body.id;
}
const read = async (id: string) => (await call("GET", `/v1/payments/${id}`)).body;
const stateOf = async (id: string) => (await read(id)).clearing.state;
const order = async () =>
  (
    await database.query<{ attempts: number; failure: string | null; due_at: Date | null }>(
      "SELECT attempts, failure, due_at FROM provider_order ORDER BY created_at DESC, id DESC LIMIT 1",
    )
  )[0];
async function lookNow(id: string): Promise<void> {
  const { clearing } = await read(id);
  await database.query("UPDATE provider_order SET due_at = $1 WHERE id = $2", [time.now(), clearing.id]);
}
const codesOf = async (id: string) => {
  const { clearing } = await read(id);
  return (await transfers(database))
    .filter(({ subject }) => subject === clearing.id)
    .map(({ code, phase }) => `${code} ${phase}`);
};
const credited = ["provider-received single", "clearing-settled pending", "clearing-settled post"];

/** Facts are told and everything that is due is done. */
async function turn(): Promise<void> {
  for (let told = 1; told > 0; )
    told = await outbox.deliver(database.db, 200, async (tx, facts) => {
      for (const hear of api.hearers) await hear(tx, facts);
    });
  for (const { turn: step } of api.loops) await step();
}
/** Long enough for a callback that never came to be looked for. */
async function later(seconds = 61): Promise<void> {
  await time.advance(seconds * 1_000);
  await turn();
}

describe("a provider that is away", () => {
  it("is asked for the payment again, later each time, and eight times in all", async () => {
    provider.script.failing.add("create");
    const id = await confirmed();
    const dueAfter: number[] = [];
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      await turn();
      const { due_at, attempts, failure } = (await order()) ?? {};
      expect([attempts, failure]).toEqual([attempt, "create does not answer"]);
      dueAfter.push(((due_at?.getTime() ?? 0) - time.now().getTime()) / 1_000);
      expect(await stateOf(id)).toBe("awaiting-funds");
      await time.advance((dueAfter.at(-1) ?? 0) * 1_000);
    }
    expect(dueAfter).toEqual([5, 15, 45, 120, 300, 600, 600]);
  });

  it("fails the payment when it was never asked for, before its window ends, and nobody is asked any more", async () => {
    provider.script.failing.add("create");
    const id = await confirmed();
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await turn();
      if ((await order())?.due_at) await lookNow(id);
    }
    expect(await read(id)).toMatchObject({
      paymentIntent: { status: "failed", failureReason: "provider_error" },
      clearing: { failure: { code: "provider_error" } },
    });
    expect(provider.calls).toEqual(Array.from({ length: 8 }, () => "create"));
    await later(700);
    expect([provider.calls.length, (await order())?.due_at]).toEqual([8, null]);
    expect(await codesOf(id)).toEqual([]);
  });

  it("is told again to settle; what it then has done is credited once", async () => {
    const id = await confirmed();
    await turn();
    provider.says("funds-received");
    provider.script.failing.add("settle");
    await later();
    expect([await stateOf(id), (await order())?.failure]).toEqual([
      "funds-received",
      "settle does not answer",
    ]);
    provider.script.failing.clear();
    provider.script.settled = "settled";
    await later(5);
    expect([await stateOf(id), await codesOf(id)]).toEqual(["settled", credited]);
  });

  it("gives a settlement up after eight times; a retry of the merchant tries again", async () => {
    const id = await confirmed();
    await turn();
    provider.says("funds-received");
    provider.script.failing.add("settle");
    for (let attempt = 1; attempt <= 12; attempt += 1) await later(601);
    expect((await read(id)).paymentIntent).toMatchObject({
      status: "failed",
      failureReason: "provider_error",
    });
    expect(await codesOf(id)).toEqual(["provider-received single"]);
    const settles = provider.calls.filter((what) => what === "settle").length;
    await later(601);
    expect(provider.calls.filter((what) => what === "settle")).toHaveLength(settles);
    provider.script.failing.clear();
    provider.script.settled = "settled";
    const retried = await call("POST", `/v1/payments/${id}/retry`);
    expect([retried.status, retried.body.clearing.state]).toEqual([200, "funds-received"]);
    await turn();
    expect([await stateOf(id), await codesOf(id)]).toEqual(["settled", credited]);
  });

  it("that has settled though nobody heard it is believed when it is read, also after the payment was given up", async () => {
    const id = await confirmed();
    await turn();
    provider.says("funds-received");
    provider.script.failing.add("settle");
    for (let attempt = 1; attempt <= 12; attempt += 1) await later(601);
    provider.says("settled");
    await lookNow(id);
    await turn();
    expect([await stateOf(id), await codesOf(id)]).toEqual(["settled", credited]);
  });
});

describe("a provider that is heard twice, late, or out of order", () => {
  it("is credited once, by however many that look at once", async () => {
    const id = await confirmed();
    await turn();
    provider.says("settled");
    await lookNow(id);
    await Promise.all([turn(), turn(), turn()]);
    await later();
    await lookNow(id);
    await turn();
    expect([await stateOf(id), await codesOf(id)]).toEqual(["settled", credited]);
  });

  it("is looked at again when it was made due while somebody looked", async () => {
    const id = await confirmed();
    await turn();
    provider.script.duringStatus = () => lookNow(id);
    await later();
    provider.script.duringStatus = async () => {};
    provider.says("settled");
    await turn();
    expect(await stateOf(id)).toBe("settled");
  });

  it("is looked at by one at a time: who made it due meanwhile looks afterwards", async () => {
    const id = await confirmed();
    await turn();
    provider.says("funds-received");
    provider.calls.length = 0;
    const [looking, goOn] = [gate(), gate()];
    provider.script.duringStatus = () => {
      provider.script.duringStatus = async () => {}; // whoever else looks
      looking.open();
      return goOn.passed;
    };
    await lookNow(id);
    const first = turn();
    await looking.passed;
    await lookNow(id);
    await turn();
    expect(provider.calls).toEqual([]);
    goOn.open();
    await first;
    expect(provider.calls).toEqual(["status", "settle"]);
    provider.says("settled");
    await turn();
    expect([await stateOf(id), await codesOf(id)]).toEqual(["settled", credited]);
  });

  it("stays with who took it over from a look that took too long", async () => {
    const id = await confirmed();
    await turn();
    const { clearing } = await read(id);
    const taken = new Date(time.now().getTime() + 90_000);
    provider.script.duringStatus = async () => {
      await database.query("UPDATE provider_order SET leased_until = $1 WHERE id = $2", [taken, clearing.id]);
    };
    await lookNow(id);
    await turn();
    provider.script.duringStatus = async () => {};
    const rows = await database.query("SELECT leased_until FROM provider_order WHERE id = $1", [clearing.id]);
    expect(rows).toEqual([{ leased_until: taken }]);
  });

  it("is looked at by somebody else when who looked does not come back within a minute", async () => {
    const id = await confirmed();
    await turn();
    provider.says("settled");
    const { clearing } = await read(id);
    const until = new Date(time.now().getTime() + 60_000);
    await database.query("UPDATE provider_order SET due_at = $1, leased_until = $1 WHERE id = $2", [
      until,
      clearing.id,
    ]);
    await later(59);
    expect(await stateOf(id)).toBe("awaiting-funds");
    await later(1);
    expect(await stateOf(id)).toBe("settled");
  });

  it("does not lead back", async () => {
    const id = await confirmed();
    await turn();
    provider.says("settled");
    await later();
    for (const state of ["awaiting-funds", "funds-detected", "failed", "closed"] as const) {
      provider.says(state);
      await lookNow(id);
      await turn();
      expect(await stateOf(id)).toBe("settled");
    }
    expect(await codesOf(id)).toEqual(credited);
  });

  it("is not believed about another amount than was asked for: that is kept in sight, and nothing is booked", async () => {
    const id = await confirmed();
    await turn();
    provider.says("funds-received", 49_999_999n);
    await later();
    expect([await stateOf(id), await codesOf(id)]).toEqual(["awaiting-funds", []]);
    expect((await order())?.failure).toContain("another amount");
  });
});

describe("a payment that is over", () => {
  it("is closed at the provider when its window has ended, and money that came all the same is taken", async () => {
    const id = await confirmed();
    await turn();
    await later(32 * 60);
    await turn();
    expect(await stateOf(id)).toBe("expired");
    expect(provider.calls).toContain("close");
    provider.says("funds-received");
    provider.script.settled = "settled";
    await lookNow(id);
    await turn();
    expect([await stateOf(id), await codesOf(id)]).toEqual(["settled", credited]);
  });

  it("gives back what was paid in the moment in which it was cancelled, and books nothing", async () => {
    const id = await confirmed();
    await turn();
    await call("POST", `/v1/payment-intents/${id}/cancel`, fresh());
    provider.says("funds-received");
    await turn();
    const { clearing } = await read(id);
    expect([clearing.state, await codesOf(id)]).toEqual(["cancelled", []]);
    expect(provider.refunds).toEqual([
      { id: clearing.id, reference: clearing.providerReference, amount: 50_000_000n },
    ]);
  });

  it("that was cancelled before the provider was asked is never asked for", async () => {
    const id = await confirmed();
    await call("POST", `/v1/payment-intents/${id}/cancel`, fresh());
    await turn();
    await later();
    expect([await stateOf(id), provider.calls]).toEqual(["cancelled", []]);
  });
});

describe("a refund at a provider", () => {
  const everything = { amount: { amount: "50", asset: "USDC" } };
  async function settled(): Promise<string> {
    const id = await confirmed();
    await turn();
    provider.says("settled");
    await later();
    expect(await stateOf(id)).toBe("settled");
    return id;
  }
  const refund = async (id: string) =>
    (await call("POST", `/v1/payments/${id}/refunds`, { ...fresh(), body: everything })).body.id as string;
  const refundOf = async (id: string) => (await call("GET", `/v1/refunds/${id}`)).body;
  const rowsOf = async (id: string) =>
    (await transfers(database)).filter(({ subject }) => subject === id).map(({ code }) => code);

  it("is asked for again under the same name while the provider is away, and goes once", async () => {
    const id = await refund(await settled());
    provider.script.failing.add("refund");
    await turn();
    expect([(await refundOf(id)).state, (await order())?.failure]).toEqual([
      "processing",
      "refund does not answer",
    ]);
    provider.script.failing.clear();
    await later(5);
    await later();
    expect(provider.refunds.map((each) => each.id)).toEqual([id, id]);
    expect((await refundOf(id)).state).toBe("succeeded");
    expect(await rowsOf(id)).toEqual(["refund-created", "provider-refunded"]);
  });

  it("that the provider could not send gives the money back to the merchant", async () => {
    const id = await refund(await settled());
    provider.script.refund = "pending";
    await turn();
    expect((await refundOf(id)).state).toBe("processing");
    provider.script.refund = "failed";
    await later();
    expect(await refundOf(id)).toMatchObject({ state: "failed", failureReason: expect.any(String) });
    expect(await rowsOf(id)).toEqual(["refund-created", "refund-released"]);
  });

  it("that the merchant cancelled in time is never asked for, and one on its way cannot be cancelled", async () => {
    const id = await refund(await settled());
    expect((await call("POST", `/v1/refunds/${id}/cancel`, fresh())).body.state).toBe("cancelled");
    await turn();
    expect(provider.refunds).toEqual([]);
    const other = await refund(await settled());
    provider.script.refund = "pending";
    await turn();
    const answer = await call("POST", `/v1/refunds/${other}/cancel`, fresh());
    expect([answer.status, answer.body.code]).toEqual([409, "refund_not_cancellable"]);
  });
});
