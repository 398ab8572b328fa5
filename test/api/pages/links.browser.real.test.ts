/** A person opens a payment link: its page makes the intent, whose page takes the money. */
import { describe, expect, it } from "vitest";
import { expectAccessible, openTab, photograph, sharedBrowser, type Tab } from "../../support/browser.ts";
import { sharedWorld } from "../../support/house.ts";
import { sendTo, sharedSeller } from "../../support/payments.ts";

const world = sharedWorld();
const browser = sharedBrowser();
const seller = sharedSeller(world);

const link = (body: Record<string, unknown>) => seller.must("POST", "/v1/payment-links", body);
const ten = { amount: "10.00", asset: "USD" };
const reads = ({ page }: Tab, title: string) =>
  page.getByRole("heading", { name: title }).waitFor({ timeout: 15_000 });
const press = ({ page }: Tab, name: string) => page.getByRole("button", { name }).click();
const intentsOf = async (linkId: string) =>
  world.database.query<{ id: string; amount: string; source: string }>(
    "SELECT id, amount, source FROM payment_intent WHERE metadata->>'paymentLinkId' = $1 ORDER BY id",
    [linkId],
  );

/** What is read to whoever is at the field of the amount, after its name. */
const described = ({ page }: Tab) =>
  page.evaluate<string>(`document.getElementById("amount").getAttribute("aria-describedby").split(" ")
    .map((id) => document.getElementById(id)?.textContent).join(" ")`);

