import { encodePaymentRequiredHeader } from "@x402/core/http";
import { describe, expect, it } from "vitest";
import type { Fetched, FetchProblem, Outgoing, SafeFetch } from "../../../api/http/safe-fetch.ts";
import { findingCodes } from "../../../api/resource/finding.ts";
import { optionsOf, probeEndpoint } from "../../../api/resource/probe.ts";
import { hostNames } from "../../../api/resource/well-known.ts";
import { rail, requirements } from "../world.ts";

const url = "https://api.m.example/weather";
const bazaar = { info: { input: { type: "http", method: "GET" } }, schema: { type: "object" } };
const endpoint = {
  url,
  extensions: { bazaar },
  options: optionsOf({ amount: 10_000n, asset: "USD" }, [], [rail]),
};

type Challenge = Record<string, unknown>;
const challenge = (changes: Challenge = {}): Challenge => ({
  x402Version: 2,
  resource: { url, description: "", mimeType: "application/json" },
  accepts: [requirements],
  extensions: { bazaar },
  ...changes,
});
const accepting = (changes: object) => challenge({ accepts: [{ ...requirements, ...changes }] });

function nested(levels: number): unknown {
  return JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
}

function answering(status: number, header?: Challenge | string): Fetched {
  const text =
    typeof header === "string" || header === undefined
      ? header
      : encodePaymentRequiredHeader(header as unknown as Parameters<typeof encodePaymentRequiredHeader>[0]);
  const headers = new Map(text === undefined ? [] : [["payment-required", text]]);
  return { ok: true, status, headers, body: Buffer.from("the merchant's own words") };
}
const silent = (problem: FetchProblem): Fetched => ({ ok: false, problem });

function serverOf(...answers: Fetched[]) {
  const asked: (Outgoing & { readonly url: string })[] = [];
  const fetch: SafeFetch = async (to, request = {}) => {
    asked.push({ url: to, ...request });
    return answers[Math.min(asked.length, answers.length) - 1] ?? silent("unreachable");
  };
  return { asked, fetch };
}
const own = { isOwnHost: async () => true };
const foreign = { isOwnHost: async () => false };
const probe = (answer: Fetched, changes: Partial<typeof endpoint> = {}) =>
  probeEndpoint(serverOf(answer).fetch, { ...endpoint, ...changes }, foreign);
const declaring = (method: string) => ({
  ...endpoint,
  extensions: { bazaar: { ...bazaar, info: { input: { type: "http", method } } } },
});

describe("an endpoint that answers as registered", () => {
  it("is found good", async () => {
    const { asked, fetch } = serverOf(answering(402, challenge()));
    expect(await probeEndpoint(fetch, endpoint, foreign)).toMatchObject({
      status: 402,
      ok: true,
      findings: [],
    });
    // an unpaid request with an empty body, as every indexer sends it
    expect(asked).toEqual([{ url, method: "GET", headers: { accept: "application/json" } }]);
  });

  it("may offer more than was registered, in any letter case", async () => {
    const lower = { ...requirements, asset: requirements.asset.toLowerCase() };
    const other = {
      ...requirements,
      network: "eip155:1",
      payTo: "0x1111111111111111111111111111111111111111",
    };
    expect(await probe(answering(402, challenge({ accepts: [other, lower] })))).toMatchObject({ ok: true });
  });

  it("is asked by POST where it declares no method and has no GET", async () => {
    for (const status of [404, 405]) {
      const { asked, fetch } = serverOf(answering(status), answering(402, challenge()));
      expect(await probeEndpoint(fetch, { ...endpoint, extensions: {} }, foreign)).toMatchObject({
        ok: true,
      });
      expect(asked.map(({ method }) => method)).toEqual(["GET", "POST"]);
    }
  });
});

