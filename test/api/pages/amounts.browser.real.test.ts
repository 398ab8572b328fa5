/** Amounts on the pages stay on one line, at a desk and on a phone: one that is broken reads as another one. */
import { beforeAll, describe, expect, it } from "vitest";
import { openTab, photograph, sharedBrowser, type Tab } from "../../support/browser.ts";
import { sharedWorld } from "../../support/house.ts";
import { sharedSeller } from "../../support/payments.ts";

const world = sharedWorld();
const browser = sharedBrowser();
const seller = sharedSeller(world);
let tab: Tab;
beforeAll(async () => {
  tab = await openTab(browser);
});

const widths = [360, 860, 1280];
/** Each element with the lines of its text, and whether it stays inside what holds it. */
const measure = (
  selector: string,
) => `[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  const rects = [...range.getClientRects()];
  const holder = element.closest("td, li, .stub, .copyable") ?? document.body;
  const isInside = Math.max(...rects.map(({ right }) => right)) <= holder.getBoundingClientRect().right;
  return [element.textContent, new Set(rects.map(({ bottom }) => Math.round(bottom))).size, isInside];
})`;

/** What is shown there is on one line, as wide as the window may be, and makes no page wider than that. */
async function expectOneLine(url: string, selector: string, shown: readonly string[]): Promise<void> {
  await tab.page.goto(url);
  for (const width of widths) {
    await tab.page.setViewportSize({ width, height: 800 });
    expect([width, await tab.page.evaluate(measure(selector))]).toEqual([
      width,
      shown.map((text) => [text, 1, true]),
    ]);
    expect([width, await tab.page.evaluate("document.documentElement.scrollWidth")]).toEqual([width, width]);
  }
}

const usd = (amount: string) => ({ amount, asset: "USD" });
const checkout = (id: string) => `${world.baseUrl}/checkout/${id}`;

describe("an amount is on one line", () => {
  it.each([
    [{ amount: "1234.50", asset: "EUR" }, "€1,234.50"],
    [usd("987654.32"), "$987,654.32"],
    [{ amount: "9876543210.12", asset: "IDR" }, "9,876,543,210.12 IDR"],
  ])("of a payment of %o", async (amount, shown) => {
    const { id } = await seller.intent({ amount });
    await expectOneLine(checkout(id), ".amount", [shown]);
  });

  it("to be sent", async () => {
    const { paymentIntent } = await seller.asked({ amount: usd("687654.32") });
    await expectOneLine(checkout(paymentIntent.id), "#amount", ["687654.32"]);
    await photograph(tab, "amount-to-send");
  });

  it("of an invoice, and of its lines", async () => {
    const { url } = await seller.must("POST", "/v1/invoices", {
      buyer: { name: "Ada Lovelace" },
      currency: "EUR",
      lines: [
        {
          name: "Consulting ".repeat(9).trim(),
          unitPrice: { amount: "12345.67", asset: "EUR" },
          quantity: 65,
        },
      ],
      issue: true,
    });
    await expectOneLine(url, ".amount", ["€802,468.55"]);
    await expectOneLine(url, "td:not(:first-child)", ["65", "€12,345.67", "€802,468.55"]);
    await photograph(tab, "amount-of-an-invoice");
  });

  it("of a cart's lines", async () => {
    const product = await seller.must("POST", "/v1/catalog/products", {
      sku: "long",
      name: `A ${"very ".repeat(20)}long name`,
      prices: [usd("123456.78")],
    });
    const lines = [{ productId: product.id, quantity: 8 }];
    const { url } = await seller.must("POST", "/v1/payment-links", { kind: "cart", currency: "USD", lines });
    await expectOneLine(url, ".lines strong", ["$987,654.24"]);
    await photograph(tab, "amount-of-a-line");
  });
});
