import { z } from "@hono/zod-openapi";
import { CustomerId } from "../customer/schema.ts";
import { Money, MoneyInput } from "../http/money.ts";
import { Instant, line, Metadata, text } from "../http/text.ts";
import { MerchantRef, PaymentChoice } from "../payment-intent/schema.ts";
import { ExecutionPath } from "../rate/schema.ts";
import { invoiceStates, invoiceStatuses } from "./state.ts";

const Timestamp = z.string().openapi({ format: "date-time", example: "2026-08-11T09:30:00.000Z" });
const MAX_LINES = 100;
const MAX_DAYS = 365;

const Email = z.email().max(254);
const Buyer = z.strictObject({
  name: line(140),
  email: Email.optional(),
  taxId: line(64).optional(),
  address: text(500).optional(),
});

const InvoiceLineInput = z
  .strictObject({
    productId: z
      .string()
      .max(40)
      .optional()
      .openapi({ description: "Priced from the catalog; in place of name and unitPrice" }),
    name: line(200).optional(),
    unitPrice: MoneyInput.optional(),
    quantity: z.int().min(1).max(9_999).default(1),
  })
  .check((ctx) => {
    const { productId, name, unitPrice } = ctx.value;
    const isOwn = name !== undefined && unitPrice !== undefined;
    const isProduct = productId !== undefined && name === undefined && unitPrice === undefined;
    if (isProduct || (isOwn && productId === undefined)) return;
    const message = "give a productId, or name and unitPrice";
    ctx.issues.push({ code: "custom", input: ctx.value, path: [], message });
  })
  .openapi("InvoiceLineInput", {
    example: { name: "Tea", unitPrice: { amount: "12.50", asset: "USD" }, quantity: 2 },
  });
export type InvoiceLineInput = z.infer<typeof InvoiceLineInput>;

const Lines = z.array(InvoiceLineInput).min(1).max(MAX_LINES);
const Currency = z.string().min(1).max(16).openapi({ example: "USD" });

interface Priced {
  readonly currency?: string | undefined;
  readonly lines?: readonly InvoiceLineInput[] | undefined;
}

/** Every price in the currency that is sent with it. That of a draft is known to who changes it. */
function refusePrices({ currency, lines = [] }: Priced, refuse: Refuse): void {
  if (currency === undefined) return;
  for (const [i, { unitPrice }] of lines.entries())
    if (unitPrice && unitPrice.asset !== currency)
      refuse(
        ["lines", i, "unitPrice", "asset"],
        `all prices are in the invoice's currency, ${currency}; this one is in ${unitPrice.asset}`,
      );
}

type Refuse = (path: (string | number)[], message: string) => void;
interface Checked<T> {
  readonly value: T;
  // biome-ignore lint/suspicious/noExplicitAny: zod's own list of issues
  readonly issues: any[];
}
function refuserOf<T>(ctx: Checked<T>): Refuse {
  return (path, message) => ctx.issues.push({ code: "custom", input: ctx.value, path, message });
}

const dueFields = {
  dueAt: Instant.optional().openapi({ description: "In place of daysUntilDue" }),
  daysUntilDue: z.int().min(0).max(MAX_DAYS).optional().openapi({ description: "After it is issued" }),
};

function refuseTwoDates(
  { dueAt, daysUntilDue }: { dueAt?: unknown; daysUntilDue?: unknown },
  refuse: Refuse,
) {
  if (dueAt !== undefined && daysUntilDue !== undefined)
    refuse(["daysUntilDue"], "give dueAt or daysUntilDue, one of the two");
}

/** Source: merchant-api.md §2.4. */
export const InvoiceInput = z
  .strictObject({
    buyer: Buyer,
    currency: Currency,
    lines: Lines,
    ...dueFields,
    notes: text(2_000).optional(),
    metadata: Metadata.optional(),
    issue: z.boolean().default(false).openapi({ description: "Issue it at once" }),
    sendEmail: z
      .boolean()
      .default(false)
      .openapi({ description: "Mail it to the buyer when it is issued, with reminders until it is paid" }),
  })
  .check((ctx) => {
    refusePrices(ctx.value, refuserOf(ctx));
    refuseTwoDates(ctx.value, refuserOf(ctx));
    if (ctx.value.sendEmail && ctx.value.buyer.email === undefined)
      refuserOf(ctx)(["buyer", "email"], "needed to send it");
  })
  .openapi("InvoiceInput");
