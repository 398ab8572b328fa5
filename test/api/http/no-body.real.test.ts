/** A body that may be left out says, when it is, as much as an empty object: what it leaves open has its defaults. */
import { expect, it } from "vitest";
import { sharedWorld } from "../../support/house.ts";
import { sharedSeller } from "../../support/payments.ts";
import { type Body, issued } from "../invoice/bills.ts";

const amount = { amount: "10.00", asset: "USD" };
const world = sharedWorld();
const seller = sharedSeller(world);

/** Without a body a client names no type of it either, unless it says so. */
async function send(
  path: string,
  key: string,
  body?: object,
  type: Record<string, string> | undefined = body && { "Content-Type": "application/json" },
) {
  const response = await fetch(`${world.baseUrl}${path}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${seller.secretKey}`, "Idempotency-Key": key, ...type },
    ...(body && { body: JSON.stringify(body) }),
  });
  const isReplayed = response.headers.has("Idempotent-Replayed");
  return { status: response.status, isReplayed, body: (await response.json()) as Body };
}

const subscription = () =>
  seller.must("POST", "/v1/subscriptions", {
    customer: { name: "Ada", email: "ada@buyer.example" },
    description: "Tea",
    amount,
    interval: "week",
  });
const routes: readonly (readonly [route: string, path: () => Promise<string>])[] = [
  ["invoices/{id}/checkout", async () => `/v1/invoices/${(await issued(seller)).id}/checkout`],
  [
    "payment-links/{id}/checkout",
    async () => {
      const { id } = await seller.must("POST", "/v1/payment-links", { kind: "fixed", amount });
      return `/v1/payment-links/${id}/checkout`;
    },
  ],
  ["payment-intents/{id}/confirm", async () => `/v1/payment-intents/${(await seller.intent()).id}/confirm`],
  ["subscriptions/{id}/pause", async () => `/v1/subscriptions/${(await subscription()).id}/pause`],
  ["subscriptions/{id}/cancel", async () => `/v1/subscriptions/${(await subscription()).id}/cancel`],
];

it.each(routes)("%s: no body and an empty object are one request", async (_, pathOf) => {
  const path = await pathOf();
  const bare = await send(path, "one");
  expect(bare.status).toBeLessThan(300);
  expect(await send(path, "one", {})).toEqual({ ...bare, isReplayed: true });
});

it("a type that says nothing is none: a key is rotated with the grace that it has by itself", async () => {
  const { id } = await seller.must("POST", "/v1/api-keys", {
    kind: "sk",
    name: "till",
    permissions: ["payments:read"],
  });
  const rotated = await send(`/v1/api-keys/${id}/rotate`, "rotate", undefined, { "Content-Type": "" });
  expect(rotated.status).toBe(201);
  const keys: Body[] = await seller.must("GET", "/v1/api-keys");
  const { revokedAt } = keys.find((key) => key.id === id);
  expect(Math.abs(Date.parse(revokedAt) - Date.now() - 86_400_000)).toBeLessThan(600_000);
});

it("a type of nothing is none: many programs name that of a form, as curl does", async () => {
  const path = `/v1/payment-intents/${(await seller.intent()).id}/confirm`;
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  const confirmed = await send(path, "form", undefined, form);
  expect(confirmed.status).toBe(200);
  expect(await send(path, "form")).toEqual({ ...confirmed, isReplayed: true });
});

it("what an invoice's checkout without a body made can be confirmed without one", async () => {
  const { id } = await issued(seller);
  const { body: intent } = await send(`/v1/invoices/${id}/checkout`, "checkout");
  const confirmed = await send(`/v1/payment-intents/${intent.id}/confirm`, "confirm");
  expect(confirmed).toMatchObject({
    status: 200,
    body: { paymentIntent: { executionPath: "deposit-match" }, clearing: { state: "awaiting-funds" } },
  });
});

it.each([{}, { "Content-Type": "" }])(
  "a body whose type is not said (%j) is refused, and nothing is done",
  async (type) => {
    const { id } = await seller.intent();
    const headers = { Authorization: `Bearer ${seller.secretKey}`, "Idempotency-Key": "bytes", ...type };
    const url = `${world.baseUrl}/v1/payment-intents/${id}/confirm`;
    const body = new TextEncoder().encode('{"executionPath":"x402"}');
    const response = await fetch(url, { method: "POST", headers, body });
    expect([response.status, ((await response.json()) as Body).code]).toEqual([
      415,
      "unsupported_media_type",
    ]);
    expect((await seller.must("GET", `/v1/payment-intents/${id}`)).status).toBe("created");
  },
);
