/** A merchant sells by the dashboard alone: products, customers, links, invoices, subscriptions, each by its forms. */
import { beforeAll, describe, expect, it } from "vitest";
import { sharedBrowser } from "../../support/browser.ts";
import { books, sharedWorld, until } from "../../support/house.ts";
import { sendTo, sharedSeller } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { signIn, type Visitor } from "./selling.ts";

const world = sharedWorld();
const browser = sharedBrowser();
const seller = sharedSeller(world);
let me: Visitor;
beforeAll(async () => {
  me = await signIn(browser, world.baseUrl, seller.secretKey);
});

const hostile = `"><img src=x onerror=alert(1)> Tea`;
const read = (path: string) => seller.must("GET", path);

async function newProduct(sku: string, name: string) {
  const prices = [{ amount: "4.00", asset: "USD" }];
  return seller.must("POST", "/v1/catalog/products", { sku, name, prices });
}
/** The money of an intent comes; the payer has chosen nothing yet. */
async function pay(intentId: string, amount: bigint) {
  const { deposit } = await seller.read(intentId);
  await sendTo(world, deposit.address, amount);
}

/** Ten dollars less our half per cent are the merchant's, by rows of a ledger that balances. */
async function expectCredit(intentId: string) {
  const { clearing } = await seller.read(intentId);
  const rows = await ledgerOf(world.database, clearing.id);
  expect(rows.filter((row) => row.includes("net clearing"))).toContain(
    "pending net clearing → available 9950000",
  );
  const { balanced, available } = await books(world.dev, world.database);
  credited += 9_950_000n;
  expect([balanced, available.posted + available.pending]).toEqual([true, credited]);
}
let credited = 0n;

describe("products", () => {
  it("are added with several prices, refused beside the field, changed, archived and restored", async () => {
    await me.go("products");
    await me.says("No products yet");
    await me.look("products-empty");
    await newProduct("taken", "Taken");
    await me.go("products/new");
    await me.look("product-new");
    await me.fill({ name: hostile, sku: "taken", description: "Green" });
    await me.fill({ "prices.0.amount": "4.00", "prices.1.amount": "3.50" });
    await me.choose("prices.1.asset", "EUR");
    await me.press("More prices");
    expect(await me.page.locator("[name^=prices][name$=amount]").count()).toBe(4);
    expect(await me.valueOf("name")).toBe(hostile);
    expect(await me.page.getByRole("alert").count()).toBe(0);
    await me.press("Add the product");
    await me.page.getByRole("alert").getByText("SKU taken").waitFor();
    expect(await me.page.locator("#field-sku-error").textContent()).toContain("SKU");
    expect(await me.valueOf("prices.1.asset")).toBe("EUR");
    await me.look("product-refused");
    await me.fill({ sku: "tea" });
    await me.press("Add the product");
    await me.says("The product is in your catalog.");
    const id = me.id();
    expect(await read(`/v1/catalog/products/${id}`)).toMatchObject({
      name: hostile,
      sku: "tea",
      prices: [{ display: "$4.00" }, { display: "€3.50" }],
    });
    await me.look("product");
    await me.follow("Edit");
    await me.fill({ name: "Tea", description: "", "prices.1.amount": "" });
    await me.press("Save the product");
    await me.says("The product is saved.");
    expect(await read(`/v1/catalog/products/${id}`)).toMatchObject({
      name: "Tea",
      description: null,
      prices: [{ display: "$4.00" }],
    });
    await me.press("Archive");
    await me.says("The product is archived");
    expect((await read(`/v1/catalog/products/${id}`)).active).toBe(false);
    await me.go("products?active=false");
    await me.follow("Tea");
    await me.press("Restore");
    await me.says("The product is for sale again.");
    await me.go("products");
    await me.look("products");
    expect(me.tab.faults.filter((fault) => /alert|Policy/.test(fault))).toEqual([]);
  });
});