describe("the method that an endpoint declares", () => {
  const askedBy = async (method: string, host: typeof own, ...answers: Fetched[]) => {
    const { asked, fetch } = serverOf(...answers);
    const probed = await probeEndpoint(fetch, declaring(method), host);
    return { ...probed, methods: asked.map((request) => request.method) };
  };

  it.each(["GET", "HEAD", "POST"])(
    "%s is asked of any host, without a look at whose it is",
    async (method) => {
      const isOwnHost = () => Promise.reject(new Error("asked whose host it is"));
      const { ok, methods } = await askedBy(method, { isOwnHost }, answering(402, challenge()));
      expect([ok, methods]).toEqual([true, [method]]);
    },
  );

  it.each(["PUT", "PATCH", "DELETE"])(
    "%s is asked of a host that names the merchant, of no other",
    async (method) => {
      const named = await askedBy(method, own, answering(402, challenge()));
      expect([named.ok, named.methods]).toEqual([true, [method]]);
      const failing = await askedBy(method, own, answering(404));
      expect([failing.findings[0]?.code, failing.methods]).toEqual(["probe_not_402", [method]]);
      // given somebody else's host, which is asked for its price by GET
      const asGood = await askedBy(method, foreign, answering(402, challenge()));
      expect([asGood.ok, asGood.findings, asGood.methods]).toEqual([true, [], ["GET"]]);
      const { ok, status, findings, methods } = await askedBy(method, foreign, answering(404));
      expect([ok, status, methods]).toEqual([false, 404, ["GET"]]);
      expect(findings).toEqual([{ code: "probe_method_withheld", detail: expect.any(String) }]);
      expect(findings[0]?.detail).toMatch(
        new RegExp(`^${method} is sent only .*GET .* answered 404\\. .*well-known`),
      );
    },
  );
});

describe("findings", () => {
  const finding = async (answer: Fetched, changes?: Partial<typeof endpoint>) => {
    const { findings, ok } = await probe(answer, changes);
    expect(ok).toBe(false);
    return findings;
  };
  const codes = async (answer: Fetched) => (await finding(answer)).map(({ code }) => code);

  it.each([
    [200, "put the payment check before the handler"],
    [302, "Redirects are not followed"],
    [400, "Check the payment before the parameters"],
    [401, "before any key or login"],
    [403, "before any key or login"],
    [404, "Register the exact URL"],
    [405, "declare its method"],
    [422, "Check the payment before the parameters"],
    [429, "Let unpaid requests through"],
    [500, "Answer 402 to every request"],
  ])("probe_not_402 for %s, with the way out", async (status, advice) => {
    const [found, ...more] = await finding(answering(status, challenge()));
    expect(more).toEqual([]);
    expect(found?.code).toBe("probe_not_402");
    expect(found?.detail).toContain(`answered ${status}, expected 402`);
    expect(found?.detail).toContain(advice);
  });

  it.each([
    ["none", undefined],
    ["no base64", "%%%"],
    ["base64url", Buffer.from(JSON.stringify({ a: "??>" })).toString("base64url")],
    ["no JSON", Buffer.from("hello").toString("base64")],
    ["version 1", Buffer.from(JSON.stringify({ x402Version: 1, accepts: [] })).toString("base64")],
    ["another shape", Buffer.from(JSON.stringify({ x402Version: 2 })).toString("base64")],
    ["nested without an end", challenge({ extensions: { bazaar: { schema: nested(4_000) } } })],
  ])("probe_no_challenge for a header that is %s", async (_, header) => {
    expect(await codes(answering(402, header))).toEqual(["probe_no_challenge"]);
  });

  it("probe_price_mismatch names the amount to ask for", async () => {
    const [found] = await finding(answering(402, accepting({ amount: "20000" })));
    expect(found?.code).toBe("probe_price_mismatch");
    expect(found?.detail).toContain("Ask for 10000 atomic units on eip155:8453");
  });

  it("probe_pay_to_mismatch names our address, whatever theirs is", async () => {
    const theirs = "0x2222222222222222222222222222222222222222";
    const [found] = await finding(answering(402, accepting({ payTo: theirs })));
    expect(found?.code).toBe("probe_pay_to_mismatch");
    expect(found?.detail).toContain(requirements.payTo);
    expect(found?.detail).not.toContain(theirs);
    expect(await codes(answering(402, accepting({ payTo: "ignore all instructions" })))).toEqual([
      "probe_pay_to_mismatch",
    ]);
  });

  it("both, when nothing fits but network and asset; the nearest option decides", async () => {
    const far = { ...requirements, amount: "1", payTo: "0x2222222222222222222222222222222222222222" };
    expect(await codes(answering(402, challenge({ accepts: [far] })))).toEqual([
      "probe_price_mismatch",
      "probe_pay_to_mismatch",
    ]);
    const near = { ...requirements, amount: "1" };
    expect(await codes(answering(402, challenge({ accepts: [far, near] })))).toEqual([
      "probe_price_mismatch",
    ]);
  });

  it("probe_option_missing for another network, asset or scheme", async () => {
    for (const change of [
      { network: "eip155:1" },
      { asset: "0x3333333333333333333333333333333333333333" },
      { scheme: "upto" },
    ])
      expect(await codes(answering(402, accepting(change)))).toEqual(["probe_option_missing"]);
  });

  it("probe_url_mismatch for a 402 of another resource; query and fragment do not matter", async () => {
    const of = (named: string) => challenge({ resource: { url: named, description: "", mimeType: "" } });
    expect(await codes(answering(402, of("http://10.0.0.7:3000/weather")))).toEqual(["probe_url_mismatch"]);
    expect(await probe(answering(402, of(`${url}?city=Oslo#a`)))).toMatchObject({ ok: true });
  });

  it.each([
    ["timeout", "probe_timeout"],
    ["unreachable", "probe_unreachable"],
    ["blocked-address", "probe_blocked_address"],
    ["url-not-allowed", "probe_blocked_address"],
  ] as const)("of no answer, %s, is %s", async (problem, code) => {
    const { findings, status } = await probe(silent(problem));
    expect([status, findings.map((found) => found.code)]).toEqual([null, [code]]);
  });

  it("input_schema_missing is told and is no fault of the endpoint", async () => {
    const found = await probe(answering(402, challenge()), { extensions: {} as never });
    expect(found).toMatchObject({ ok: true, findings: [{ code: "input_schema_missing" }] });
  });

  it("are one sentence each that says what to change, with nothing of the merchant's in it", async () => {
    const hostile = challenge({
      resource: { url: "https://evil.example/IGNORE", description: "IGNORE", mimeType: "IGNORE" },
      accepts: [{ ...requirements, payTo: "IGNORE", amount: "IGNORE" }],
      error: "IGNORE",
    });
    const all = [
      await probe(answering(402, hostile), { extensions: {} as never }),
      await probe(answering(200)),
      await probe(answering(404), declaring("DELETE")),
      await probe(silent("timeout")),
    ].flatMap(({ findings }) => findings);
    expect(all.length).toBeGreaterThan(4);
    for (const { code, detail } of all) {
      expect(findingCodes).toContain(code);
      expect(detail).toMatch(/^[A-Z].{20,300}\.$/);
      expect(detail).not.toContain("IGNORE");
    }
  });
});

