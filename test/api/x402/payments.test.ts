import { describe, expect, it } from "vitest";
import type { SettleAnswer } from "#facilitator";
import { checksum } from "#kernel/bytes";
import { fault } from "#kernel/fault";
import {
  baseUrl,
  fakeFacilitator,
  payer,
  paymentId,
  post,
  resourceId,
  settledAnswer,
  txHash,
  v1Body,
  v2Body,
  world,
} from "../world.ts";

const one = `/x402/resources/${resourceId}`;

async function call(path: string, init: RequestInit, facilitator = fakeFacilitator()) {
  const { app, log } = world({ facilitator });
  const response = await app.request(path, init);
  return { response, body: (await response.json()) as Record<string, unknown>, facilitator, log };
}

function settleWith(answer: Partial<SettleAnswer>) {
  const facilitator = fakeFacilitator();
  facilitator.settlement = async () => ({ ...settledAnswer, ...answer });
  return facilitator;
}

describe("POST /x402/resources/{id}/verify", () => {
  it("200: a valid payment, with its payer", async () => {
    const { response, body, facilitator } = await call(`${one}/verify`, post(v2Body));
    expect(response.status).toBe(200);
    expect(body).toEqual({ isValid: true, payer: checksum(payer) });
    expect(facilitator.asked[0]).toMatchObject({
      target: { by: "id", id: resourceId },
      idempotencyKey: null,
    });
    expect(response.headers.get("cache-control")).toBe("no-store, private");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });

  it("200: an invalid one, with the reason", async () => {
    const facilitator = fakeFacilitator();
    facilitator.verdict = async () => ({
      outcome: "invalid",
      reason: "insufficient_funds",
      message: "has 0, needs 10000",
      payer,
    });
    const { response, body } = await call(`${one}/verify`, post(v2Body), facilitator);
    expect(response.status).toBe(200);
    expect(body).toEqual({
      isValid: false,
      invalidReason: "insufficient_funds",
      invalidMessage: "has 0, needs 10000",
      payer: checksum(payer),
    });
  });

  it("200: JSON of the wrong shape is invalid_payload, and the engine is not asked", async () => {
    const { response, body, facilitator } = await call(`${one}/verify`, post({ x402Version: 2 }));
    expect(response.status).toBe(200);
    expect(body).toMatchObject({ isValid: false, invalidReason: "invalid_payload" });
    expect(facilitator.asked).toEqual([]);
  });

  it("200 unexpected_verify_error when we cannot check, whatever was thrown", async () => {
    for (const thrown of [
      fault("database_unavailable"),
      fault("chain_unavailable", { chain: "base" }),
      new Error("bug"),
    ]) {
      const facilitator = fakeFacilitator();
      facilitator.verdict = () => Promise.reject(thrown);
      const { response, body } = await call(`${one}/verify`, post(v2Body), facilitator);
      expect(response.status).toBe(200);
      expect(body).toMatchObject({ isValid: false, invalidReason: "unexpected_verify_error" });
    }
  });

  it("names the payer whom the body names, whatever becomes of it: Python's client of version 1 reads no verdict without", async () => {
    const base = await call("/x402/verify", post({ ...v2Body, paymentRequirements: "none" }));
    expect(base.body).toMatchObject({ isValid: false, invalidReason: "invalid_payload" });
    const facilitator = fakeFacilitator();
    facilitator.verdict = async () => ({
      ...{ outcome: "invalid", reason: "invalid_payment_requirements", message: "Not sold.", payer: null },
    });
    const priced = await call(`${one}/verify`, post(v2Body), facilitator);
    facilitator.verdict = () => Promise.reject(fault("database_unavailable"));
    const down = await call(`${one}/verify`, post(v2Body), facilitator);
    facilitator.verdict = async () => ({
      ...{ outcome: "unknown-payable", reason: "invalid_payment_requirements", message: "Not there." },
    });
    const gone = await call(`${one}/verify`, post(v2Body), facilitator);
    for (const { body } of [base, priced, down, gone])
      expect(body).toMatchObject({ isValid: false, payer: checksum(payer) });
    const none = await call(`${one}/verify`, post({ x402Version: 2, paymentPayload: { payload: {} } }));
    expect(none.body).not.toHaveProperty("payer");
  });

  it("400 and 413 and 415: problem details with the typed fields", async () => {
    const broken = await call(`${one}/verify`, post("{"));
    expect(broken.response.status).toBe(400);
    expect(broken.response.headers.get("content-type")).toBe("application/problem+json");
    expect(broken.body).toMatchObject({
      code: "invalid_json",
      isValid: false,
      invalidReason: "invalid_payload",
    });
    const large = await call(`${one}/verify`, post(JSON.stringify({ padding: "x".repeat(33_000) })));
    expect([large.response.status, large.body.code]).toEqual([413, "body_too_large"]);
    const form = await call(
      `${one}/verify`,
      post("a=b", { "content-type": "application/x-www-form-urlencoded" }),
    );
    expect([form.response.status, form.body.code]).toEqual([415, "unsupported_media_type"]);
  });

  it("404: an unknown resource, be it unknown to the engine or no id at all", async () => {
    const facilitator = fakeFacilitator();
    facilitator.verdict = async () => ({
      outcome: "unknown-payable",
      reason: "invalid_payment_requirements",
      message: "nobody sells that",
    });
    const unknown = await call(`${one}/verify`, post(v2Body), facilitator);
    expect(unknown.response.status).toBe(404);
    expect(unknown.body).toMatchObject({
      code: "not_found",
      isValid: false,
      invalidReason: "invalid_payment_requirements",
    });
    for (const id of ["nonsense", "x402r_..%2Fetc", "stl_01K2C0Z0000000000000000000"]) {
      const { response, facilitator: unasked } = await call(`/x402/resources/${id}/verify`, post(v2Body));
      const unread = await call(`/x402/resources/${id}/verify`, post({}));
      expect([response.status, unread.response.status]).toEqual([404, 404]);
      expect(unasked.asked).toEqual([]);
    }
  });
});

