/** Invoices before they are issued: what stands on a draft, and whose words and prices. */
import { beforeEach, describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { facts, freshBilling, newBiller } from "../subscription/billing.ts";
import { baseUrl } from "../world.ts";
import { draft } from "./bills.ts";

const database = sharedDatabase();
const { time, house } = freshBilling(database, "2026-08-11T09:30:00.000Z");
let merchant: Awaited<ReturnType<typeof newBiller>>;
beforeEach(async () => {
  merchant = await newBiller(database, house);
});

const typesOf = async (id: string) => (await facts(database, id)).map(({ type }) => type);

describe("a draft", () => {
  it("has no number and no address, changes in everything, and may be deleted", async () => {
    const made = await merchant.must("POST", "/v1/invoices", draft());
    expect(made).toMatchObject({
      state: "draft",
      number: null,
      sequence: null,
      issuedAt: null,
      dueAt: null,
      total: { amount: "10.00", asset: "USD" },
      url: `${baseUrl}/invoices/${made.id}/view`,
      version: 1,
      listed: false,
    });
    const path = `/v1/invoices/${made.id}`;
    const changed = await merchant.must("PATCH", path, {
      buyer: { name: "Eve", taxId: null },
      currency: "EUR",
      lines: [{ name: "One", unitPrice: { amount: "3", asset: "EUR" }, quantity: 3 }],
      daysUntilDue: 5,
      version: 1,
    });
    expect(changed).toMatchObject({
      buyer: { name: "Eve", taxId: null, email: "ada@buyer.example" },
      total: { amount: "9.00", asset: "EUR" },
      version: 2,
    });
    expect(await merchant.ask("PATCH", path, { notes: "late", version: 1 })).toMatchObject({
      status: 409,
      body: { code: "version_conflict" },
    });
    expect((await merchant.ask("DELETE", path)).status).toBe(204);
    expect((await merchant.ask("GET", path)).status).toBe(404);
  });

  it("is not changed by a change to what it is already, nor is what was issued; nothing is told of it", async () => {
    const asked = { ...draft({ notes: "n", metadata: { a: "1", b: "2" } }), dueAt: "2026-09-01T00:00:00Z" };
    const made = await merchant.must("POST", "/v1/invoices", asked);
    const path = `/v1/invoices/${made.id}`;
    const told = await typesOf(made.id);
    expect(await merchant.must("PATCH", path, { ...asked, metadata: { b: "2", a: "1" } })).toEqual(made);
    expect(await typesOf(made.id)).toEqual(told);
    const issued = await merchant.must("POST", `${path}/issue`);
    const { notes, metadata, dueAt, buyer } = issued;
    const { name: _, ...same } = buyer;
    expect(await merchant.must("PATCH", path, { notes, metadata, dueAt, buyer: same })).toEqual(issued);
    expect(await typesOf(made.id)).toEqual([...told, "invoice.issued"]);
    expect((await merchant.must("PATCH", path, { notes: "m" })).version).toBe(issued.version + 1);
  });

  it("takes prices in its own currency alone, unless another one is sent with them", async () => {
    const made = await merchant.must("POST", "/v1/invoices", draft());
    const path = `/v1/invoices/${made.id}`;
    const line = (asset: string) => ({ name: "x", unitPrice: { amount: "10", asset } });
    const wrong = [
      ["USDC", [line("USDC")]],
      ["JPY", [line("JPY"), line("USD")]],
    ] as const;
    for (const [asset, lines] of wrong) {
      const answer = await merchant.ask("PATCH", path, { lines });
      expect(answer).toMatchObject({
        status: 400,
        body: { code: "validation_failed", errors: [{ pointer: "/lines/0/unitPrice/asset" }] },
      });
      expect(answer.body.errors[0].detail).toMatch(new RegExp(`^USD, .* not ${asset};`));
    }
    expect(await merchant.must("GET", path)).toEqual(made);
    const inCoin = await merchant.must("PATCH", path, { currency: "USDC", lines: [line("USDC")] });
    expect(inCoin).toMatchObject({ currency: "USDC", total: { amount: "10.000000", asset: "USDC" } });
  });

  it("issued gets number, dates and what agents may pay; then only what is not money changes", async () => {
    const made = await merchant.must("POST", "/v1/invoices", draft({ daysUntilDue: 10 }));
    const path = `/v1/invoices/${made.id}`;
    expect(await merchant.must("POST", `${path}/issue`)).toMatchObject({
      state: "open",
      status: "open",
      number: "INV-2026-000001",
      sequence: 1,
      issuedAt: "2026-08-11T09:30:00.000Z",
      dueAt: "2026-08-21T09:30:00.000Z",
    });
    for (const change of [
      { lines: draft().lines },
      { currency: "USD", lines: draft().lines },
      { buyer: { name: "Eve" } },
      { daysUntilDue: 3 },
      { sendEmail: true },
    ])
      expect(await merchant.ask("PATCH", path, change)).toMatchObject({
        status: 409,
        body: { code: "invoice_not_editable" },
      });
    expect(await merchant.ask("PATCH", path, { dueAt: "2026-08-20T00:00:00Z" })).toMatchObject({
      status: 422,
      body: { code: "due_date_invalid", errors: [{ pointer: "/dueAt" }] },
    });
    const later = { dueAt: "2026-09-01T00:00:00Z", notes: "Thank\nyou", buyer: { address: "2 Rua" } };
    expect(await merchant.must("PATCH", path, later)).toMatchObject({
      dueAt: "2026-09-01T00:00:00.000Z",
      notes: "Thank\nyou",
      buyer: { name: "Ada Buyer", address: "2 Rua" },
    });
    expect(await merchant.ask("DELETE", path)).toMatchObject({
      status: 409,
      body: { code: "invoice_state" },
    });
    expect(await merchant.ask("POST", `${path}/issue`)).toMatchObject({ body: { code: "invoice_state" } });
    expect(await typesOf(made.id)).toEqual(["invoice.created", "invoice.issued", "invoice.updated"]);
  });

  it("is due when it said last: by a date or after some days, thirty where it said nothing", async () => {
    const issuedAs = async (...said: readonly object[]) => {
      const { id } = await merchant.must("POST", "/v1/invoices", draft());
      for (const change of said) await merchant.must("PATCH", `/v1/invoices/${id}`, change);
      return (await merchant.must("POST", `/v1/invoices/${id}/issue`)).dueAt.slice(0, 10);
    };
    const [date, days] = [{ dueAt: "2026-08-20T00:00:00Z" }, { daysUntilDue: 3 }];
    expect([await issuedAs(), await issuedAs(date, days), await issuedAs(days, date)]).toEqual([
      ...["2026-09-10", "2026-08-14", "2026-08-20"],
    ]);
  });

  it("is not made to be mailed to nobody, nor due in the past", async () => {
    const { id } = await merchant.must("POST", "/v1/invoices", draft({ buyer: { name: "No Mail" } }));
    const change = (body: object) => merchant.ask("PATCH", `/v1/invoices/${id}`, body);
    expect(await change({ sendEmail: true })).toMatchObject({
      status: 422,
      body: { code: "buyer_email_required", errors: [{ pointer: "/buyer/email" }] },
    });
    expect(await change({ dueAt: "2026-08-11T09:29:59Z" })).toMatchObject({
      status: 422,
      body: { code: "due_date_invalid", errors: [{ pointer: "/dueAt" }] },
    });
    const email = "eve@buyer.example";
    expect(await change({ sendEmail: true, buyer: { email } })).toMatchObject({ status: 200 });
  });

  it("with a due date that has passed is not issued; nor one to be sent to nobody", async () => {
    const { id } = await merchant.must("POST", "/v1/invoices", draft({ dueAt: "2026-08-12T00:00:00Z" }));
    time.set("2026-08-13T00:00:00Z");
    expect(await merchant.ask("POST", `/v1/invoices/${id}/issue`)).toMatchObject({
      status: 422,
      body: { code: "due_date_invalid" },
    });
    const open = await merchant.must(
      "POST",
      "/v1/invoices",
      draft({ buyer: { name: "No Mail" }, issue: true }),
    );
    expect(await merchant.ask("POST", `/v1/invoices/${open.id}/send`)).toMatchObject({
      status: 422,
      body: { code: "buyer_email_required" },
    });
  });
});

describe("lines of the catalog", () => {
  it("cost what the catalog says, in the invoice's currency", async () => {
    const product = await merchant.must("POST", "/v1/catalog/products", {
      sku: "tea",
      name: "Tea",
      prices: [
        { amount: "4.20", asset: "USD" },
        { amount: "4.00", asset: "EUR" },
      ],
    });
    const lines = [{ productId: product.id, quantity: 2 }, ...draft().lines];
    const made = await merchant.must("POST", "/v1/invoices", draft({ lines }));
    expect(made).toMatchObject({
      total: { amount: "18.40" },
      lines: [{ productId: product.id, name: "Tea", unitPrice: { amount: "4.20" }, quantity: 2 }, {}, {}],
    });
    await merchant.must("PATCH", `/v1/catalog/products/${product.id}`, {
      prices: [{ amount: "9", asset: "USD" }],
    });
    expect((await merchant.must("GET", `/v1/invoices/${made.id}`)).total.amount).toBe("18.40");
    const inEuro = draft({ currency: "EUR", lines: [{ productId: product.id }] });
    expect(await merchant.ask("POST", "/v1/invoices", inEuro)).toMatchObject({
      status: 422,
      body: { code: "price_missing", errors: [{ pointer: "/lines/0/productId" }] },
    });
  });

  it("keep name and price in a draft while their product is the same; what is added costs what it costs now", async () => {
    const product = (sku: string, amount: string, asset = "USD") =>
      merchant.must("POST", "/v1/catalog/products", { sku, name: sku, prices: [{ amount, asset }] });
    const [tea, mug, jam] = [await product("Tea", "4"), await product("Mug", "6"), await product("Jam", "3")];
    const bought = (id: string, quantity = 1) => ({ productId: id, quantity });
    const made = await merchant.must(
      "POST",
      "/v1/invoices",
      draft({ lines: [bought(tea.id), bought(mug.id)] }),
    );
    const path = `/v1/invoices/${made.id}`;
    const dearer = {
      name: "New tea",
      prices: [5, 9].map((n, i) => ({ amount: `${n}`, asset: ["USD", "EUR"][i] })),
    };
    await merchant.must("PATCH", `/v1/catalog/products/${tea.id}`, dearer);
    await merchant.must("PATCH", `/v1/catalog/products/${mug.id}`, { active: false });
    const save = async (lines: readonly object[], over: object = {}) =>
      (await merchant.must("PATCH", path, { lines, ...over })).lines.map(
        // biome-ignore lint/suspicious/noExplicitAny: an answer off the wire
        ({ name, unitPrice, quantity }: any) => `${quantity} ${name} ${unitPrice.amount} ${unitPrice.asset}`,
      );
    // as they were, though one costs more by now and the other is sold no more; also in another number and place
    expect(await save([bought(tea.id), bought(mug.id)])).toEqual(["1 Tea 4.00 USD", "1 Mug 6.00 USD"]);
    expect(await save([bought(mug.id), bought(tea.id, 3)], { currency: "USD" })).toEqual([
      "1 Mug 6.00 USD",
      "3 Tea 4.00 USD",
    ]);
    // added, once more or in the place of another one
    expect(await save([bought(jam.id), bought(tea.id, 3), bought(tea.id)])).toEqual([
      "1 Jam 3.00 USD",
      "3 Tea 4.00 USD",
      "1 New tea 5.00 USD",
    ]);
    expect(await merchant.must("GET", path)).toMatchObject({ total: { amount: "20.00" } });
    expect(await merchant.ask("PATCH", path, { lines: [bought(mug.id)] })).toMatchObject({
      status: 422,
      body: { code: "product_inactive", errors: [{ pointer: "/lines/0/productId" }] },
    });
    // another currency needs a price in it
    expect(await save([bought(tea.id)], { currency: "EUR" })).toEqual(["1 New tea 9.00 EUR"]);
  });
});

describe("the seller", () => {
  const taxId = "PT 501 964 843";
  const moved = { name: "Tea House", city: "Porto", taxId, address: "2 Rua Nova\n4000-001 Porto" };

  it("is who they were when it was issued: a draft follows them until then, what is issued does not", async () => {
    const made = await merchant.must("POST", "/v1/invoices", draft());
    expect(made.merchant).toMatchObject({ taxId: null, address: null });
    await merchant.must("PATCH", "/v1/merchant", moved);
    const issued = await merchant.must("POST", `/v1/invoices/${made.id}/issue`);
    expect(issued.merchant).toEqual({ ...made.merchant, ...moved });
    const atOnce = await merchant.must("POST", "/v1/invoices", draft({ issue: true }));
    expect(atOnce.merchant).toEqual(issued.merchant);
    await merchant.must("PATCH", "/v1/merchant", { name: "Coffee House", taxId: null, address: null });
    expect((await merchant.must("GET", `/v1/invoices/${made.id}`)).merchant).toEqual(issued.merchant);
  });
});