describe("links", () => {
  it("are made of each kind, listed, disabled and edited; what was paid by one stands with it", async () => {
    await me.go("links");
    await me.look("links-empty");
    await me.page.locator(".empty").getByRole("link", { name: "New link" }).click();
    await me.fill({ title: "A pot of tea", "amount.amount": "ten" });
    await me.press("Make the link");
    await me.page.getByRole("alert").waitFor();
    expect(await me.page.locator("#field-amount-amount-error").textContent()).toContain(
      "An amount in digits",
    );
    expect(await me.valueOf("title")).toBe("A pot of tea");
    await me.look("link-refused");
    await me.fill({ "amount.amount": "10.00", maxPayments: "2", expiresAt: "2999-01-01T10:30" });
    await me.press("Make the link");
    await me.says("The link is made.");
    const id = me.id();
    const made = await read(`/v1/payment-links/${id}`);
    expect(made).toMatchObject({
      kind: "fixed",
      amount: { display: "$10.00" },
      maxPayments: 2,
      expiresAt: "2999-01-01T10:30:00.000Z",
      listed: false,
    });
    await me.says(`${world.baseUrl}/x402/payables/${id}`);
    await me.press("List in the index");
    await me.says("The link is shown in the public index");
    expect((await read(`/v1/payment-links/${id}`)).listed).toBe(true);
    const intent = await seller.must("POST", `/v1/payment-links/${id}/checkout`, {});
    await seller.confirm(intent.id, { payment: { asset: "USDC", chain: "local" } });
    await pay(intent.id, 10_000_000n);
    await seller.reaches(intent.id, "settled");
    await me.go(`links/${id}`);
    await me.page.locator(`a[href="/dashboard/payments/${intent.id}"]`).waitFor();
    await me.look("link");
    await me.press("Disable");
    await me.says("The link takes no payments any more.");
    expect((await read(`/v1/payment-links/${id}`)).payable).toBe(false);
    await me.press("Enable");
    await me.follow("Edit");
    await me.look("link-edit");
    await me.fill({ title: "Two pots", expiresAt: "", maxPayments: "" });
    await me.press("Save the link");
    await me.says("The link is saved.");
    expect(await read(`/v1/payment-links/${id}`)).toMatchObject({
      title: "Two pots",
      expiresAt: null,
      maxPayments: null,
      disabledAt: null,
    });
    await me.press("Take out of the index");
    await me.says("The link is out of the public index.");
    await expectCredit(intent.id);
  });

  it("a cart of products, and an open amount between two bounds", async () => {
    const tea = await newProduct("cart-tea", "Cart tea");
    await me.go("links/new?kind=cart");
    await me.choose("lines.1.productId", tea.id);
    await me.fill({ "lines.1.quantity": "3" });
    await me.look("link-cart-new");
    await me.press("Make the link");
    await me.says("The link is made.");
    expect(await read(`/v1/payment-links/${me.id()}`)).toMatchObject({
      kind: "cart",
      amount: { display: "$12.00" },
      lines: [{ productId: tea.id, quantity: 3 }],
    });
    await me.look("link-cart");
    await me.go("links/new?kind=open");
    await me.choose("currency", "EUR");
    await me.fill({ "minAmount.amount": "5", "maxAmount.amount": "2" });
    await me.press("Make the link");
    await me.page.locator("#field-maxAmount-amount, .problem").first().waitFor();
    await me.fill({ "maxAmount.amount": "50" });
    await me.press("Make the link");
    await me.says("The link is made.");
    expect(await read(`/v1/payment-links/${me.id()}`)).toMatchObject({
      kind: "open",
      minAmount: { display: "€5.00" },
      maxAmount: { display: "€50.00" },
    });
    await me.go("links");
    await me.look("links");
  });
});

