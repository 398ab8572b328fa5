/** What the page of an invoice says of its sums and of where it stands. */
import { expect, it } from "vitest";
import type { OpenInvoice } from "../../../api/pages/verbs/invoice.ts";
import { InvoicePage } from "../../../api/pages/view/invoice.tsx";
import { speechOf } from "../../../api/pages/words/index.ts";

const usd = (amount: string) => ({ amount, asset: "USD", formatted: `${amount} USD`, display: `$${amount}` });
const invoice = {
  id: "inv_x",
  merchant: {
    id: "mer_x",
    name: "Shop",
    city: "Porto",
    countryCode: "PT",
    categoryCode: null,
    taxId: null,
    address: null,
  },
  number: "INV-2026-000001",
  lines: [{ productId: null, name: "Tea", unitPrice: usd("5.00"), quantity: 2 }],
  ...{ total: usd("10.00"), paid: usd("4.00"), outstanding: usd("6.00") },
  ...{ buyerName: null, notes: null, underWay: null, issuedAt: null, dueAt: null },
};

async function pageOf(over: object, lang = "en"): Promise<string> {
  const html = await InvoicePage({
    invoice: { ...invoice, ...over } as OpenInvoice,
    speech: speechOf(lang),
    assets: { style: "/a.css", script: "/a.js" },
    brand: { colour: null, logo: null },
    problem: null,
  });
  return String(html);
}

it.each(["open", "uncollectible"])(
  "tells what was paid and what is left of one that is %s",
  async (state) => {
    const html = await pageOf({ state });
    expect(html).toContain("<td>Tea</td><td>2</td><td>$5.00</td><td>$10.00</td>");
    for (const sum of [
      "<dt>Total</dt><dd>$10.00</dd>",
      "<dt>Paid so far</dt><dd>$4.00</dd>",
      "<dt>To pay</dt><dd>$6.00</dd>",
    ])
      expect(html).toContain(sum);
    expect(html).toContain("Pay $6.00</button>");
  },
);

it("says of one that was given up that it was, and that it can still be paid", async () => {
  const given = { state: "uncollectible", paid: usd("0.00"), outstanding: usd("10.00") };
  expect(await pageOf(given)).toContain("was written off as uncollectible. It can still be paid.");
  expect(await pageOf(given, "de")).toContain("abgeschrieben");
  expect(await pageOf({ ...given, state: "open" })).not.toContain("uncollectible");
});

it("of one under payment leads to the payment, where that may be told, and asks for nothing", async () => {
  const words = { en: "is under way", de: "läuft bereits", fr: "est en cours", es: "en curso" };
  for (const [lang, word] of Object.entries(words)) {
    const html = await pageOf({ state: "open", underWay: { intentId: "pi_x" } }, lang);
    expect(html).toContain(word);
    expect(html).toContain('<a class="primary" href="/checkout/pi_x">');
    expect(html).not.toContain("<form");
  }
  const listed = await pageOf({ state: "uncollectible", underWay: { intentId: null } });
  expect(listed).toContain("is under way");
  expect(listed).not.toMatch(/<form|checkout\//);
  expect(await pageOf({ state: "paid", underWay: { intentId: "pi_x" } })).not.toContain("under way");
});
