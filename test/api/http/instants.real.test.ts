/** Moments whose year PostgreSQL cannot read are refused wherever one is named. */
import { beforeAll, describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { type Caller, caller, newCaller } from "../caller.ts";
import { newId, world } from "../world.ts";

const database = sharedDatabase();
let app: ReturnType<typeof world>["app"];
let owner: Caller;
beforeAll(async () => {
  ({ app } = world({ db: database.db }));
  owner = await newCaller(database.db);
});

const beyond = ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"];
const lists = [
  ["/v1/payment-intents", "createdFrom", "createdTo"],
  ["/v1/payments", "createdFrom", "createdTo"],
  ["/v1/events", "createdFrom", "createdTo"],
  ["/v1/ledger/entries", "from", "to"],
] as const;
const named = lists.flatMap(([path, ...fields]) =>
  fields.flatMap((field) => beyond.map((text) => [path, field, text] as const)),
);

describe("in a query", () => {
  it.each(named)("%s %s=%s is 400 and names the field", async (path, field, text) => {
    const answer = await caller(app, owner)("GET", `${path}?${field}=${encodeURIComponent(text)}`);
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: "validation_failed",
        errors: [{ pointer: `/query/${field}`, detail: expect.stringContaining("1 to 9999") }],
      },
    });
  });
});

it.each(lists)(
  "%s: an offset whose + came as a blank says how it is written in a query",
  async (path, field) => {
    const asked = (text: string) => caller(app, owner)("GET", `${path}?${field}=${text}`);
    const { status, body } = await asked("2026-08-11T09:30:00+02:00");
    expect([status, body.errors]).toMatchObject([400, [{ detail: expect.stringMatching(/%2B/) }]]);
    expect((await asked("2026-08-11T09:30:00%2B02:00")).status).toBe(200);
    expect((await asked("2026-08-11")).body.errors[0].detail).not.toContain("%2B");
  },
);

describe("in a body", () => {
  const amount = { amount: "10", asset: "USD" };
  const bill = {
    buyer: { name: "Ada" },
    currency: "USD",
    lines: [{ name: "Tea", unitPrice: amount, quantity: 1 }],
  };
  const bodies: readonly (readonly [method: string, path: string, field: string, body: object])[] = [
    ["POST", "/v1/payment-links", "expiresAt", { kind: "fixed", amount }],
    ["PATCH", `/v1/payment-links/${newId("plink")}`, "expiresAt", {}],
    ["POST", "/v1/invoices", "dueAt", bill],
    ["PATCH", `/v1/invoices/${newId("inv")}`, "dueAt", {}],
    ["POST", "/v1/api-keys", "expiresAt", { name: "shop", permissions: ["payments:read"] }],
  ];
  it.each(bodies)("%s %s %s is 400 and names the field", async (method, path, field, body) => {
    const at = beyond[1];
    const answer = await caller(app, owner)(method, path, {
      body: { ...body, [field]: at },
      headers: { "idempotency-key": newId("req") },
    });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: "validation_failed",
        errors: [{ pointer: `/${field}`, detail: expect.stringContaining("1 to 9999") }],
      },
    });
  });
});
