/** The simulated provider as it is: a process, its HTTP, its signed calls back. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSafeFetch, sandboxAccess, sandboxProvider } from "#api";
import { isAlive } from "../../../src/dev/processes.ts";
import { type SandboxProviderProcess, startSandboxProvider } from "../../../src/dev/provider-process.ts";
import { listenForCallbacks } from "../../support/callback-listener.ts";
import { until } from "../../support/house.ts";

const access = sandboxAccess("a master secret of tests");
const fetch = createSafeFetch({ allowLocal: true, userAgent: "test" });
const order = { id: "clr_1", asset: "USDC", amount: 12_340_000n, metadata: {} };

let dataDir: string;
let listener: Awaited<ReturnType<typeof listenForCallbacks>>;
let running: SandboxProviderProcess;
const start = async () => {
  running = await startSandboxProvider({ dataDir, access, servicePort: listener.port, paceMs: 20 });
  return sandboxProvider({ baseUrl: running.baseUrl, access, fetch });
};
let provider: Awaited<ReturnType<typeof start>>;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "farebox-provider-"));
  listener = await listenForCallbacks();
  provider = await start();
});
afterEach(async () => {
  await running.stop();
  await listener.stop();
  await rm(dataDir, { recursive: true });
});

async function untilState(reference: string, state: string) {
  await until(async () => (await provider.getStatus(reference)).state === state, `it is ${state}`);
}
let count = 1;
/** A clearing that was paid and whose money is there. */
async function received(metadata: Record<string, string> = {}) {
  const { reference } = await provider.createClearing({ ...order, id: `clr_${++count}`, metadata });
  if (metadata["sandbox.outcome"] === undefined || metadata["sandbox.outcome"] === "not-settled")
    await provider.pay(reference);
  await untilState(reference, "funds-received");
  return reference;
}

describe("the sandbox provider", () => {
  it("takes an order once, waits for its payer, then for the word to settle", async () => {
    const asked = await provider.createClearing(order);
    expect(asked).toEqual({
      reference: expect.stringMatching(/^sbx_/),
      state: "awaiting-funds",
      received: 0n,
      failure: null,
    });
    expect(await provider.createClearing(order)).toEqual(asked);
    expect(await provider.pay(asked.reference)).toMatchObject({
      state: "funds-detected",
      received: order.amount,
    });
    await untilState(asked.reference, "funds-received");
    expect(await provider.settle(asked.reference)).toMatchObject({ state: "settling" });
    await untilState(asked.reference, "settled");
    // told again: nothing changes
    expect(await provider.settle(asked.reference)).toMatchObject({ state: "settled" });
    await expect(provider.pay(asked.reference)).rejects.toThrow("409");
  });

  it("takes no money once it was closed", async () => {
    const { reference } = await provider.createClearing(order);
    expect(await provider.close(reference)).toMatchObject({ state: "closed", received: 0n });
    await expect(provider.pay(reference)).rejects.toThrow("409");
    expect(await provider.close(reference)).toMatchObject({ state: "closed" });
    const paid = await received();
    expect(await provider.close(paid)).toMatchObject({ state: "funds-received" });
  });

  it("calls back at each step with what any verifier of Standard Webhooks accepts, and with an id of its own", async () => {
    const reference = await received();
    await until(async () => listener.got.length === 3, "three calls");
    const verifier = new Webhook(access.webhookSecret);
    for (const { path, headers, body } of listener.got) {
      expect(path).toBe("/v1/provider-webhooks/sandbox");
      expect(verifier.verify(body, headers)).toMatchObject({
        id: headers["webhook-id"],
        type: "clearing.updated",
        data: { id: reference, reference: `clr_${count}` },
      });
      const [event] = await provider.verifyWebhook(Buffer.from(body), new Headers(headers), new Date());
      expect(event).toEqual({ id: headers["webhook-id"], type: "clearing.updated", reference });
    }
    expect(new Set(listener.got.map(({ headers }) => headers["webhook-id"])).size).toBe(3);
  });

  it("calls again when it was not heard, with the same id", async () => {
    listener.answerWith(503);
    await provider.createClearing(order);
    await until(async () => listener.got.length === 2, "a second call");
    const ids = listener.got.map(({ headers }) => headers["webhook-id"]);
    expect(ids[0]).toBe(ids[1]);
  });

  it.each([
    ["paid", "funds-received", null],
    ["declined", "failed", "declined"],
  ])("does by itself what the metadata asks: %s", async (outcome, state, failure) => {
    const { reference } = await provider.createClearing({
      ...order,
      metadata: { "sandbox.outcome": outcome },
    });
    await untilState(reference, state);
    expect(await provider.getStatus(reference)).toMatchObject({
      failure,
      received: state === "failed" ? 0n : order.amount,
    });
  });

  it("fails the first settlement when it was asked to, keeps the money, and settles it when told again", async () => {
    const reference = await received({ "sandbox.outcome": "not-settled" });
    await provider.settle(reference);
    await untilState(reference, "failed");
    expect(await provider.getStatus(reference)).toMatchObject({ received: order.amount });
    expect(await provider.settle(reference)).toMatchObject({ state: "settling", failure: null });
    await untilState(reference, "settled");
  });

  it("refunds once per reference, and no more than it received", async () => {
    const reference = await received();
    const refund = { id: "re_1", reference, amount: 10_000_000n };
    const made = await provider.refund(refund);
    expect(made).toEqual({ reference: expect.stringMatching(/^sbr_/), state: "pending" });
    expect((await provider.refund(refund)).reference).toBe(made.reference);
    await until(async () => (await provider.getRefund(made.reference)).state === "succeeded", "refunded");
    await expect(provider.refund({ ...refund, id: "re_2", amount: 2_340_001n })).rejects.toThrow("409");
    expect((await provider.refund({ ...refund, id: "re_3", amount: 2_340_000n })).state).toBe("pending");
  });

  it("serves nobody without its key", async () => {
    const stranger = sandboxProvider({ baseUrl: running.baseUrl, access: sandboxAccess("another"), fetch });
    await expect(stranger.createClearing(order)).rejects.toThrow("401");
  });

  it("goes on after a restart where it was, with what was under way", async () => {
    const { reference } = await provider.createClearing(order);
    await provider.pay(reference);
    await running.stop();
    expect(await isAlive(running.pid)).toBe(false);
    await expect(provider.getStatus(reference)).rejects.toThrow("unreachable");
    provider = await start();
    await untilState(reference, "funds-received");
    expect((await provider.createClearing(order)).reference).toBe(reference);
  });
});
