import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fault as kernelFault } from "#kernel/fault";
import type { Edge } from "../../../api/http/context.ts";
import { apiFaults, fault, publicFaults } from "../../../api/http/faults.ts";
import { fieldErrors, onError } from "../../../api/http/problem.ts";
import { requestContext } from "../../../api/http/request-id.ts";
import { baseUrl, clock, newId, recordingLog, world } from "../world.ts";

async function thrown(error: unknown, headers: Record<string, string> = {}) {
  const log = recordingLog();
  const app = new Hono();
  app.use(requestContext({ baseUrl, clock, newId, log } as unknown as Edge));
  app.onError(onError);
  app.get("/v1/thing", () => {
    throw error;
  });
  const response = await app.request("/v1/thing", { headers });
  return {
    response,
    text: await response.clone().text(),
    body: (await response.json()) as Record<string, unknown>,
    log,
  };
}

function queryError(code: string) {
  const cause = Object.assign(new Error("secret column value"), { code });
  return new Error("Failed query: select * from merchant where id = $1 params: mer_secret", { cause });
}

describe("what is logged", () => {
  it.each([
    ["shop-7:order.3", "shop-7:order.3"],
    ["two words", undefined],
    ["x".repeat(65), undefined],
  ])("names the caller's own id of the request where it is plain: %s", async (sent, logged) => {
    const { log, body } = await thrown(new Error("broken"), { "X-Request-Id": sent });
    const [line = ""] = log.lines;
    const fields = JSON.parse(line.slice(line.indexOf("{")));
    expect([fields.requestId, fields.clientRequestId]).toEqual([body.requestId, logged]);
  });
});

describe("a fault", () => {
  it("becomes problem details: type, title, status, detail, instance, code, requestId", async () => {
    const { response, body } = await thrown(
      fault("permission_denied", { permission: "x402:manage", inside: "hidden" }),
    );
    expect(response.status).toBe(403);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(body).toEqual({
      type: `${baseUrl}/errors/permission_denied`,
      title: "Permission denied",
      status: 403,
      detail: "This key lacks the permission x402:manage. Use a key that has it.",
      instance: "/v1/thing",
      code: "permission_denied",
      requestId: response.headers.get("request-id"),
      permission: "x402:manage",
    });
  });

  it("of the wrong place in a body points to it", async () => {
    const { body } = await thrown(
      fault("too_many_decimals", { asset: "USD", decimals: 6, pointer: "/price/amount" }),
    );
    expect(body.errors).toEqual([
      {
        pointer: "/price/amount",
        code: "too_many_decimals",
        detail: expect.stringContaining("at most 6 decimals"),
      },
    ]);
  });

  it("of a rate says which one, and that nothing of it is left", async () => {
    const { response, body } = await thrown(
      fault("rate_limited", { retryAfterSeconds: 3, policy: "discovery" }),
    );
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "3"]);
    expect(response.headers.get("ratelimit-policy")).toBe('"discovery";q=10;w=1');
    expect(response.headers.get("ratelimit")).toBe('"discovery";r=0;t=3');
    expect(body).toMatchObject({ code: "rate_limited", retryAfterSeconds: 3 });
    expect(body).not.toHaveProperty("policy");
  });

  it("says when to come back, and how to authenticate", async () => {
    expect(
      (await thrown(fault("rate_limited", { retryAfterSeconds: 7 }))).response.headers.get("retry-after"),
    ).toBe("7");
    expect((await thrown(fault("idempotency_in_progress"))).response.headers.get("retry-after")).toBe("1");
    expect((await thrown(fault("unauthenticated"))).response.headers.get("www-authenticate")).toBe("Bearer");
  });

  it("of the centre keeps its code where callers may know it", async () => {
    expect(
      (await thrown(kernelFault("url_registered_elsewhere", { url: "https://a.example/" }))).body,
    ).toMatchObject({
      status: 409,
      code: "url_registered_elsewhere",
    });
    expect((await thrown(kernelFault("database_unavailable"))).body).toMatchObject({
      status: 503,
      code: "unavailable",
    });
    expect((await thrown(kernelFault("ledger_conflict"))).body).toMatchObject({
      status: 500,
      code: "internal_error",
    });
  });
});

