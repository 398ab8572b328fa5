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
  ...{ buyerName: null, notes: null, underWay: null, refunds: null, issuedAt: null, dueAt: null },
};

type Problem = Parameters<typeof InvoicePage>[0]["problem"];

async function pageOf(over: object, lang = "en", problem: Problem = null): Promise<string> {
  const html = await InvoicePage({
    invoice: { ...invoice, ...over } as OpenInvoice,
    speech: speechOf(lang),
    assets: { style: "/a.css", script: "/a.js" },
    brand: { colour: null, logo: null, isSuspended: false },
    problem,
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

const back = { collected: usd("10.00"), arrived: null, underWay: null, part: null };

it("of one that was given back says how much, and no more that it is paid when all of it was", async () => {
  const paid = { state: "paid", paid: usd("0.00"), outstanding: usd("0.00") };
  const all = await pageOf({ ...paid, refunds: { ...back, arrived: usd("10.00"), part: "all" } });
  expect(all).toContain("<dt>Paid so far</dt><dd>$10.00</dd><dt>Refunded</dt><dd>$10.00</dd></dl>");
  expect(all).toContain('<p class="stamp over">Refunded</p><p>Shop paid $10.00 back.</p>');
  expect(all).not.toContain("is paid");
  const part = await pageOf({ ...paid, refunds: { ...back, arrived: usd("4.00"), part: "part" } }, "de");
  expect(part).toContain('<p class="stamp good">Teilweise erstattet</p>');
  expect(part).toContain("$4.00");
});

it("says of a refund that is on its way that it is, and that the invoice is paid until it is there", async () => {
  const html = await pageOf({ state: "paid", refunds: { ...back, underWay: usd("10.00") } });
  expect(html).toContain("<dt>Paid so far</dt><dd>$10.00</dd><dt>Refund under way</dt><dd>$10.00</dd></dl>");
  expect(html).toContain("This invoice is paid.");
});

it("of one that is open, what went back is to be paid again", async () => {
  const refunds = { ...back, collected: usd("6.00"), arrived: usd("2.00") };
  expect(await pageOf({ state: "open", refunds })).toContain(
    "<dt>Paid so far</dt><dd>$6.00</dd><dt>Refunded</dt><dd>$2.00</dd><dt>To pay</dt><dd>$6.00</dd></dl>",
  );
});

it("says why it could not be paid while it can, and no more once that is over", async () => {
  const told = (over: object) => pageOf(over, "en", "linkPending");
  expect(await told({ state: "open" })).toContain("Somebody is paying this right now.");
  for (const over of [
    { state: "paid" },
    { state: "void" },
    { state: "open", underWay: { intentId: "pi_x" } },
  ])
    expect(await told(over)).not.toContain('role="alert"');
});