export type InvoiceInput = z.infer<typeof InvoiceInput>;

/** Of a draft everything; of what is issued notes, metadata, a later due date, and the buyer's taxId, address, email. */
export const InvoiceChange = z
  .strictObject({
    buyer: Buyer.extend({
      email: Email.nullable().optional(),
      taxId: line(64).nullable().optional(),
      address: text(500).nullable().optional(),
    })
      .partial()
      .optional(),
    currency: Currency.optional(),
    lines: Lines.optional(),
    ...dueFields,
    notes: text(2_000).nullable().optional(),
    metadata: Metadata.optional(),
    sendEmail: z.boolean().optional(),
    version: z
      .int()
      .min(1)
      .optional()
      .openapi({ description: "Refused when the invoice has another by now" }),
  })
  .check((ctx) => {
    const refuse = refuserOf(ctx);
    refusePrices(ctx.value, refuse);
    refuseTwoDates(ctx.value, refuse);
    if (ctx.value.currency !== undefined && ctx.value.lines === undefined)
      refuse(["lines"], "another currency needs lines with prices in it");
  })
  .openapi("InvoiceChange");
export type InvoiceChange = z.infer<typeof InvoiceChange>;

const InvoiceLine = z.object({
  productId: z.string().nullable(),
  name: z.string(),
  unitPrice: Money,
  quantity: z.int(),
});

/** Source: interface §2.7 and §2.8; `paidAt`, `sendEmail`, the merchant's `taxId` and `address`, `subscriptionId` and `cycle` are ours. */
export const Invoice = z
  .object({
    id: z.string().openapi({ example: "inv_01K2C0Z0000000000000000000" }),
    merchantId: z.string(),
    merchant: MerchantRef.extend({
      taxId: z.string().nullable(),
      address: z.string().nullable(),
    }).openapi({ description: "As it was when it was issued; of a draft, when it was made" }),
    number: z.string().nullable().openapi({ example: "INV-2026-000001" }),
    sequence: z.int().nullable().openapi({ description: "Without gaps, per merchant; null while a draft" }),
    state: z.enum(invoiceStates),
    status: z
      .enum(invoiceStatuses)
      .openapi({ description: "The state, and what is overdue or paid in part" }),
    buyer: z.object({
      name: z.string(),
      email: z.string().nullable(),
      taxId: z.string().nullable(),
      address: z.string().nullable(),
    }),
    currency: z.string(),
    lines: z.array(InvoiceLine),
    total: Money,
    paid: Money.openapi({ description: "By completed payments, less what was refunded" }),
    outstanding: Money,
    notes: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    url: z.string().openapi({ description: "The page where it is read and paid" }),
    sendEmail: z.boolean(),
    subscriptionId: z.string().nullable(),
    cycle: z
      .object({ index: z.int(), startsAt: Timestamp, endsAt: Timestamp })
      .nullable()
      .openapi({ description: "Of a subscription: what it is for" }),
    issuedAt: Timestamp.nullable(),
    dueAt: Timestamp.nullable(),
    paidAt: Timestamp.nullable(),
    voidedAt: Timestamp.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    version: z.int(),
    listed: z.boolean(),
  })
  .openapi("Invoice");
export type Invoice = z.infer<typeof Invoice>;

export const Invoices = z.array(Invoice);

export const InvoicePath = z.object({
  id: z.string().max(40).openapi({ example: "inv_01K2C0Z0000000000000000000" }),
});
export type InvoicePath = z.infer<typeof InvoicePath>;

/** What a list of invoices may be narrowed by. */
export const InvoiceFilter = z.object({
  state: z.enum(invoiceStates).optional(),
  status: z.enum(invoiceStatuses).optional(),
  buyerEmail: z.string().max(254).optional(),
  subscriptionId: z.string().max(40).optional(),
  number: z.string().max(40).optional(),
});
export type InvoiceFilter = z.infer<typeof InvoiceFilter>;

/** The same over HTTP, where a customer is named. */
export const InvoiceQuery = InvoiceFilter.extend({ customerId: CustomerId.optional() });

/** How the payer means to pay. */
export const InvoiceCheckout = z
  .strictObject({ executionPath: ExecutionPath.default("deposit-match"), payment: PaymentChoice.optional() })
  .openapi("InvoiceCheckout");
export type InvoiceCheckout = z.infer<typeof InvoiceCheckout>;