describe("what is no fault", () => {
  it.each(["08006", "57P01", "57014", "53300", "40P01", "55P03"])("503 for SQLSTATE %s", async (code) => {
    const { response, body, text } = await thrown(queryError(code));
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(body.code).toBe("unavailable");
    expect(text).not.toMatch(/secret|select/i);
  });

  it("503 for a connection that could not be had", async () => {
    const full = new Error("Failed query: x", {
      cause: new Error("timeout exceeded when trying to connect"),
    });
    const refused = new Error("Failed query: x", {
      cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }),
    });
    for (const error of [full, refused]) expect((await thrown(error)).response.status).toBe(503);
  });

  it("500 for all else: neither the caller nor the log sees the statement", async () => {
    const { response, body, text, log } = await thrown(queryError("23503"));
    expect(response.status).toBe(500);
    expect(body.code).toBe("internal_error");
    expect(text).not.toMatch(/secret|select/i);
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toContain("23503");
    expect(log.lines[0]).not.toMatch(/secret|select/i);
  });

  it("hono's own refusals keep their meaning", async () => {
    expect((await thrown(new HTTPException(400, { message: "Malformed JSON" }))).body).toMatchObject({
      status: 400,
      code: "invalid_json",
    });
    expect((await thrown(new HTTPException(415))).body).toMatchObject({
      status: 415,
      code: "unsupported_media_type",
    });
    expect((await thrown(new HTTPException(413))).body).toMatchObject({
      status: 413,
      code: "body_too_large",
    });
  });
});

describe("validation", () => {
  it("names each place by JSON pointer, an unknown key by its own", () => {
    const schema = z.strictObject({
      price: z.strictObject({ amount: z.string() }),
      tags: z.array(z.string()),
    });
    const issues =
      schema.safeParse({ price: { amount: 5, "a/b": 1 }, tags: [1], extra: true }).error?.issues ?? [];
    expect(fieldErrors(issues).map(({ pointer, code }) => [pointer, code])).toEqual([
      ["/price/amount", "invalid_type"],
      ["/price/a~1b", "unknown_key"],
      ["/tags/0", "invalid_type"],
      ["/extra", "unknown_key"],
    ]);
  });

  it("says of what is missing that it is, and what to send", () => {
    const schema = z.object({ amount: z.object({}), tags: z.array(z.string()), name: z.string("a name") });
    const issues = schema.safeParse({}).error?.issues ?? [];
    expect(fieldErrors(issues).map(({ pointer, detail }) => [pointer, detail])).toEqual([
      ["/amount", "It is missing. Send an object."],
      ["/tags", "It is missing. Send an array."],
      ["/name", "a name"],
    ]);
    const [wrong] = schema.safeParse({ amount: "1", tags: [], name: "x" }).error?.issues ?? [];
    expect(wrong && fieldErrors([wrong])[0]?.detail).toBe("Invalid input: expected object, received string");
  });

  it("says of a key what is wrong with it", () => {
    const { error } = z.record(z.string().max(3, "a short key"), z.string()).safeParse({ long: "x" });
    expect(fieldErrors(error?.issues ?? [], "/metadata")).toEqual([
      { pointer: "/metadata/long", code: "invalid_key", detail: "a short key" },
    ]);
  });
});

describe("GET /errors/{code}", () => {
  it("200 for every code that a problem can name", async () => {
    const { app } = world();
    for (const code of Object.keys(publicFaults)) {
      const response = await app.request(`/errors/${code}`);
      expect([code, response.status]).toEqual([code, 200]);
      expect(await response.json()).toMatchObject({ code, title: publicFaults[code]?.title });
    }
    expect(Object.keys(publicFaults)).toEqual(expect.arrayContaining(Object.keys(apiFaults)));
  });

  it("404 for any other, those of the inside included", async () => {
    const { app } = world();
    for (const code of ["nonsense", "ledger_conflict", "constructor"])
      expect((await app.request(`/errors/${code}`)).status).toBe(404);
  });
});