describe("invoices", () => {
  it("a draft grows by lines, is refused beside its line, changed, issued, listed, mailed and paid", async () => {
    const tea = await newProduct("invoice-tea", "Invoice tea");
    await me.go("invoices");
    await me.look("invoices-empty");
    await me.go("invoices/new");
    await me.look("invoice-new");
    await me.fill({ "buyer.name": "Ada <b>Lovelace</b>", "buyer.address": "1 Analytical Row\nLondon" });
    await me.fill({ "lines.0.name": "Consulting", "lines.0.unitPrice.amount": "2.001" });
    await me.choose("lines.2.productId", tea.id);
    await me.press("More lines");
    expect(await me.page.locator("[name$='.quantity']").count()).toBe(5);
    expect(await me.valueOf("lines.1.productId")).toBe(tea.id);
    await me.press("Make the invoice");
    await me.page.getByRole("alert").getByText("Too many decimals").waitFor();
    await me.page.locator("#field-lines-0-unitPrice-amount-error").waitFor();
    await me.look("invoice-refused");
    await me.fill({ "lines.0.unitPrice.amount": "2.00" });
    await me.press("Make the invoice");
    await me.says("The draft is made.");
    const id = me.id();
    expect(await read(`/v1/invoices/${id}`)).toMatchObject({
      state: "draft",
      buyer: { name: "Ada <b>Lovelace</b>", address: "1 Analytical Row\nLondon", email: null },
      lines: [{ name: "Consulting", quantity: 1 }, { productId: tea.id }],
      total: { display: "$6.00" },
    });
    await me.look("invoice-draft");
    await me.follow("Edit");
    await me.fill({ "buyer.email": "ada@buyer.example", "lines.0.quantity": "3", notes: "Thanks" });
    await me.press("Save the draft");
    await me.says("The invoice is saved.");
    await me.page.getByRole("row", { name: "Consulting 3 $2.00 $6.00" }).waitFor();
    expect((await read(`/v1/invoices/${id}`)).total.display).toBe("$10.00");
    await me.press("Issue");
    await me.says("The invoice is issued");
    const issued = await read(`/v1/invoices/${id}`);
    await me.page.getByRole("heading", { name: issued.number }).waitFor();
    await me.press("Mail it");
    await me.says("The invoice is on its way to its buyer.");
    expect((await read(`/v1/invoices/${id}`)).sendEmail).toBe(true);
    await me.press("List in the index");
    await me.says("The invoice is shown in the public index");
    const intent = await seller.must("POST", `/v1/invoices/${id}/checkout`, {});
    await seller.confirm(intent.id, { payment: { asset: "USDC", chain: "local" } });
    await pay(intent.id, 10_000_000n);
    await until(async () => (await read(`/v1/invoices/${id}`)).state === "paid", "the invoice is paid");
    await me.go(`invoices/${id}`);
    await me.page.locator(`a[href="/dashboard/payments/${intent.id}"]`).waitFor();
    await me.look("invoice-paid");
    await expectCredit(intent.id);
    const pdf = await fetch(
      `${world.baseUrl}${await me.page.getByRole("link", { name: "PDF" }).getAttribute("href")}`,
    );
    expect([pdf.status, pdf.headers.get("content-type")]).toEqual([200, "application/pdf"]);
  });

  it("what cannot be taken back is asked for on a page of its own", async () => {
    const terms = {
      buyer: { name: "Ada", email: "ada@buyer.example" },
      currency: "USD",
      lines: [{ name: "Travel", unitPrice: { amount: "2.00", asset: "USD" } }],
    };
    const [draft, open, lost] = [
      await seller.must("POST", "/v1/invoices", terms),
      await seller.must("POST", "/v1/invoices", { ...terms, issue: true }),
      await seller.must("POST", "/v1/invoices", { ...terms, issue: true }),
    ];
    await me.go(`invoices/${draft.id}`);
    await me.follow("Delete");
    await me.press("Delete the draft");
    await me.page.waitForURL(`${world.baseUrl}/dashboard/invoices`);
    expect((await seller.ask("GET", `/v1/invoices/${draft.id}`)).status).toBe(404);
    await me.look("invoices");
    await me.go(`invoices/${open.id}`);
    await me.look("invoice-open");
    await me.follow("Edit");
    await me.fill({ dueAt: "2999-12-31", notes: "Later" });
    await me.look("invoice-edit");
    await me.press("Save the invoice");
    await me.says("The invoice is saved.");
    expect((await read(`/v1/invoices/${open.id}`)).dueAt).toBe("2999-12-31T23:59:59.000Z");
    await me.follow("Void");
    await me.look("invoice-void");
    expect((await read(`/v1/invoices/${open.id}`)).state).toBe("open");
    await me.press("Void the invoice");
    await me.says("The invoice is void.");
    expect((await read(`/v1/invoices/${open.id}`)).state).toBe("void");
    await me.go(`invoices/${lost.id}`);
    await me.follow("Uncollectible");
    await me.press("Mark it uncollectible");
    await me.says("The invoice is marked uncollectible.");
    expect((await read(`/v1/invoices/${lost.id}`)).state).toBe("uncollectible");
  });
});

