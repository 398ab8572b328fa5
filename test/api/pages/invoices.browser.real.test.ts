/** A person reads an invoice and pays it; what its page keeps to itself. */
import { describe, expect, it } from "vitest";
import { expectAccessible, openTab, photograph, sharedBrowser, type Tab } from "../../support/browser.ts";
import { sharedWorld, until } from "../../support/house.ts";
import { sendTo, sharedSeller } from "../../support/payments.ts";

const world = sharedWorld();
const browser = sharedBrowser();
const seller = sharedSeller(world);

const terms = {
  buyer: { name: "Ada Lovelace", email: "ada@buyer.example", taxId: "PT999", address: "1 Analytical Row" },
  currency: "USD",
  lines: [
    { name: "Consulting <i>hours</i>", unitPrice: { amount: "4.00", asset: "USD" }, quantity: 2 },
    { name: "Travel", unitPrice: { amount: "2.00", asset: "USD" }, quantity: 1 },
  ],
  notes: "Thank you.\nAda's copy.",
  metadata: { margin: "high" },
  daysUntilDue: 14,
};
const issued = (body: Record<string, unknown> = {}) =>
  seller.must("POST", "/v1/invoices", { ...terms, issue: true, ...body });
const reads = ({ page }: Tab, title: string) =>
  page.getByRole("heading", { name: title }).waitFor({ timeout: 15_000 });
const press = ({ page }: Tab, name: string) => page.getByRole("button", { name }).click();
const cells = (rows: readonly string[]) => rows.map((row) => row.split(/\s*[\t\n]\s*/));
const intentsOf = async (id: string) =>
  world.database.query<{ id: string }>(
    "SELECT id FROM payment_intent WHERE metadata->>'invoiceId' = $1 ORDER BY id",
    [id],
  );
const pay = (id: string, headers: Record<string, string> = {}) =>
  fetch(`${world.baseUrl}/invoices/${id}/pay`, { method: "POST", redirect: "manual", headers });

describe("the page of an invoice", () => {
  it("says what is owed for what, takes the payment, and says that it is paid", async () => {
    const made = await issued();
    expect(made.url).toBe(`${world.baseUrl}/invoices/${made.id}/view`);
    const tab = await openTab(browser);
    await tab.page.goto(made.url);
    await reads(tab, `Invoice ${made.number}`);
    await tab.page.getByText("Consulting <i>hours</i>").waitFor();
    await tab.page.getByText("For Ada Lovelace").waitFor();
    expect(await tab.page.locator("tr").allInnerTexts().then(cells)).toEqual([
      ["Item", "Quantity", "Price", "Amount"],
      ["Consulting <i>hours</i>", "2", "$4.00", "$8.00"],
      ["Travel", "1", "$2.00", "$2.00"],
    ]);
    expect(await tab.page.content()).not.toMatch(/buyer\.example|PT999|Analytical|margin/);
    await photograph(tab, "invoice");
    await expectAccessible(tab);
    await press(tab, "Pay $10.00");
    await press(tab, "USDC on Local chain");
    await reads(tab, "Waiting for your payment");
    const [intent] = await intentsOf(made.id);
    const { deposit } = await seller.read(intent?.id ?? "");
    await sendTo(world, deposit.address, 10_000_000n);
    await reads(tab, "Paid");
    await until(async () => (await seller.must("GET", `/v1/invoices/${made.id}`)).state === "paid", "paid");
    await tab.page.getByRole("link", { name: `Invoice ${made.number}` }).click();
    await tab.page.getByText("This invoice is paid.").waitFor();
    expect(await tab.page.getByRole("button").count()).toBe(0);
    await photograph(tab, "invoice-paid");
    await expectAccessible(tab);
    expect(tab.faults).toEqual([]);
  });

  it.each(["light", "dark"] as const)(
    "is printed dark on white, without what can be pressed: %s",
    async (colorScheme) => {
      await seller.must("PATCH", "/v1/merchant", { brandColour: "#102a6b" });
      const made = await issued();
      const tab = await openTab(browser, { colorScheme });
      await tab.page.goto(made.url);
      await tab.page.emulateMedia({ media: "print" });
      expect(await tab.page.getByRole("button", { name: "Pay $10.00" }).isVisible()).toBe(false);
      const pale = await tab.page.evaluate(`[...document.querySelectorAll("body *")]
      .filter((each) => each.checkVisibility() && each.innerText?.trim())
      .filter((each) => Math.max(...getComputedStyle(each).color.match(/\\d+/g).slice(0, 3)) > 100)
      .map((each) => each.innerText)`);
      expect(pale).toEqual([]);
      const grounds = await tab.page.evaluate(`[...document.querySelectorAll(".stub, .ticket, body")]
      .map((each) => getComputedStyle(each).backgroundImage + getComputedStyle(each).backgroundColor)`);
      expect(new Set(grounds as readonly string[])).toEqual(new Set(["nonergb(255, 255, 255)"]));
      await photograph(tab, `invoice-printed-${colorScheme}`);
    },
  );

  it("of a listed one tells nothing of its buyer, since anybody may find it; nor afterwards", async () => {
    const made = await issued();
    for (const word of ["list", "unlist", "void"]) {
      await seller.must("POST", `/v1/invoices/${made.id}/${word}`);
      const page = await (await fetch(made.url, { headers: { Accept: "text/html" } })).text();
      expect(page).toContain(made.number);
      expect(page).not.toMatch(/Ada|Thank you/);
    }
  });

  it("of a void one asks for nothing, and speaks the reader's language", async () => {
    const made = await issued();
    await seller.must("POST", `/v1/invoices/${made.id}/void`);
    const tab = await openTab(browser, { locale: "fr-FR" });
    await tab.page.goto(made.url);
    await reads(tab, `Facture ${made.number}`);
    await tab.page.getByText("Cette facture a été annulée.").waitFor();
    expect(await tab.page.getByRole("button").count()).toBe(0);
    expect((await pay(made.id)).headers.get("location")).toBe(
      `/invoices/${made.id}/view?problem=invoiceClosed`,
    );
  });

  it("404 for a draft and for an id of nobody", async () => {
    const draft = await issued({ issue: false });
    for (const id of [draft.id, "inv_01K2C0Z0000000000000000000", "pi_x"]) {
      const response = await fetch(`${world.baseUrl}/invoices/${id}/view`);
      expect([response.status, response.headers.get("content-type")]).toEqual([
        404,
        "text/html; charset=UTF-8",
      ]);
      expect((await pay(id)).status).toBe(404);
    }
  });
});

describe("POST /invoices/{id}/pay", () => {
  it("ten at once lead to one intent; another site's form to none", async () => {
    const made = await issued();
    expect((await pay(made.id, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect(await intentsOf(made.id)).toEqual([]);
    const answers = await Promise.all(Array.from({ length: 10 }, () => pay(made.id)));
    const [intent, ...more] = await intentsOf(made.id);
    expect(more).toEqual([]);
    const places = new Set(answers.map((each) => `${each.status} ${each.headers.get("location")}`));
    expect(places).toEqual(new Set([`303 /checkout/${intent?.id}`]));
  });
});
