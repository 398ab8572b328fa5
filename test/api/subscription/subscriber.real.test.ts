/** A subscription whose customer has another name or email since. */
import { describe, expect, it } from "vitest";
import { projectPayable } from "../../../facilitator/payable/project.ts";
import { sharedDatabase } from "../../support/db.ts";
import { caller, newCaller } from "../caller.ts";
import { fakeFacilitator, world } from "../world.ts";
import { freshBilling, newBiller } from "./billing.ts";

const database = sharedDatabase();
const { time, house } = freshBilling(database);

type Mailed = { readonly email: string };

it("shows the customer as they are now and is found by that, which changes nobody else", async () => {
  const house = world({ db: database.db, facilitator: fakeFacilitator({ project: projectPayable }) });
  const shopOf = async () => {
    const call = caller(house.app, await newCaller(database.db));
    let count = 0;
    return async (method: string, path: string, body?: unknown) => {
      const headers: Record<string, string> = method === "GET" ? {} : { "idempotency-key": `k-${++count}` };
      const answer = await call(method, path, { body, headers });
      if (answer.status >= 300) throw new Error(answer.text);
      return answer.body;
    };
  };
  const [shop, other] = [await shopOf(), await shopOf()];
  const subscribe = (must: typeof shop, email: string) =>
    must("POST", "/v1/subscriptions", {
      ...{ customer: { name: "Ada", email }, description: "Tea", interval: "year" },
      amount: { amount: "5.00", asset: "USD" },
    });
  const tea = await subscribe(shop, "ada@old.example");
  const eve = await subscribe(shop, "eve@old.example");
  const foreign = await subscribe(other, "ada@old.example");
  const { customerId } = tea.subscriber;
  const changed = { name: "Ada Lovelace", email: "ada@new.example" };
  for (const body of [changed, { taxId: "PT1" }]) {
    await shop("PATCH", `/v1/customers/${customerId}`, body);
    const [fact] = await database.query(
      `SELECT id, type, subject, merchant_id AS "merchantId", payload FROM outbox WHERE type = 'customer.updated' ORDER BY sequence DESC LIMIT 1`,
    );
    for (const job of house.jobs.filter(({ hears }) => hears?.includes("customer.updated")))
      await job.run({ fact: fact as never, stopping: new AbortController().signal });
    const { subscription } = await shop("GET", `/v1/subscriptions/${tea.id}`);
    expect(subscription).toMatchObject({ subscriber: { customerId, ...changed }, version: tea.version + 1 });
    expect(subscription).toMatchObject({ nextBillingAt: tea.nextBillingAt, billedCycles: 1 });
  }
  const found = async (must: typeof shop, email: string) =>
    (await must("GET", `/v1/subscriptions?email=${email}`)).map(({ id }: { id: string }) => id);
  expect([await found(shop, "ADA@new.example"), await found(shop, "ada@old.example")]).toEqual([
    [tea.id],
    [],
  ]);
  expect(await found(shop, "eve@old.example")).toEqual([eve.id]);
  expect(await found(other, "ada@old.example")).toEqual([foreign.id]);
});

describe("a customer who changes", () => {
  it("is billed as they are now", async () => {
    const merchant = await newBiller(database, house);
    const kept = await merchant.subscribe();
    const { customerId } = kept.subscriber;
    await merchant.must("PATCH", `/v1/customers/${customerId}`, {
      ...{ name: "Ada King", email: "countess@buyer.example", taxId: "GB1", address: "Marylebone" },
    });
    // the cycle that was issued before stays as it was
    time.set("2028-01-31T10:00:00Z");
    await house.turn("subscriptions");
    const invoices = await merchant.must("GET", `/v1/invoices?subscriptionId=${kept.id}`);
    const buyers = invoices.map(({ buyer }: { buyer: Mailed }) => buyer);
    expect(buyers.toSorted((a: Mailed, b: Mailed) => (a.email > b.email ? -1 : 1))).toEqual([
      { name: "Ada King", email: "countess@buyer.example", taxId: "GB1", address: "Marylebone" },
      { name: "Ada", email: kept.subscriber.email, taxId: null, address: null },
    ]);
    const { subscription } = await merchant.must("GET", `/v1/subscriptions/${kept.id}`);
    expect(subscription.subscriber).toEqual({
      customerId,
      name: "Ada King",
      email: "countess@buyer.example",
    });
  });
});