describe("customers and subscriptions", () => {
  it("a customer is added, changed and billed again and again; paused, resumed, cancelled", async () => {
    await me.go("customers");
    await me.look("customers-empty");
    await me.go("customers/new");
    await me.fill({ name: "Grace Hopper", email: "grace@buyer.example", taxId: "US1" });
    await me.press("Add the customer");
    await me.says("The customer is added.");
    const customerId = me.id();
    await me.follow("Edit");
    await me.fill({ name: "Grace", taxId: "", address: "1 Navy Yard, Arlington" });
    await me.press("Save the customer");
    await me.says("The customer is saved.");
    expect(await read(`/v1/customers/${customerId}`)).toMatchObject({
      name: "Grace",
      taxId: null,
      address: "1 Navy Yard, Arlington",
    });
    await me.go("subscriptions");
    await me.look("subscriptions-empty");
    await me.go(`customers/${customerId}`);
    await me.follow("New subscription");
    expect(await me.valueOf("customer.email")).toBe("grace@buyer.example");
    await me.fill({ description: "Newsletter", "amount.amount": "5.00", intervalCount: "99" });
    await me.press("Start the subscription");
    await me.page.locator("#field-intervalCount-error").waitFor();
    await me.look("subscription-refused");
    await me.fill({ intervalCount: "3" });
    await me.press("Start the subscription");
    await me.says("The subscription is made.");
    const id = me.id();
    const { subscription, cycles } = await read(`/v1/subscriptions/${id}`);
    expect(subscription).toMatchObject({
      subscriber: { customerId },
      interval: "month",
      intervalCount: 3,
      amount: { display: "$5.00" },
      billedCycles: 1,
    });
    await me.look("subscription");
    await me.page.locator(`a[href="/dashboard/invoices/${cycles[0].id}"]`).waitFor();
    await me.follow("Edit");
    await me.fill({ "amount.amount": "6.00" });
    await me.press("Save the subscription");
    await me.says("The subscription is saved.");
    await me.fill({ reason: "Holiday" });
    await me.press("Pause");
    await me.says("The subscription is paused.");
    expect((await read(`/v1/subscriptions/${id}`)).subscription).toMatchObject({
      state: "paused",
      pauseReason: "Holiday",
      amount: { display: "$6.00" },
    });
    await me.press("Resume");
    await me.says("The subscription goes on.");
    await me.follow("Cancel");
    await me.look("subscription-cancel");
    await me.choose("at", "now");
    await me.page.getByLabel("Void its invoices that are not paid").check();
    await me.press("Cancel the subscription");
    await me.says("The subscription is cancelled.");
    expect((await read(`/v1/subscriptions/${id}`)).subscription.state).toBe("cancelled");
    await until(
      async () => (await read(`/v1/invoices/${cycles[0].id}`)).state === "void",
      "its invoice is void",
    );
    await me.go("subscriptions");
    await me.look("subscriptions");
  });

  it("a customer's page adds up what they paid and owe, and leads to all of it", async () => {
    const grace = await seller.must("POST", "/v1/customers", { name: "Emmy", email: "emmy@buyer.example" });
    await me.go(`customers/${grace.id}`);
    await me.follow("New invoice");
    expect(await me.valueOf("buyer.email")).toBe("emmy@buyer.example");
    await me.fill({ "lines.0.name": "Algebra", "lines.0.unitPrice.amount": "7.50", "lines.0.quantity": "2" });
    await me.page.getByLabel("Issue it at once").check();
    await me.press("Make the invoice");
    await me.says("The invoice is issued");
    const id = me.id();
    const paid = await seller.intent({ customer: { email: "Emmy@buyer.example", name: "Emmy" } });
    await me.page.locator("main").getByRole("link", { name: "Emmy" }).click();
    await me.page.waitForURL(`${world.baseUrl}/dashboard/customers/${grace.id}`);
    const totals = me.page.getByRole("table", { name: "What was paid and is owed, by currency" });
    expect(await totals.locator("tbody").textContent()).toContain("$15.00");
    await me.page.locator(`a[href="/dashboard/invoices/${id}"]`).waitFor();
    await me.page.locator(`a[href="/dashboard/payments/${paid.id}"]`).waitFor();
    await me.look("customer");
    await me.go("customers?find=EMMY@buyer.example");
    expect(await me.page.locator("tbody tr").count()).toBe(1);
    await me.go("customers");
    await me.look("customers");
  });
});
