/** Text of merchants and buyers on every page: whatever it says, it is text. */
import { describe, expect, it } from "vitest";
import type { OpenRefunds } from "../../../api/pages/verbs/refund.ts";
import { CheckoutPage } from "../../../api/pages/view/checkout.tsx";
import { InvoicePage } from "../../../api/pages/view/invoice.tsx";
import { LinkPage } from "../../../api/pages/view/link.tsx";
import { RefundPage } from "../../../api/pages/view/refund.tsx";
import { speechOf } from "../../../api/pages/words/index.ts";
import { now, payer, rail } from "../world.ts";

const evil = `"'><img src=x onerror=alert(1)><script>alert(2)</script></title></noscript>&amp;{merchant}`;
const merchant = { id: "mer_x", name: evil, city: evil, countryCode: "PT", categoryCode: null };
const money = (amount: string, asset: string) => ({
  ...{ amount, asset, formatted: `${amount} ${asset}`, display: `${amount} ${asset}` },
});
const dress = {
  speech: speechOf("en"),
  assets: { style: "/a.css", script: "/a.js" },
  brand: { colour: null, logo: null, isSuspended: false },
  problem: null,
};

/** What is left of a page when all that we wrote ourselves is known: no tag and no attribute is the text's. */
function expectText(html: string): void {
  expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;");
  expect(html).not.toMatch(
    /<img|<script>|alert\(2\)<\/script>|<\/title><\/noscript>|\sonerror=(?!alert\(1\)&gt;)/,
  );
  expect(html.match(/<script/g)).toHaveLength(1);
  // Inside of attributes quotes cannot end them.
  expect(html).not.toContain(`"'>`);
}

const rendered = async (page: unknown) => String(await page);
const later = new Date(now.getTime() + 60_000).toISOString();

const checkout = (phase: string, over: object = {}) =>
  CheckoutPage({
    ...dress,
    status: {
      ...{ id: "pi_x", status: "clearing", phase, clearing: { state: "awaiting-funds" }, merchant },
      ...{
        amount: money("10.00", "USD"),
        executionPath: "deposit-match",
        chain: "base",
        address: rail.payTo,
      },
      ...{ uri: null, due: money("10.000000", "USDC"), received: money("0.000000", "USDC") },
      ...{ remaining: money("10.000000", "USDC"), confirmations: null, required: 12, transactionHash: null },
      returned: [],
      ...{ expiresAt: later, now: now.toISOString() },
    },
    payment: {
      intent: {
        ...{ asked: {}, provider: "evm", merchantReference: evil, source: "invoice" },
        ...{ metadata: { invoiceId: "inv_x" }, currency: "USD", offerAmount: null, offerRails: null },
      },
      clearing: null,
      position: { paymentIntent: { returnUrl: "https://shop.example/?a=%22" } },
    },
    ...{ rail, explorer: null, offers: [], refunds: [], contact: null, isChoosing: false },
    ...over,
  } as never);

describe("hostile text", () => {
  it.each([
    ...["choose", "waiting", "underpaid", "detected", "settling", "paid", "in-review", "expired", "failed"],
    "cancelled",
  ])("on the page of a payment that is %s", async (phase) => {
    expectText(await rendered(checkout(phase)));
  });

  it.each(["evm", evil])("on the page of a payment at the provider %s", async (provider) => {
    const { payment } = { payment: { provider } };
    const intent = {
      asked: {},
      provider: payment.provider,
      merchantReference: evil,
      source: "api",
      metadata: {},
    };
    const over = {
      payment: { intent, clearing: null, position: { paymentIntent: { returnUrl: null } } },
      rail: null,
    };
    expectText(await rendered(checkout("waiting", over)));
    expectText(await rendered(checkout("choose", over)));
  });

  it.each(["fixed", "cart", "open"])("on the page of a link of the kind %s", async (kind) => {
    const link = {
      ...{ id: "plink_x", kind, merchant, title: evil, payable: true, currency: "USD" },
      ...{ amount: kind === "open" ? null : money("10.00", "USD"), minAmount: null, maxAmount: null },
    };
    const lines = kind === "cart" ? [{ name: evil, quantity: 2, total: { amount: 100n, asset: "USD" } }] : [];
    expectText(await rendered(LinkPage({ ...dress, link, lines, token: "form-0001" } as never)));
    const closed = { ...link, payable: false };
    expectText(await rendered(LinkPage({ ...dress, link: closed, lines: [], token: "form-0001" } as never)));
  });

  it.each(["open", "paid", "uncollectible", "void"])("on the page of an invoice, %s", async (state) => {
    const invoice = {
      merchant: { ...merchant, taxId: evil, address: evil },
      ...{ id: "inv_x", number: "INV-1", state, buyerName: evil, notes: evil, dueAt: later },
      ...{ issuedAt: later, total: money("10.00", "USD"), paid: money("0.00", "USD") },
      ...{
        outstanding: money("10.00", "USD"),
        lines: [{ name: evil, quantity: 1, unitPrice: money("10.00", "USD") }],
      },
    };
    expectText(await rendered(InvoicePage({ ...dress, invoice } as never)));
  });

  it.each([payer, null])("on the page of a refund", async (account) => {
    const open: OpenRefunds = {
      ...{ merchantId: "mer_x", seller: merchant, chain: evil },
      refunds: [{ state: "failed", amount: money("10.00", "USDC") } as never],
      waiting: { amount: 10_000_000n, asset: "USDC", payer: account },
    };
    expectText(await rendered(RefundPage({ ...dress, ...open, id: "pi_x", explorer: null } as never)));
  });
});
