/** The shapes of the interface's part 2, field by field, as JSON types. `money` and the like name another shape. */
export type FieldType = "string" | "integer" | "boolean" | "timestamp" | `${string}[]` | Shape;
export type Shape = { readonly [field: string]: FieldType };

const money: Shape = { amount: "string", asset: "string", formatted: "string", display: "string" };
const merchantRef: Shape = {
  id: "string",
  name: "string",
  city: "string",
  countryCode: "string",
  categoryCode: "string",
};
const metadata = {} satisfies Shape;

export const paymentIntent: Shape = {
  id: "string",
  status: "string",
  merchant: merchantRef,
  amount: money,
  settlementAsset: "string",
  provider: "string",
  payment: { asset: "string", chain: "string", payerAddress: "string" },
  executionPath: "string",
  source: "string",
  metadata,
  merchantReference: "string",
  clearingTransactionId: "string",
  failureReason: "string",
  createdAt: "timestamp",
  updatedAt: "timestamp",
  expiresAt: "timestamp",
  confirmedAt: "timestamp",
  completedAt: "timestamp",
};

const clearing: Shape = {
  id: "string",
  state: "string",
  provider: "string",
  providerReference: "string",
  transactionHash: "string",
  sourceAmount: money,
  settlementAmount: money,
  fee: money,
  netAmount: money,
  rate: { from: "string", to: "string", scaledRate: "string", source: "string", lockedAt: "string" },
  failure: { reason: "string", code: "string", at: "string" },
  createdAt: "timestamp",
  updatedAt: "timestamp",
};

const depositEntry: Shape = {
  txHash: "string",
  logIndex: "integer",
  amount: money,
  status: "string",
  confirmations: "integer",
  firstSeenAt: "timestamp",
};
const deposit: Shape = {
  address: "string",
  chain: "string",
  asset: "string",
  amount: money,
  uri: "string",
  received: money,
  required: "integer",
  reviewRequired: "boolean",
  deposits: "depositEntry[]",
};

const timelineEntry: Shape = {
  sequence: "integer",
  state: "string",
  from: "string",
  occurredAt: "timestamp",
};

export const refund: Shape = {
  id: "string",
  paymentIntentId: "string",
  amount: money,
  state: "string",
  reason: "string",
  providerReference: "string",
  failureReason: "string",
  createdAt: "timestamp",
  updatedAt: "timestamp",
};

export const product: Shape = {
  id: "string",
  merchantId: "string",
  sku: "string",
  name: "string",
  description: "string",
  prices: "money[]",
  active: "boolean",
  metadata,
  createdAt: "timestamp",
  updatedAt: "timestamp",
  version: "integer",
};

const linkLine: Shape = { productId: "string", quantity: "integer" };
export const paymentLink: Shape = {
  id: "string",
  kind: "string",
  merchant: merchantRef,
  amount: money,
  currency: "string",
  lines: "linkLine[]",
  title: "string",
  merchantReference: "string",
  metadata,
  url: "string",
  payable: "boolean",
  listed: "boolean",
  expiresAt: "timestamp",
  disabledAt: "timestamp",
  createdAt: "timestamp",
  updatedAt: "timestamp",
  version: "integer",
};
export const linkRail: Shape = { settlementAsset: "string" };
export const cartCheckout: Shape = { paymentIntent, url: "string" };
const invoiceLine: Shape = {
  productId: "string",
  name: "string",
  unitPrice: money,
  quantity: "integer",
};
export const invoice: Shape = {
  id: "string",
  merchantId: "string",
  merchant: merchantRef,
  number: "string",
  sequence: "integer",
  state: "string",
  buyer: { name: "string", email: "string", taxId: "string", address: "string" },
  currency: "string",
  lines: "invoiceLine[]",
  total: money,
  notes: "string",
  metadata,
  url: "string",
  issuedAt: "timestamp",
  dueAt: "timestamp",
  voidedAt: "timestamp",
  createdAt: "timestamp",
  updatedAt: "timestamp",
  version: "integer",
  listed: "boolean",
};
const invoiceCycle: Shape = { ...invoice, status: "string", paid: money, outstanding: money };

export const subscription: Shape = {
  id: "string",
  subscriber: { customerId: "string", name: "string", email: "string" },
  description: "string",
  amount: money,
  interval: "string",
  state: "string",
  billedCycles: "integer",
  daysUntilDue: "integer",
  anchorAt: "timestamp",
  nextBillingAt: "timestamp",
  createdAt: "timestamp",
  cancelledAt: "timestamp",
};
export const subscriptionRead: Shape = { subscription, cycles: "invoiceCycle[]" };

const quoteLine: Shape = {
  asset: "string",
  amount: money,
  rate: { scaledRate: "string", source: "string" },
  available: "boolean",
};
export const quotes: Shape = { source: money, quotes: "quoteLine[]" };

const railOfResource: Shape = {
  chain: "string",
  asset: "string",
  contract: "string",
  payTo: "string",
  transferMethod: "string",
  domain: {},
};
export const resource: Shape = {
  id: "string",
  merchantId: "string",
  url: "string",
  description: "string",
  mimeType: "string",
  price: money,
  maxTimeoutSeconds: "integer",
  listed: "boolean",
  accepts: "railOfResource[]",
};

export const position: Shape = {
  paymentIntent,
  clearing,
  deposit,
  timeline: "timelineEntry[]",
};

/** What the items of lists are. */
export const items: { readonly [name: string]: Shape } = {
  depositEntry,
  linkLine,
  invoiceCycle,
  invoiceLine,
  money,
  quoteLine,
  railOfResource,
  timelineEntry,
};
