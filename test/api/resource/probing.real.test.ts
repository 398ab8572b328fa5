import { decodePaymentRequiredHeader, encodePaymentRequiredHeader } from "@x402/core/http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { systemClock } from "#kernel/system";
import { createSafeFetch } from "../../../api/http/safe-fetch.ts";
import { probeListed } from "../../../api/resource/prober.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { type Endpoint, serveEndpoint } from "../../support/endpoint.ts";
import {
  type Answer,
  get,
  type Merchant,
  newMerchant,
  newPayer,
  post,
  sharedWorld,
  signPayment,
  until,
} from "../../support/house.ts";

const world = sharedWorld();
let shop: Merchant;
let endpoint: Endpoint;
beforeEach(async () => {
  shop = await newMerchant(world);
  endpoint = await serveEndpoint();
});
afterEach(() => endpoint.close());

type Required = ReturnType<typeof decodePaymentRequiredHeader>;
const terms = (changes: object = {}) => ({
  url: endpoint.url,
  price: { amount: "0.01", asset: "USD" },
  description: "A forecast",
  ...changes,
});
const input = { type: "http", method: "GET", queryParams: { city: "Oslo" } };
const bazaar = { info: { input }, schema: { type: "object", properties: { input: { type: "object" } } } };

async function write(path: string, body: unknown = {}) {
  const response = await shop.call(path, { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}
const deleting = { ...bazaar, info: { input: { ...input, method: "DELETE" } } };
const codes = (findings: { code: string }[]) => findings.map(({ code }) => code);

/** Makes the endpoint answer as its registration says, save for the changes. */
async function answerAs(id: string, change: (required: Required) => Required = (same) => same) {
  const { headers } = await get(world.baseUrl, `/x402/resources/${id}/payment-required`);
  const required = decodePaymentRequiredHeader(headers.get("PAYMENT-REQUIRED") ?? "");
  endpoint.answer = { status: 402, challenge: encodePaymentRequiredHeader(change(required)) };
}

async function itemOf(id: string, filter = "") {
  const { body } = await get(world.baseUrl, `/x402/resources?limit=100${filter}`);
  return body.items.find((item: { id: string }) => item.id === id);
}

/** Lets the clock of the prober come round for a resource that was just probed. */
async function probeAgain(id: string) {
  const { at } = (await itemOf(id)).trust.lastProbe;
  await world.database.query(
    "UPDATE resource_probe SET next_at = now(), at = at - interval '1 hour' WHERE resource_id = $1",
    [id],
  );
  await world.database.query("SELECT graphile_worker.add_job('probe-due')");
  await until(async () => (await itemOf(id)).trust.lastProbe.at !== at, "another probe");
}
async function probed(id: string) {
  await until(async () => (await itemOf(id))?.trust.lastProbe !== null, "the first probe");
  return itemOf(id);
}

describe("POST /v1/x402/resources/probe", () => {
  it("200: tells what agents would meet, and stores nothing", async () => {
    const before = await world.database.query("SELECT count(*) FROM outbox");
    endpoint.answer = { status: 400 };
    const { status, body } = await write("/v1/x402/resources/probe", terms());
    expect(status).toBe(200);
    expect(body).toEqual({
      ok: false,
      status: 400,
      at: expect.stringMatching(/^20\d\d-.*Z$/),
      findings: [
        { code: "probe_not_402", detail: expect.stringContaining("Check the payment before the parameters") },
        { code: "input_schema_missing", detail: expect.any(String) },
      ],
    });
    expect(await world.database.query("SELECT count(*) FROM outbox")).toEqual(before);
    expect(await (await shop.call("/v1/x402/resources")).json()).toEqual({ resources: [] });
    expect(endpoint.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /weather"]);
    expect(endpoint.requests[0]?.headers["user-agent"]).toMatch(/^Farebox\//);
    expect(endpoint.requests[0]?.headers.authorization).toBeUndefined();
  });

  it("200 ok: an endpoint that is right before it is registered; what the index would drop is told too", async () => {
    const { body: registered } = await write("/v1/x402/resources", terms());
    await answerAs(registered.id);
    const { body } = await write("/v1/x402/resources/probe", terms({ extensions: { bazaar }, tags: ["ü"] }));
    expect([body.ok, codes(body.findings)]).toEqual([true, ["tags_invalid"]]);
  });

  it("sends DELETE to a host that names the merchant, and to no other", async () => {
    const body = terms({ extensions: { bazaar: deleting } });
    const probedBy = async () => {
      endpoint.requests.splice(0);
      const { body: trial } = await write("/v1/x402/resources/probe", body);
      const methods = endpoint.requests.filter(({ path }) => path === "/weather").map(({ method }) => method);
      return [codes(trial.findings), methods];
    };
    endpoint.wellKnown = { merchantId: (await newMerchant(world)).id };
    expect(await probedBy()).toEqual([["probe_method_withheld"], ["GET"]]);
    endpoint.wellKnown = { merchantId: shop.id };
    endpoint.wellKnownFails = true;
    expect(await probedBy()).toEqual([["probe_method_withheld"], ["GET"]]);
    endpoint.wellKnownFails = false;
    expect(await probedBy()).toEqual([["probe_not_402"], ["DELETE"]]);
  });

  it("refuses what a registration refuses", async () => {
    const refused = await write("/v1/x402/resources/probe", terms({ price: { amount: "0", asset: "USD" } }));
    expect([refused.status, refused.body.code]).toEqual([422, "amount_too_small"]);
    expect((await write("/v1/x402/resources/probe", { ...terms(), nope: 1 })).status).toBe(400);
    expect(endpoint.requests).toEqual([]);
  });

  it("429: a domain is asked so often and no more, whoever asks", async () => {
    endpoint.answer = { status: 404 };
    const statuses: number[] = [];
    for (let i = 0; i < 30; i += 1) statuses.push((await write("/v1/x402/resources/probe", terms())).status);
    const passed = statuses.filter((status) => status === 200).length;
    expect(statuses.filter((status) => status === 429).length).toBe(30 - passed);
    expect(passed).toBeGreaterThanOrEqual(20);
    expect(passed).toBeLessThan(28);
    const other = await newMerchant(world);
    const response = await other.call("/v1/x402/resources/probe", {
      method: "POST",
      body: JSON.stringify(terms()),
    });
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("a registration with probe: true", () => {
  it("201: registers, and tells what the probe found", async () => {
    endpoint.answer = { status: 402 };
    const { status, body } = await write("/v1/x402/resources", terms({ probe: true, serviceName: "ü" }));
    expect(status).toBe(201);
    expect(codes(body.findings)).toEqual([
      "service_name_invalid",
      "probe_no_challenge",
      "input_schema_missing",
    ]);
  });

  it("201: a probe that fails, or may not be made, keeps nobody from registering", async () => {
    const url = `${endpoint.origin}/nobody`;
    await endpoint.close();
    const gone = await write("/v1/x402/resources", terms({ url, probe: true }));
    expect([gone.status, codes(gone.body.findings)[0]]).toEqual([201, "probe_unreachable"]);
    await world.database.query("UPDATE probed_domain SET spent_until = now() + interval '1 day'");
    const deferred = await write("/v1/x402/resources", terms({ url, probe: true }));
    expect([deferred.status, codes(deferred.body.findings)]).toEqual([200, ["probe_deferred"]]);
    await world.database.query("DELETE FROM probed_domain");
  });

  it("asks nobody without it", async () => {
    const { body } = await write("/v1/x402/resources", terms());
    expect(body.findings).toEqual([]);
    expect(endpoint.requests).toEqual([]);
  });
});

describe("a listed resource", () => {
  it("is probed by itself when it is listed, and its item says when and how it answered", async () => {
    const { body } = await write("/v1/x402/resources", terms());
    await answerAs(body.id);
    await write(`/v1/x402/resources/${body.id}/list`);
    const item = await probed(body.id);
    expect(item.trust).toEqual({
      host: new URL(endpoint.url).host,
      hostVerified: false,
      settledCount: 0,
      distinctPayers: 0,
      lastProbe: { at: expect.stringMatching(/^20\d\d-.*Z$/), status: 402, ok: true },
    });
    expect(item.clientNotes).toEqual([expect.stringContaining("spendControls")]);
    expect(await itemOf(body.id, "&live=true")).toBeDefined();
  });

  it("that answers badly stays listed, marked and last, and is left out only of live=true", async () => {
    const { body: bad } = await write("/v1/x402/resources", terms({ listed: true, tags: ["fog"] }));
    expect((await probed(bad.id)).trust.lastProbe).toMatchObject({ status: 200, ok: false });
    const url = `${endpoint.origin}/good`;
    const { body: good } = await write("/v1/x402/resources", terms({ url, tags: ["fog"] }));
    await answerAs(good.id);
    await write(`/v1/x402/resources/${good.id}/list`);
    await until(async () => (await itemOf(good.id))?.trust.lastProbe?.ok === true, "a good probe");
    const found = await get(world.baseUrl, "/x402/discovery/search?query=fog");
    expect(found.body.resources.map(({ id }: { id: string }) => id)).toEqual([good.id, bad.id]);
    const live = await get(world.baseUrl, "/x402/resources?query=fog&live=true");
    expect(live.body.items.map(({ id }: { id: string }) => id)).toEqual([good.id]);
    expect(live.body.pagination.total).toBe(1);
  });

  it("is not judged while we take nothing for it: it is asked later, and what was known stays", async () => {
    const { body } = await write("/v1/x402/resources", terms());
    await answerAs(body.id);
    await write(`/v1/x402/resources/${body.id}/list`);
    const { trust } = await probed(body.id);
    expect(trust.lastProbe.ok).toBe(true);
    await world.database.query(
      "UPDATE resource_probe SET at = at - interval '1 hour' WHERE resource_id = $1",
      [body.id],
    );
    const asked = endpoint.requests.length;
    const { db } = world.database;
    const facilitator = { rails: () => [], assess: () => Promise.reject(new Error("it was judged")) };
    const parts = { safeFetch: createSafeFetch({ allowLocal: true, userAgent: "t" }), clock: systemClock };
    const key = { merchantId: shop.id, resourceId: body.id };
    await probeListed({ db, facilitator, ...parts, log: silentLog }, key, new AbortController().signal);
    expect(endpoint.requests.length).toBe(asked);
    expect((await itemOf(body.id)).trust.lastProbe).toEqual(trust.lastProbe);
    const [row] = await world.database.query<{ waits: boolean }>(
      "SELECT next_at BETWEEN now() + interval '9 minutes' AND now() + interval '11 minutes' AS waits FROM resource_probe WHERE resource_id = $1",
      [body.id],
    );
    expect(row?.waits).toBe(true);
  });

  it("tells its merchant, and nobody else, what the last probe found", async () => {
    const { body } = await write("/v1/x402/resources", terms({ listed: true }));
    const item = await probed(body.id);
    const read = await (await shop.call(`/v1/x402/resources/${body.id}`)).json();
    expect(read).toMatchObject({
      id: body.id,
      lastProbe: {
        ...item.trust.lastProbe,
        findings: [{ code: "probe_not_402" }, { code: "input_schema_missing" }],
      },
    });
    expect(JSON.stringify(item)).not.toContain("probe_not_402");
  });

  it("that declares DELETE is asked so where its host names the merchant, and by GET where it does not", async () => {
    const askedBy = async (path: string) => {
      const url = `${endpoint.origin}${path}`;
      const listed = terms({ url, listed: true, extensions: { bazaar: deleting } });
      await probed((await write("/v1/x402/resources", listed)).body.id);
      return endpoint.requests.filter((request) => request.path === path).map(({ method }) => method);
    };
    expect(await askedBy("/foreign")).toEqual(["GET"]);
    shop = await newMerchant(world);
    endpoint.wellKnownFails = true;
    expect(await askedBy("/silent")).toEqual(["GET"]);
    endpoint.wellKnownFails = false;
    // another merchant, since what a host says of one is kept for a while
    shop = await newMerchant(world);
    endpoint.wellKnown = { merchantId: shop.id };
    expect(await askedBy("/own")).toEqual(["DELETE"]);
  });

  it("whose host names the merchant is verified, and one that only looks like it is marked", async () => {
    endpoint.wellKnown = { version: 1, resources: [endpoint.url], merchantIds: [shop.id] };
    const serviceName = "Acme Weather";
    const { body } = await write("/v1/x402/resources", terms({ listed: true, serviceName }));
    expect((await probed(body.id)).trust.hostVerified).toBe(true);
    // given another merchant with a twin of the name
    shop = await newMerchant(world);
    const twin = terms({ listed: true, serviceName: "Acrne-Weather", url: `${endpoint.origin}/twin` });
    const { body: impostor } = await write("/v1/x402/resources", twin);
    const item = await probed(impostor.id);
    expect(item.trust.hostVerified).toBe(false);
    expect(item.clientNotes[0]).toContain("looks like that of another merchant whose host is verified");
    expect((await itemOf(body.id)).clientNotes.join()).not.toContain("looks like");
  });

  it.each([
    [
      "asks to be paid elsewhere",
      "not ours",
      (required: Required) => ({
        ...required,
        accepts: required.accepts.map((one) => ({
          ...one,
          payTo: "0x2222222222222222222222222222222222222222",
        })),
      }),
    ],
    [
      "moves its target",
      "another resource",
      (required: Required) => ({
        ...required,
        resource: { ...required.resource, url: "https://evil.example/" },
      }),
    ],
    [
      "changes its schema",
      "another input schema",
      (required: Required) => ({
        ...required,
        extensions: {
          ...required.extensions,
          bazaar: { ...bazaar, schema: { type: "object", title: "new" } },
        },
      }),
    ],
  ])("that %s is shown with a warning until it is registered anew", async (_, words, change) => {
    const { body } = await write("/v1/x402/resources", terms({ extensions: { bazaar } }));
    await answerAs(body.id);
    await write(`/v1/x402/resources/${body.id}/list`);
    expect((await probed(body.id)).trust.lastProbe.ok).toBe(true);
    // when it changes behind the merchant's registration
    await answerAs(body.id, change as (required: Required) => Required);
    await probeAgain(body.id);
    const warned = await itemOf(body.id);
    expect(warned.clientNotes[0]).toMatch(/^Warning: /);
    expect(warned.clientNotes[0]).toContain(words);
    expect(warned.trust.lastProbe.ok).toBe(false);
    expect(await itemOf(body.id, "&live=true")).toBeUndefined();
    // and it is not forgiven by changing back
    await answerAs(body.id);
    await probeAgain(body.id);
    expect(await itemOf(body.id)).toMatchObject({
      clientNotes: [expect.stringMatching(/^Warning: /), ...warned.clientNotes.slice(1)],
      trust: { lastProbe: { status: 402, ok: false } },
    });
    // until the merchant registers it anew
    await write("/v1/x402/resources", terms({ extensions: { bazaar } }));
    await until(
      async () => (await itemOf(body.id, "&live=true")) !== undefined,
      "the probe of a registration",
    );
    expect((await itemOf(body.id)).clientNotes.join()).not.toContain(words);
  });

  it("counts what was paid and by how many wallets, once each", async () => {
    const { body: resource } = await write("/v1/x402/resources", terms({ listed: true }));
    const payers = [await newPayer(world.dev), await newPayer(world.dev)];
    for (const payer of [...payers, ...payers.slice(0, 1)]) {
      const { body } = await signPayment(world.dev, payer, resource);
      const settling = post(world.baseUrl, `/x402/resources/${resource.id}/settle`, body);
      expect((await settling).body).toMatchObject({ success: true });
    }
    await until(async () => (await itemOf(resource.id)).trust.settledCount === 3, "three payments counted");
    expect((await itemOf(resource.id)).trust.distinctPayers).toBe(2);
    // told again, as after a restore
    await world.database.query("UPDATE outbox SET delivered_at = NULL WHERE type = 'settlement.credited'");
    await until(
      async () =>
        (await world.database.query("SELECT 1 FROM outbox WHERE delivered_at IS NULL")).length === 0,
      "all facts told",
    );
    expect((await itemOf(resource.id)).trust).toMatchObject({ settledCount: 3, distinctPayers: 2 });
  });

  it("does not count wallets that are payout addresses of its merchant, be it before or after they pay", async () => {
    const { body: resource } = await write("/v1/x402/resources", terms({ listed: true }));
    const [one, before, after] = [
      await newPayer(world.dev),
      await newPayer(world.dev),
      await newPayer(world.dev),
    ];
    const name = ({ address }: typeof one) =>
      write("/v1/payout-addresses", { chain: "local", address: checksum(address) });
    expect((await name(before)).status).toBe(201);
    const known = () => world.database.query("SELECT FROM own_wallet");
    await until(async () => (await known()).length === 1, "the address is heard of");
    for (const payer of [one, before, after]) {
      const { body } = await signPayment(world.dev, payer, resource);
      const settling = post(world.baseUrl, `/x402/resources/${resource.id}/settle`, body);
      expect((await settling).body).toMatchObject({ success: true });
    }
    await until(async () => (await itemOf(resource.id)).trust.settledCount === 3, "three payments counted");
    expect((await itemOf(resource.id)).trust.distinctPayers).toBe(2);
    await name(after);
    await until(async () => (await itemOf(resource.id)).trust.distinctPayers === 1, "one is not counted");
    expect((await itemOf(resource.id)).trust.settledCount).toBe(3);
  });

  it("is probed no more once it is hidden or archived", async () => {
    const { body } = await write("/v1/x402/resources", terms({ listed: true }));
    await probed(body.id);
    const due = () =>
      world.database.query("SELECT next_at FROM resource_probe WHERE resource_id = $1", [body.id]);
    expect(await due()).toEqual([{ next_at: expect.any(Date) }]);
    await write(`/v1/x402/resources/${body.id}/unlist`);
    expect(await due()).toEqual([{ next_at: null }]);
    await write(`/v1/x402/resources/${body.id}/list`);
    await shop.call(`/v1/x402/resources/${body.id}`, { method: "DELETE" });
    expect(await due()).toEqual([{ next_at: null }]);
    expect(await itemOf(body.id)).toBeUndefined();
  });
});