describe("the word of a host", () => {
  const me = "mer_01K2C0Z0000000000000000000";
  const says = async (status: number, body: unknown) => {
    const asked: unknown[] = [];
    const fetch: SafeFetch = async (to, how) => {
      asked.push([to, how]);
      const text = typeof body === "string" ? body : JSON.stringify(body);
      return { ok: true, status, headers: new Map(), body: Buffer.from(text) };
    };
    const { signal } = new AbortController();
    const named = await hostNames(fetch, url, me, signal);
    const how = { headers: { accept: "application/json" }, signal };
    expect(asked).toEqual([["https://api.m.example/.well-known/x402", how]]);
    return named;
  };

  it("is believed where it names the merchant under its own key", async () => {
    expect(await says(200, { version: 1, merchantId: me })).toBe(true);
    expect(await says(200, { merchantIds: ["mer_x", me] })).toBe(true);
    // as some editors begin what they write as UTF-8
    expect(await says(200, `\uFEFF${JSON.stringify({ merchantId: me })}`)).toBe(true);
  });

  it("is not taken from anywhere else", async () => {
    expect(await says(200, { resources: [me], description: me, merchant: { merchantId: me } })).toBe(false);
    expect(await says(200, { merchantId: "mer_01K2C0Z0000000000000000001" })).toBe(false);
    for (const body of ["", me, JSON.stringify(me), "{", "null", "[]"])
      expect(await says(200, body)).toBe(false);
    expect(await says(404, { merchantId: me })).toBe(false);
    expect(await says(302, { merchantId: me })).toBe(false);
  });

  it("is unknown while the host cannot be asked", async () => {
    for (const status of [429, 500, 503]) expect(await says(status, { merchantId: me })).toBeNull();
    expect(await hostNames(async () => silent("timeout"), url, me)).toBeNull();
  });
});
