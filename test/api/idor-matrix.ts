/** What a stranger gets of each route of the API. */
import { address } from "#kernel/bytes";
import { now } from "./world.ts";

/** One thing of the victim's, by the prefix of its id. */
export type Ids = Readonly<
  Record<
    | "mer"
    | "key"
    | "x402r"
    | "pad"
    | "po"
    | "stl"
    | "pi"
    | "clr"
    | "re"
    | "whe"
    | "whd"
    | "evt"
    | "cus"
    | "prod"
    | "plink"
    | "inv"
    | "sub",
    string
  >
>;

/** How a stranger tries a route. */
export interface Attempt {
  /** Path and query; `{id}` stands for each of the victim's ids in turn. */
  readonly path?: (victim: Ids) => string;
  readonly body?: (victim: Ids) => unknown;
  /** Status and code: 404 where the path holds an id, the documented answer elsewhere. */
  readonly answer: string;
}

export const money = { amount: "1", asset: "USDC" };
export const resourceInput = { url: "https://stranger.example/thing", price: { amount: "1", asset: "USD" } };
export const listener = { url: "https://victim.example/hooks", events: ["*"] };
export const customerInput = { name: "Ada", email: "ada@victim.example" };
export const productInput = { sku: "tea", name: "Tea", prices: [{ amount: "1", asset: "USD" }] };
export const linkInput = { kind: "fixed", amount: { amount: "1", asset: "USD" } };
const cartOf = (productId: string) => ({ currency: "USD", lines: [{ productId, quantity: 1 }] });
export const invoiceInput = {
  buyer: { name: "Ada", email: "ada@victim.example" },
  currency: "USD",
  lines: [{ name: "Tea", unitPrice: { amount: "1", asset: "USD" } }],
};
export const subscriptionInput = {
  customer: { name: "Ada", email: "ada@victim.example" },
  description: "Tea",
  amount: { amount: "1", asset: "USD" },
  interval: "month",
};
export const recipient = address("0x00000000000000000000000000000000000000cc");
export const hidden = { answer: "404 not_found" };
/** What a stranger gets of lists and settings is its own. */
const own = { answer: "200" };