describe("the page of a link", () => {
  it("of a fixed amount: one button, then the checkout, then paid; a new payer gets a new intent", async () => {
    const made = await link({ kind: "fixed", amount: ten, title: "A pot of tea", maxPayments: 2 });
    const tab = await openTab(browser);
    await tab.page.goto(made.url);
    await tab.page.getByText("A pot of tea").waitFor();
    await photograph(tab, "link");
    await expectAccessible(tab);
    await press(tab, "Pay $10.00");
    await press(tab, "USDC on Local chain");
    await reads(tab, "Waiting for your payment");
    const [intent] = await intentsOf(made.id);
    expect(intent).toMatchObject({ amount: "1000", source: "payment-link" });
    const { deposit } = await seller.read(intent?.id ?? "");
    await sendTo(world, deposit.address, 10_000_000n);
    await reads(tab, "Paid");
    const other = await openTab(browser);
    await other.page.goto(made.url);
    await press(other, "Pay $10.00");
    await reads(other, "How do you want to pay?");
    expect(await intentsOf(made.id)).toHaveLength(2);
    expect([...tab.faults, ...other.faults]).toEqual([]);
  });

  it("of one place: while somebody pays it says so, and once it is paid that it is over", async () => {
    const made = await link({ kind: "fixed", amount: ten, maxPayments: 1 });
    const tab = await openTab(browser);
    await tab.page.goto(made.url);
    await press(tab, "Pay $10.00");
    await press(tab, "USDC on Local chain");
    await reads(tab, "Waiting for your payment");
    const other = await openTab(browser);
    await other.page.goto(made.url);
    await reads(other, "Somebody is paying this right now. Please try again in a while.");
    expect(await other.page.getByText("takes no payments any more").count()).toBe(0);
    await photograph(other, "link-pending");
    await expectAccessible(other);
    const [intent] = await intentsOf(made.id);
    const { deposit } = await seller.read(intent?.id ?? "");
    await sendTo(world, deposit.address, 10_000_000n);
    await reads(tab, "Paid");
    await other.page.goto(made.url);
    await reads(other, "This link takes no payments any more.");
  });

  it("of an open amount: takes what the payer names, within its bounds, with a comma too", async () => {
    const made = await link({
      kind: "open",
      currency: "EUR",
      title: "A gift",
      minAmount: { amount: "5.00", asset: "EUR" },
      maxAmount: { amount: "50.00", asset: "EUR" },
    });
    const tab = await openTab(browser);
    await tab.page.goto(made.url);
    await photograph(tab, "link-open");
    await expectAccessible(tab);
    await tab.page.getByLabel("How much do you want to pay?").fill("4.99");
    await press(tab, "Continue");
    const alert = tab.page.getByRole("alert");
    await alert.waitFor();
    const field = tab.page.getByLabel("How much do you want to pay?");
    expect([await alert.textContent(), await field.inputValue()]).toEqual(["At least €5.00.", "4.99"]);
    expect([await field.getAttribute("aria-invalid"), await described(tab)]).toEqual([
      "true",
      "At least €5.00. From €5.00 to €50.00.",
    ]);
    expect(await tab.page.evaluate("document.activeElement.id")).toBe("amount");
    await photograph(tab, "link-too-small");
    await expectAccessible(tab);
    await field.fill("6000");
    await press(tab, "Continue");
    await tab.page.getByText("At most €50.00.").waitFor();
    expect(await field.inputValue()).toBe("6000");
    await tab.page.getByLabel("How much do you want to pay?").fill("12,50");
    await press(tab, "Continue");
    await reads(tab, "€12.50");
    expect(await intentsOf(made.id)).toMatchObject([{ amount: "1250" }]);
  });

  it.each([
    ["JPY", "en", "Write an amount such as 1250."],
    ["EUR", "en", "Write an amount such as 12.50."],
    ["EUR", "de", "Schreiben Sie einen Betrag wie 12,50."],
    ["EUR", "fr", "Écrivez un montant comme 12,50."],
    ["EUR", "es", "Escriba un importe como 12,50."],
  ])("of any amount of %s: gives an example of it in %s", async (currency, language, words) => {
    const { url } = await link({ kind: "open", currency });
    const headers = { Accept: "text/html", "Accept-Language": language };
    const page = await (await fetch(`${url}?problem=amountWrong&amount="><b>`, { headers })).text();
    expect(page.split(words)).toHaveLength(3);
    expect(page).not.toContain("<b>");
  });

  it("of a cart: says how many of a thing after its name, also where that is written from the right", async () => {
    const product = await seller.must("POST", "/v1/catalog/products", {
      ...{ sku: "coffee", name: "قهوة عربية", prices: [{ amount: "4.00", asset: "USD" }] },
    });
    const lines = [{ productId: product.id, quantity: 3 }];
    const made = await link({ kind: "cart", currency: "USD", lines });
    const tab = await openTab(browser);
    await tab.page.goto(made.url);
    const ofText = (text: string) =>
      tab.page.evaluate<number>(`(() => {
        const words = document.createTreeWalker(document.querySelector(".lines .name"), NodeFilter.SHOW_TEXT);
        const range = document.createRange();
        for (let node = words.nextNode(); node; node = words.nextNode()) {
          const at = node.data.indexOf(${JSON.stringify(text)});
          if (at < 0) continue;
          range.setStart(node, at);
          range.setEnd(node, at + 1);
          return range.getBoundingClientRect().left;
        }
      })()`);
    expect(await ofText("3")).toBeGreaterThan(await ofText("ق"));
    await photograph(tab, "link-cart-rtl");
  });

  it("of a cart: names what is in it; disabled, it takes no money", async () => {
    const product = await seller.must("POST", "/v1/catalog/products", {
      sku: "tea",
      name: "Tea <b>&</b> cake",
      prices: [{ amount: "4.00", asset: "USD" }],
    });
    const lines = [{ productId: product.id, quantity: 3 }];
    const made = await link({ kind: "cart", currency: "USD", lines });
    const tab = await openTab(browser);
    await tab.page.goto(made.url);
    await tab.page.getByText("Tea <b>&</b> cake × 3").waitFor();
    await photograph(tab, "link-cart");
    await press(tab, "Pay $12.00");
    await reads(tab, "How do you want to pay?");
    await seller.must("POST", `/v1/payment-links/${made.id}/disable`);
    await tab.page.goto(made.url);
    await reads(tab, "This link takes no payments any more.");
    expect(await tab.page.getByRole("button").count()).toBe(0);
    await photograph(tab, "link-closed");
    await expectAccessible(tab);
  });
});

