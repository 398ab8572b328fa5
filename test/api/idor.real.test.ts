/** Every route of the API × a stranger's ids, a key that may less, no key. The routes are read off the router: one that
 *  is not in the matrix fails the test. Source: security.md §7. */
import { beforeAll, describe, expect, it } from "vitest";
import { type Permission, permissions } from "#api";
import { hash } from "#kernel/bytes";
import { withImplied } from "../../api/http/permissions.ts";
import { payout, payoutAddress } from "../../api/payout/tables.ts";
import { refund } from "../../api/refund/tables.ts";
import { event, webhookDelivery } from "../../api/webhook/tables.ts";
import { projectPayable } from "../../facilitator/payable/project.ts";
import { sharedDatabase } from "../support/db.ts";
import { type Caller, caller, newCaller } from "./caller.ts";
import {
  type Attempt,
  customerInput,
  hidden,
  type Ids,
  invoiceInput,
  keyless,
  linkInput,
  listener,
  matrix,
  money,
  productInput,
  recipient,
  resourceInput,
  subscriptionInput,
} from "./idor-matrix.ts";
import { fakeFacilitator, newId, now, rail, stillSandbox, world } from "./world.ts";

const facilitator = fakeFacilitator({
  project: projectPayable,
  rails: () => [rail],
  payments: async () => [],
  deposits: {
    open: async () => ({
      address: recipient,
      payTo: recipient,
      token: recipient,
      deadline: 1_800_000_000n,
      signature: "0x00",
    }),
    resign: () => Promise.reject(new Error("nothing is signed again here")),
    arrivals: async () => [],
    take: async () => {},
  },
});

const database = sharedDatabase();
let app: ReturnType<typeof world>["app"];
let victim: Ids;
let stranger: Caller;
let routes: readonly { readonly name: string; readonly permission: Permission | null }[];
beforeAll(async () => {
  ({ app } = world({ db: database.db, facilitator, sandbox: stillSandbox }));
  victim = await furnish();
  stranger = await newCaller(database.db);
  routes = await readRoutes();
});

/** A merchant with one of everything. */
async function furnish(): Promise<Ids> {
  const { db } = database;
  const owner = await newCaller(db);
  const { merchantId } = owner;
  const call = caller(app, owner);
  const made = await call("POST", "/v1/x402/resources", {
    body: { ...resourceInput, url: "https://victim.example/thing" },
  });
  const key = await call("POST", "/v1/api-keys", { body: { name: "n", permissions: ["x402:read"] } });
  const [pad, po] = [newId("pad"), newId("po")];
  const place = { merchantId, chain: "base", createdAt: now };
  await db.pool
    .insert(payoutAddress)
    .values({ ...place, id: pad, address: recipient, label: "", usableFrom: now });
  await db.pool
    .insert(payout)
    .values({ ...place, id: po, asset: "USDC", amount: 1n, destination: recipient });
  const intent = await call("POST", "/v1/payment-intents", { headers: fresh(), body: { amount: money } });
  const confirm = `/v1/payment-intents/${intent.body.id}/confirm`;
  const confirmed = await call("POST", confirm, { headers: fresh(), body: {} });
  const hears = await call("POST", "/v1/webhook-endpoints", { body: listener });
  const [whd, evt] = [newId("whd"), newId("evt")];
  const told = { merchantId, type: "payment.created", subject: intent.body.id, sequence: 1, createdAt: now };
  const data = { object: { paymentIntent: { id: intent.body.id } }, previous: null };
  await db.pool.insert(event).values({ ...told, id: evt, data, apiVersion: "2026-08-11", occurredAt: now });
  await db.pool.insert(webhookDelivery).values({
    ...{ ...told, id: whd, endpointId: hears.body.id, eventId: evt, updatedAt: now },
    ...{ state: "succeeded", tries: 1, attempts: [], version: 1 },
  });
  const customer = await call("POST", "/v1/customers", { body: customerInput });
  const product = await call("POST", "/v1/catalog/products", { headers: fresh(), body: productInput });
  const link = await call("POST", "/v1/payment-links", { headers: fresh(), body: linkInput });
  const invoice = await call("POST", "/v1/invoices", { headers: fresh(), body: invoiceInput });
  const billed = await call("POST", "/v1/subscriptions", { body: subscriptionInput });
  const re = newId("re");
  await db.pool.insert(refund).values({
    ...{ merchantId, id: re, clearingId: confirmed.body.clearing.id, intentId: intent.body.id },
    ...{ state: "requires-destination", provider: "evm", chain: "base", asset: "USDC" },
    ...{ amount: 1n, fee: 0n, returnsFee: true, reason: "other", metadata: {} },
    ...{ idempotencyScope: "furnished", idempotencyKey: re, fingerprint: hash(`0x${"00".repeat(32)}`) },
    ...{ createdAt: now, updatedAt: now },
  });
  return {
    mer: merchantId,
    key: key.body.id,
    x402r: made.body.id,
    pad,
    po,
    stl: newId("stl"),
    pi: intent.body.id,
    clr: confirmed.body.clearing.id,
    re,
    whe: hears.body.id,
    whd,
    evt,
    cus: customer.body.id,
    prod: product.body.id,
    plink: link.body.id,
    inv: invoice.body.id,
    sub: billed.body.id,
  };
}