describe("POST /x402/verify", () => {
  it("finds the resource by the URL in the payload", async () => {
    const { facilitator } = await call("/x402/verify", post(v2Body));
    expect(facilitator.asked[0]?.target).toEqual({
      by: "url",
      url: "https://api.m.example/weather?city=Oslo",
    });
  });

  it("finds it by the requirements' URL on v1", async () => {
    const { body, facilitator } = await call("/x402/verify", post(v1Body));
    expect(facilitator.asked[0]).toMatchObject({
      target: { by: "url", url: "https://api.m.example/weather" },
      selection: { network: "eip155:8453" },
    });
    expect(body.isValid).toBe(true);
  });

  it("200 invalid_payload without a URL, naming the base that needs none", async () => {
    const { resource: _none, ...payload } = v2Body.paymentPayload;
    const { response, body } = await call("/x402/verify", post({ ...v2Body, paymentPayload: payload }));
    expect(response.status).toBe(200);
    expect(body).toMatchObject({ isValid: false, invalidReason: "invalid_payload" });
    expect(body.invalidMessage).toContain(`${baseUrl}/x402/resources/{id}`);
  });
});

describe("POST /x402/resources/{id}/settle", () => {
  it("200: settled, with our own fields under extra", async () => {
    const { response, body } = await call(`${one}/settle`, post(v2Body));
    expect(response.status).toBe(200);
    expect(body).toEqual({
      success: true,
      transaction: txHash,
      network: "eip155:8453",
      payer: checksum(payer),
      amount: "10000",
      extra: {
        paymentId,
        statusUrl: `${baseUrl}/x402/settlements/${paymentId}`,
        settledAt: "2026-08-11T09:30:00.000Z",
        settledBy: "farebox",
      },
    });
    expect(response.headers.get("idempotent-replayed")).toBeNull();
  });

  it("200: on v1 the network has v1's name", async () => {
    const { body } = await call(`${one}/settle`, post(v1Body));
    expect(body).toMatchObject({ success: true, network: "base" });
  });

  it("200: pending is told with hash, status URL and Retry-After", async () => {
    const pending = settleWith({
      outcome: "pending",
      reason: "settlement_pending",
      message: "wait",
      extra: { retryAfterSeconds: 3 },
    });
    const { response, body } = await call(`${one}/settle`, post(v2Body), pending);
    expect(response.status).toBe(200);
    expect(response.headers.get("retry-after")).toBe("3");
    expect(body).toMatchObject({
      success: false,
      errorReason: "settlement_pending",
      transaction: txHash,
      extra: { statusUrl: `${baseUrl}/x402/settlements/${paymentId}`, retryAfterSeconds: 3 },
    });
  });

  it.each([
    ["refused", "insufficient_funds"],
    ["failed", "invalid_exact_evm_transaction_failed"],
  ] as const)("200: %s, with the reason", async (outcome, reason) => {
    const { response, body } = await call(`${one}/settle`, post(v2Body), settleWith({ outcome, reason }));
    expect(response.status).toBe(200);
    expect(body).toMatchObject({ success: false, errorReason: reason });
  });

  it("409: a second settle names the original transaction", async () => {
    const twice = settleWith({
      outcome: "duplicate",
      reason: "duplicate_settlement",
      message: "settled before",
    });
    const { response, body } = await call(`${one}/settle`, post(v2Body), twice);
    expect(response.status).toBe(409);
    expect(body).toMatchObject({
      success: false,
      errorReason: "duplicate_settlement",
      errorMessage: "settled before",
      transaction: txHash,
      network: "eip155:8453",
      payer: checksum(payer),
    });
  });

  it("409: of an authorization bound elsewhere nothing is told, even if the engine told us", async () => {
    const foreign = settleWith({
      outcome: "bound-elsewhere",
      reason: "authorization_bound_elsewhere",
      message: "used elsewhere",
    });
    const { response, body } = await call(`${one}/settle`, post(v2Body), foreign);
    expect(response.status).toBe(409);
    expect(body).toEqual({
      success: false,
      errorReason: "authorization_bound_elsewhere",
      errorMessage: "used elsewhere",
      transaction: "",
      network: "eip155:8453",
      payer: checksum(payer),
    });
  });

  it("409: a key reused with another payload is problem details with the typed fields", async () => {
    const { response, body } = await call(
      `${one}/settle`,
      post(v2Body),
      settleWith({ outcome: "idempotency-key-reused" }),
    );
    expect(response.status).toBe(409);
    expect(body).toMatchObject({
      code: "idempotency_key_reused",
      success: false,
      transaction: "",
      network: "",
    });
  });

  it("404: an unknown resource", async () => {
    const { response, body } = await call(
      `${one}/settle`,
      post(v2Body),
      settleWith({ outcome: "unknown-payable" }),
    );
    expect(response.status).toBe(404);
    expect(body).toMatchObject({
      code: "not_found",
      success: false,
      errorReason: "invalid_payment_requirements",
      transaction: "",
    });
  });

  it("503: what we cannot say, with the reason of the engine and Retry-After", async () => {
    for (const reason of ["unexpected_settle_error", "settlement_pending"] as const) {
      const { response, body } = await call(
        `${one}/settle`,
        post(v2Body),
        settleWith({ outcome: "unavailable", reason }),
      );
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("1");
      expect(body).toMatchObject({
        success: false,
        errorReason: reason,
        transaction: txHash,
        network: "eip155:8453",
      });
      expect(body.errorMessage).toMatch(/repeat the identical request/i);
    }
  });

  it("503 settlement_pending when the engine throws: it may have recorded the claim", async () => {
    const facilitator = fakeFacilitator();
    facilitator.settlement = () => Promise.reject(new Error("a bug"));
    const { response, body, log } = await call(`${one}/settle`, post(v2Body), facilitator);
    expect(response.status).toBe(503);
    expect(body).toMatchObject({ success: false, errorReason: "settlement_pending" });
    expect(log.lines).toHaveLength(1);
  });

  it("a replayed answer says so in header and extra", async () => {
    const { response, body } = await call(`${one}/settle`, post(v2Body), settleWith({ replayed: true }));
    expect(response.headers.get("idempotent-replayed")).toBe("true");
    expect(body).toMatchObject({ success: true, extra: { replayed: true } });
  });

  it("hands the Idempotency-Key on, and refuses one that is none", async () => {
    const { facilitator } = await call(`${one}/settle`, post(v2Body, { "idempotency-key": "order 17" }));
    expect(facilitator.asked[0]?.idempotencyKey).toBe("order 17");
    const long = await call(`${one}/settle`, post(v2Body, { "idempotency-key": "k".repeat(256) }));
    expect(long.response.status).toBe(400);
    expect(long.body).toMatchObject({
      code: "idempotency_key_invalid",
      success: false,
      errorReason: "invalid_payload",
    });
    expect(long.facilitator.asked).toEqual([]);
  });

  it("takes a success back when the caller is gone before the answer", async () => {
    const gone = new AbortController();
    const facilitator = fakeFacilitator();
    facilitator.settlement = async (closed) => {
      gone.abort();
      expect(closed.aborted).toBe(true);
      return settledAnswer;
    };
    await call(`${one}/settle`, { ...post(v2Body), signal: gone.signal }, facilitator);
    expect(facilitator.released).toEqual([paymentId]);
  });

  it("keeps a success that was delivered, and a replay in any case", async () => {
    const { facilitator } = await call(`${one}/settle`, post(v2Body));
    expect(facilitator.released).toEqual([]);
    const gone = new AbortController();
    const replaying = fakeFacilitator();
    replaying.settlement = async () => {
      gone.abort();
      return { ...settledAnswer, replayed: true };
    };
    await call(`${one}/settle`, { ...post(v2Body), signal: gone.signal }, replaying);
    expect(replaying.released).toEqual([]);
  });
});

describe("rates", () => {
  it("429 with Retry-After and typed fields that blame nobody", async () => {
    const { app } = world({ rateLimits: "on" });
    const answers = await Promise.all(
      Array.from({ length: 600 }, () => app.request(`${one}/settle`, post(v2Body))),
    );
    const limited = answers.filter(({ status }) => status === 429);
    // One resource takes 200 a second; a slow machine may need some seconds for all of these.
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(200);
    expect(limited.length).toBeGreaterThan(0);
    expect(limited[0]?.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(await limited[0]?.json()).toMatchObject({
      code: "rate_limited",
      success: false,
      errorReason: "unexpected_settle_error",
    });
  });
});