export const matrix: Readonly<Record<string, readonly Attempt[]>> = {
  "GET /v1/api-keys": [own],
  "POST /v1/api-keys": [
    { body: ({ mer }) => ({ name: "n", preset: "full", merchantId: mer }), answer: "400 validation_failed" },
  ],
  "POST /v1/api-keys/{id}/rotate": [{ body: () => ({}), ...hidden }],
  "DELETE /v1/api-keys/{id}": [hidden],
  "GET /v1/merchant": [own],
  "PATCH /v1/merchant": [
    { body: ({ mer }) => ({ id: mer, name: "Taken" }), answer: "400 validation_failed" },
  ],
  "GET /v1/rails": [own],
  "GET /v1/currencies": [own],
  "POST /v1/quotes": [{ body: () => ({ amount: money, assets: ["USDC"] }), ...own }],
  "POST /v1/x402/resources": [
    {
      body: () => ({ ...resourceInput, url: "https://victim.example/thing" }),
      answer: "409 url_registered_elsewhere",
    },
  ],
  "POST /v1/x402/resources/probe": [
    { body: () => ({ ...resourceInput, id: "x" }), answer: "400 validation_failed" },
  ],
  "GET /v1/x402/resources": [own],
  "GET /v1/x402/resources/{id}": [hidden],
  "DELETE /v1/x402/resources/{id}": [hidden],
  "POST /v1/x402/resources/{id}/list": [hidden],
  "POST /v1/x402/resources/{id}/unlist": [hidden],
  "POST /v1/payment-intents": [
    { body: ({ mer }) => ({ amount: money, merchant: { id: mer } }), answer: "403 merchant_mismatch" },
  ],
  "POST /v1/customers": [
    { body: ({ mer }) => ({ ...customerInput, merchantId: mer }), answer: "400 validation_failed" },
  ],
  "GET /v1/customers": [own, { path: () => `/v1/customers?email=${customerInput.email}`, ...own }],
  "GET /v1/customers/{id}": [hidden],
  "PATCH /v1/customers/{id}": [{ body: () => ({ name: "Taken" }), ...hidden }],
  "POST /v1/catalog/products": [
    { body: ({ mer }) => ({ ...productInput, merchantId: mer }), answer: "403 merchant_mismatch" },
  ],
  "GET /v1/catalog/products": [
    own,
    { path: () => `/v1/catalog/products?sku=${productInput.sku}`, ...own },
    { path: ({ mer }) => `/v1/catalog/products?merchantId=${mer}`, answer: "403 merchant_mismatch" },
  ],
  "GET /v1/catalog/products/{id}": [hidden],
  "PATCH /v1/catalog/products/{id}": [{ body: () => ({ active: false }), ...hidden }],
  "POST /v1/carts/price": [{ body: ({ prod }) => cartOf(prod), answer: "422 product_not_found" }],
  "POST /v1/carts/checkout": [
    { body: ({ prod }) => cartOf(prod), answer: "422 product_not_found" },
    {
      body: ({ prod, mer }) => ({ ...cartOf(prod), merchant: { id: mer } }),
      answer: "422 product_not_found",
    },
  ],
  "POST /v1/payment-links": [
    { body: ({ mer }) => ({ ...linkInput, merchant: { id: mer } }), answer: "403 merchant_mismatch" },
    { body: ({ prod }) => ({ kind: "cart", ...cartOf(prod) }), answer: "422 product_not_found" },
  ],
  "GET /v1/payment-links": [own, { path: () => "/v1/payment-links?payable=true", ...own }],
  "GET /v1/payment-links/{id}": [hidden],
  "PATCH /v1/payment-links/{id}": [{ body: () => ({ title: "Taken" }), ...hidden }],
  "POST /v1/payment-links/{id}/list": [hidden],
  "POST /v1/payment-links/{id}/unlist": [hidden],
  "POST /v1/payment-links/{id}/disable": [hidden],
  "POST /v1/payment-links/{id}/enable": [hidden],
  "POST /v1/invoices": [
    { body: ({ mer }) => ({ ...invoiceInput, merchantId: mer }), answer: "400 validation_failed" },
    {
      body: ({ prod }) => ({ ...invoiceInput, lines: [{ productId: prod }] }),
      answer: "422 product_not_found",
    },
  ],
  "GET /v1/invoices": [
    own,
    { path: () => "/v1/invoices?buyerEmail=ada@victim.example", ...own },
    { path: ({ sub }) => `/v1/invoices?subscriptionId=${sub}`, ...own },
  ],
  "GET /v1/invoices/{id}": [hidden],
  "PATCH /v1/invoices/{id}": [{ body: () => ({ notes: "Taken" }), ...hidden }],
  "DELETE /v1/invoices/{id}": [hidden],
  "GET /v1/invoices/{id}/invoice.pdf": [hidden],
  "POST /v1/invoices/{id}/issue": [hidden],
  "POST /v1/invoices/{id}/send": [hidden],
  "POST /v1/invoices/{id}/void": [hidden],
  "POST /v1/invoices/{id}/mark-uncollectible": [hidden],
  "POST /v1/invoices/{id}/list": [hidden],
  "POST /v1/invoices/{id}/unlist": [hidden],
  "POST /v1/subscriptions": [
    { body: ({ cus }) => ({ ...subscriptionInput, customerId: cus }), answer: "400 validation_failed" },
  ],
  "GET /v1/subscriptions": [
    own,
    { path: ({ cus }) => `/v1/subscriptions?customerId=${cus}`, ...own },
    { path: () => "/v1/subscriptions?email=ada@victim.example", ...own },
  ],
  "GET /v1/subscriptions/{id}": [hidden],
  "PATCH /v1/subscriptions/{id}": [{ body: () => ({ description: "Taken" }), ...hidden }],
  "POST /v1/subscriptions/{id}/pause": [hidden],
  "POST /v1/subscriptions/{id}/resume": [hidden],
  "POST /v1/subscriptions/{id}/cancel": [hidden],
  "GET /v1/payment-intents": [own, { path: () => "/v1/payment-intents?source=api", ...own }],
  "GET /v1/payment-intents/{id}": [hidden],
  "POST /v1/payment-intents/{id}/confirm": [
    hidden,
    { body: () => ({ executionPath: "deposit-match" }), ...hidden },
  ],
  "POST /v1/payment-intents/{id}/cancel": [hidden],
  "GET /v1/payments": [
    own,
    { path: () => "/v1/payments?state=awaiting-funds", ...own },
    { path: () => `/v1/payments?txHash=0x${"0".repeat(64)}`, ...own },
  ],
  "GET /v1/payments/{id}": [hidden],
  "POST /v1/payments/{id}/retry": [hidden],
  "POST /v1/payments/{id}/review": [{ body: () => ({ action: "accept" }), ...hidden }],
  "POST /v1/payments/{id}/refunds": [hidden, { body: () => ({ amount: money }), ...hidden }],
  "GET /v1/payments/{id}/refunds": [hidden],
  "GET /v1/payments/{id}/invoice.pdf": [hidden],
  "GET /v1/payments/{id}/receipt.pdf": [hidden],
  "GET /v1/payments/{id}/proof.json": [hidden],
  "GET /v1/refunds/{id}": [hidden],
  "POST /v1/refunds/{id}/destination": [{ body: () => ({ address: recipient }), ...hidden }],
  "POST /v1/refunds/{id}/cancel": [hidden],
  "GET /v1/balances": [own],
  "GET /v1/ledger/accounts": [own],
  "GET /v1/ledger/entries": [
    own,
    { path: ({ stl }) => `/v1/ledger/entries?subject=${stl}`, ...own },
    { path: ({ po }) => `/v1/ledger/entries?subject=${po}`, ...own },
    { path: ({ re }) => `/v1/ledger/entries?subject=${re}`, ...own },
  ],
  "GET /v1/payout-addresses": [own],
  "POST /v1/payout-addresses": [
    { body: ({ pad }) => ({ chain: "base", address: pad }), answer: "400 validation_failed" },
  ],
  "DELETE /v1/payout-addresses/{id}": [hidden],
  "POST /v1/payouts": [
    {
      body: ({ pad }) => ({ amount: money, chain: "base", destination: pad }),
      answer: "422 payout_address_unknown",
    },
    {
      body: () => ({ amount: money, chain: "base", destination: recipient }),
      answer: "422 payout_address_unknown",
    },
  ],
  "GET /v1/payouts": [own],
  "GET /v1/payouts/{id}": [hidden],
  "POST /v1/payouts/{id}/cancel": [hidden],
  "GET /v1/webhook-endpoints": [own],
  "POST /v1/webhook-endpoints": [
    {
      body: ({ mer }) => ({ ...listener, merchantId: mer }),
      answer: "400 validation_failed",
    },
  ],
  "GET /v1/webhook-endpoints/{id}": [hidden],
  "PATCH /v1/webhook-endpoints/{id}": [
    { body: () => ({ url: "https://stranger.example/hooks" }), ...hidden },
  ],
  "DELETE /v1/webhook-endpoints/{id}": [hidden],
  "POST /v1/webhook-endpoints/{id}/rotate-secret": [{ body: () => ({ graceSeconds: 0 }), ...hidden }],
  "POST /v1/webhook-endpoints/{id}/test": [hidden],
  "GET /v1/webhook-endpoints/{id}/deliveries": [hidden],
  "POST /v1/webhook-endpoints/{id}/replay": [
    { body: () => ({ from: now.toISOString(), to: new Date(now.getTime() + 1).toISOString() }), ...hidden },
  ],
  "POST /v1/webhook-deliveries/{id}/redeliver": [hidden],
  "GET /v1/events": [own, { path: () => "/v1/events?types=payment.*&order=asc", ...own }],
  "GET /v1/events/{id}": [hidden],
  "POST /v1/test/deposits": [{ body: ({ pi }) => ({ paymentId: pi }), answer: "404 not_found" }],
  "POST /v1/test/advance-clock": [
    { body: ({ mer }) => ({ seconds: 60, merchantId: mer }), answer: "400 validation_failed" },
  ],
  "POST /v1/test/reorg": [{ body: () => ({ depth: 1 }), ...own }],
};
/** Who calls there shows a signature, not a key: nothing of a merchant's is behind it. Or holds the id of a link or
 *  an invoice, and with it the right to pay it. */
export const keyless = [
  "POST /v1/provider-webhooks/{provider}",
  "GET /v1/payment-links/{id}/rails",
  "POST /v1/payment-links/{id}/checkout",
  "POST /v1/invoices/{id}/checkout",
];