/** What the router serves under `/v1`, with the permission that the document names. */
async function readRoutes() {
  const document = (await (await app.request("/openapi.json")).json()) as {
    paths: Record<string, Record<string, { "x-permission"?: Permission }>>;
  };
  const names = app.routes
    .filter(({ method, path }) => method !== "ALL" && path.startsWith("/v1/"))
    .map(({ method, path }) => ({ method, path: path.replace(/:(\w+)/g, "{$1}") }));
  const unique = new Map(names.map((route) => [`${route.method} ${route.path}`, route]));
  return [...unique]
    .filter(([name]) => !keyless.includes(name))
    .map(([name, { method, path }]) => ({
      name,
      permission: document.paths[path]?.[method.toLowerCase()]?.["x-permission"] ?? null,
    }));
}

const partsOf = (name: string) => name.split(" ") as [method: string, path: string];
const codeOf = ({ status, body }: { status: number; body: { code?: string } | null }) =>
  [status, body?.code].filter((part) => part !== undefined).join(" ");
let count = 0;
const fresh = () => ({ "idempotency-key": `idor-${++count}` });

function send(who: Pick<Caller, "key">, name: string, attempt: Attempt, id = "") {
  const [method, template] = partsOf(name);
  const path = (attempt.path?.(victim) ?? template).replace("{id}", id);
  const body = attempt.body?.(victim);
  return caller(app, who)(method, path, { headers: fresh(), ...(body === undefined ? {} : { body }) });
}

/** Everything in the database but when keys were last used. */
async function dump(): Promise<string> {
  const tables = await database.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
  );
  const rows = await Promise.all(
    tables.map(async ({ name }) => [
      name,
      await database.query(`SELECT to_jsonb(t) - 'last_used_at' AS row FROM "${name}" t ORDER BY 1`),
    ]),
  );
  return JSON.stringify(rows);
}

describe("the matrix", () => {
  it("holds every route under /v1, and no other", () => {
    expect(routes.map(({ name }) => name).sort()).toEqual(Object.keys(matrix).sort());
  });

  it("expects 404 wherever a path holds an id", () => {
    for (const [name, attempts] of Object.entries(matrix))
      for (const { answer } of attempts)
        expect([name, name.includes("{") ? answer : "404 not_found"]).toEqual([name, "404 not_found"]);
  });
});

describe("without a good key", () => {
  it("every route answers 401, and nothing changes", async () => {
    const before = await dump();
    for (const { name } of routes)
      for (const attempt of matrix[name] ?? [])
        for (const key of [
          "",
          "nonsense",
          stranger.key.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
        ]) {
          const answer = await send({ key }, name, attempt, victim.x402r);
          expect([name, codeOf(answer)]).toEqual([name, "401 unauthenticated"]);
        }
    expect(await dump()).toBe(before);
  });
});

describe("with a key that may less", () => {
  it("every route that needs a permission answers 403 and names it, and nothing changes", async () => {
    const guarded = routes.flatMap(({ name, permission }) => (permission ? [{ name, permission }] : []));
    expect(guarded.length).toBeGreaterThan(15);
    const keys = new Map<Permission, Caller>();
    for (const { permission } of guarded)
      keys.set(permission, keys.get(permission) ?? (await newCaller(database.db, allBut(permission))));
    const before = await dump();
    for (const { name, permission } of guarded)
      for (const attempt of matrix[name] ?? []) {
        const answer = await send(keys.get(permission) ?? stranger, name, attempt, victim.x402r);
        expect([name, codeOf(answer), answer.body.permission]).toEqual([
          name,
          "403 permission_denied",
          permission,
        ]);
      }
    expect(await dump()).toBe(before);
  });

  function allBut(missing: Permission) {
    return { permissions: permissions.filter((each) => !withImplied([each]).has(missing)) };
  }

  it("a publishable key answers 403 there, and elsewhere reads what is no merchant's", async () => {
    const publishable = await newCaller(database.db, { kind: "pk" });
    const before = await dump();
    for (const { name, permission } of routes)
      for (const attempt of matrix[name] ?? []) {
        const answer = await send(publishable, name, attempt, victim.x402r);
        expect([name, codeOf(answer)]).toEqual([
          name,
          permission ? "403 secret_key_required" : attempt.answer,
        ]);
      }
    expect(await dump()).toBe(before);
  });
});