describe("POST /checkout/{id}/pay", () => {
  const send = async (id: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const response = await fetch(`${world.baseUrl}/checkout/${id}/pay`, {
      method: "POST",
      redirect: "manual",
      headers,
      body: new URLSearchParams(fields),
    });
    return [response.status, response.headers.get("location")] as const;
  };

  it("the same form sent ten times at once makes one intent, also of the last place", async () => {
    const made = await link({ kind: "fixed", amount: ten, maxPayments: 1 });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => send(made.id, { token: "form-0001" })),
    );
    const [intent, ...more] = await intentsOf(made.id);
    expect(more).toEqual([]);
    const [first] = answers.filter(([, leadsTo]) => !leadsTo?.includes("problem"));
    expect(first).toEqual([303, `/checkout/${intent?.id}`]);
    expect(await send(made.id, { token: "form-0001" })).toEqual([303, `/checkout/${intent?.id}`]);
    expect(await send(made.id, { token: "form-0002" })).toEqual([
      303,
      `/checkout/${made.id}?problem=linkPending`,
    ]);
  });

  it("a form that a browser had kept, sent again with another amount, asks for that; with the same, for the same", async () => {
    const { id } = await link({ kind: "open", currency: "USD" });
    const paying = (amount: string) => send(id, { token: "form-0005", amount, currency: "USD" });
    const [first, other, again] = [await paying("10"), await paying("20"), await paying("10.00")];
    expect(again).toEqual(first);
    const intents = await intentsOf(id);
    expect(new Set([first, other])).toEqual(
      new Set(intents.map((intent) => [303, `/checkout/${intent.id}`] as const)),
    );
    const amountOf = async ([, at]: typeof first) =>
      (await seller.read(at?.split("/")[2] ?? "")).paymentIntent.amount.amount;
    expect([await amountOf(first), await amountOf(other)]).toEqual(["10.00", "20.00"]);
  });

  it.each([
    [{ token: "form-0003" }, "amountWrong"],
    [{ token: "form-0003", amount: "ten", currency: "USD" }, "amountWrong"],
    [{ token: "form-0003", amount: "1.001", currency: "USD" }, "amountWrong"],
    [{ token: "form-0003", amount: "1,000", currency: "USD" }, "amountWrong"],
    [{ token: "form-0003", amount: "10", currency: "EUR" }, "amountWrong"],
    [{ token: "x", amount: "10", currency: "USD" }, "amountWrong"],
    [{ token: "form-0003", amount: "10", currency: "USD", more: "1" }, "amountWrong"],
  ])("%o leads back with %s", async (fields, problem) => {
    const { id } = await link({ kind: "open", currency: "USD" });
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    const typed = given.amount === undefined ? "" : `&amount=${encodeURIComponent(given.amount)}`;
    expect(await send(id, given as Record<string, string>)).toEqual([
      303,
      `/checkout/${id}?problem=${problem}${typed}`,
    ]);
    expect(await intentsOf(id)).toEqual([]);
  });

  it("refuses other sites' forms, and ids of nobody", async () => {
    const { id } = await link({ kind: "fixed", amount: ten });
    expect((await send(id, { token: "form-0004" }, { "Sec-Fetch-Site": "cross-site" }))[0]).toBe(403);
    expect((await send("plink_01K2C0Z0000000000000000000", { token: "form-0004" }))[0]).toBe(404);
    expect((await send("pi_01K2C0Z0000000000000000000", { token: "form-0004" }))[0]).toBe(404);
    expect(await intentsOf(id)).toEqual([]);
  });
});