describe("with another merchant's key", () => {
  it("an id of the victim's answers as one that is missing, of whatever kind, and nothing changes", async () => {
    const before = await dump();
    for (const { name } of routes.filter((route) => route.name.includes("{")))
      for (const attempt of matrix[name] ?? []) {
        const plain = async (id: string) => {
          const { status, body } = await send(stranger, name, attempt, id);
          return { status, body: { ...body, instance: "", requestId: "" } };
        };
        for (const id of Object.values(victim)) {
          const missing = id.replace(/.{20}$/, "Z".repeat(20));
          const answer = await plain(id);
          expect([name, id, codeOf(answer)]).toEqual([name, id, attempt.answer]);
          expect(answer).toEqual(await plain(missing));
        }
      }
    expect(await dump()).toBe(before);
  });

  it("lists, settings and writes show nothing of the victim's and change nothing of it", async () => {
    const mine = async () =>
      (JSON.parse(await dump()) as [string, { row: Record<string, unknown> }[]][]).map(([table, rows]) => [
        table,
        rows.filter(({ row }) => row.merchant_id === victim.mer || row.id === victim.mer),
      ]);
    const before = await mine();
    for (const { name } of routes.filter((route) => !route.name.includes("{")))
      for (const attempt of matrix[name] ?? []) {
        const answer = await send(stranger, name, attempt);
        expect([name, codeOf(answer)]).toEqual([name, attempt.answer]);
        const sent = JSON.stringify(attempt.body?.(victim) ?? "");
        for (const id of Object.values(victim).filter((each) => !sent.includes(each)))
          expect([name, answer.text.includes(id)]).toEqual([name, false]);
      }
    expect(await mine()).toEqual(before);
  });

  it("is told apart from the victim's own, which works: the ids are real", async () => {
    const owner = await newCaller(database.db, { merchantId: victim.mer });
    for (const [name, id] of [
      ["GET /v1/x402/resources/{id}", victim.x402r],
      ["GET /v1/payouts/{id}", victim.po],
      ["GET /v1/payment-intents/{id}", victim.pi],
      ["GET /v1/payments/{id}", victim.clr],
      ["POST /v1/payment-intents/{id}/confirm", victim.pi],
      ["GET /v1/payments/{id}/refunds", victim.clr],
      ["GET /v1/refunds/{id}", victim.re],
      ["POST /v1/refunds/{id}/destination", victim.re],
      ["POST /v1/refunds/{id}/cancel", victim.re],
      ["GET /v1/invoices/{id}", victim.inv],
      ["PATCH /v1/invoices/{id}", victim.inv],
      ["POST /v1/invoices/{id}/issue", victim.inv],
      ["POST /v1/invoices/{id}/list", victim.inv],
      ["GET /v1/subscriptions/{id}", victim.sub],
      ["POST /v1/subscriptions/{id}/pause", victim.sub],
      ["GET /v1/customers/{id}", victim.cus],
      ["PATCH /v1/customers/{id}", victim.cus],
      ["GET /v1/catalog/products/{id}", victim.prod],
      ["GET /v1/payment-links/{id}", victim.plink],
      ["PATCH /v1/payment-links/{id}", victim.plink],
      ["POST /v1/payment-links/{id}/disable", victim.plink],
      ["PATCH /v1/catalog/products/{id}", victim.prod],
      ["POST /v1/x402/resources/{id}/list", victim.x402r],
      ["POST /v1/webhook-endpoints/{id}/test", victim.whe],
      ["GET /v1/webhook-endpoints/{id}/deliveries", victim.whe],
      ["POST /v1/webhook-endpoints/{id}/replay", victim.whe],
      ["POST /v1/webhook-deliveries/{id}/redeliver", victim.whd],
      ["GET /v1/events/{id}", victim.evt],
      ["DELETE /v1/webhook-endpoints/{id}", victim.whe],
      ["POST /v1/api-keys/{id}/rotate", victim.key],
      ["DELETE /v1/payout-addresses/{id}", victim.pad],
    ] as const) {
      const { status } = await send(owner, name, matrix[name]?.[0] ?? hidden, id);
      expect([name, status < 300]).toEqual([name, true]);
    }
  });
});
