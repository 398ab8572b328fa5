import { z } from "@hono/zod-openapi";
import { LineInput, LineInputs } from "../catalog/schema.ts";
import { Money, MoneyInput } from "../http/money.ts";
import { Instant, line, Metadata, PayerMetadata, Timestamp } from "../http/text.ts";
import { MerchantRef, MerchantRefInput, PaymentIntentInput } from "../payment-intent/schema.ts";
import { ExecutionPath, RateSource } from "../rate/schema.ts";
import { linkKinds } from "./state.ts";

const Kind = z.enum(linkKinds);

const Currency = z.string().min(1).max(16).openapi({ example: "USD" });
const MaxPayments = z
  .int()
  .min(1)
  .max(1_000_000)
  .openapi({ description: "How often it can be paid; any number of times when null" });
const Title = line(140);

/** Fields that say what is asked for, and the kinds that have each. */
const termsOf = {
  fixed: { needs: ["amount"], takes: ["amount", "currency"] },
  cart: { needs: ["currency", "lines"], takes: ["currency", "lines"] },
  open: { needs: ["currency"], takes: ["currency", "minAmount", "maxAmount"] },
} as const;
const terms = ["amount", "currency", "lines", "minAmount", "maxAmount"] as const;

/** Source: merchant-api.md §2.3. */
export const PaymentLinkInput = z
  .strictObject({
    kind: Kind,
    merchant: MerchantRefInput.optional(),
    amount: MoneyInput.optional().openapi({ description: "Of a fixed link" }),
    currency: Currency.optional().openapi({ description: "Of a cart or open link" }),
    lines: LineInputs.optional().openapi({ description: "Of a cart link" }),
    minAmount: MoneyInput.optional().openapi({ description: "Of an open link" }),
    maxAmount: MoneyInput.optional().openapi({ description: "Of an open link" }),
    title: Title.optional(),
    merchantReference: line(128).optional(),
    metadata: Metadata.optional(),
    expiresAt: Instant.optional(),
    maxPayments: MaxPayments.optional(),
    returnUrl: PaymentIntentInput.shape.returnUrl,
  })
  .check((ctx) => {
    const { kind } = ctx.value;
    const refuse = (field: string, message: string) =>
      ctx.issues.push({ code: "custom", input: ctx.value, path: [field], message });
    const { needs, takes } = termsOf[kind] as { readonly [of in "needs" | "takes"]: readonly string[] };
    for (const field of terms) {
      const isGiven = ctx.value[field] !== undefined;
      if (!isGiven && needs.includes(field)) refuse(field, `a ${kind} link needs it`);
      if (isGiven && !takes.includes(field)) refuse(field, `not for a link that is ${kind}`);
    }
    const { amount, currency, minAmount, maxAmount } = ctx.value;
    for (const [field, money] of Object.entries({ amount, minAmount, maxAmount }))
      if (money && currency !== undefined && takes.includes(field) && money.asset !== currency)
        refuse(field, "it is in another unit than currency");
  })
  .openapi("PaymentLinkInput", { example: { kind: "fixed", amount: { amount: "9.99", asset: "USD" } } });
export type PaymentLinkInput = z.infer<typeof PaymentLinkInput>;

/** What is left out stays as it is. What a link asks for never changes. */
export const PaymentLinkChange = z
  .strictObject({
    title: Title.nullable(),
    expiresAt: Instant.nullable(),
    maxPayments: MaxPayments.nullable(),
    metadata: Metadata,
    version: z.int().min(1).openapi({ description: "The one that was read; another one now is a conflict" }),
  })
  .partial()
  .openapi("PaymentLinkChange");
export type PaymentLinkChange = z.infer<typeof PaymentLinkChange>;

/** Source: interface §2.9; the amounts of an open link, `maxPayments` and `returnUrl` are ours. */
export const PaymentLink = z
  .object({
    id: z.string().openapi({ example: "plink_01K2C0Z0000000000000000000" }),
    kind: Kind,
    merchant: MerchantRef,
    amount: Money.nullable().openapi({
      description: "What it asks for now; null for an open link, and for a cart that has no price",
    }),
    currency: z.string(),
    lines: z.array(LineInput),
    minAmount: Money.nullable(),
    maxAmount: Money.nullable(),
    title: z.string().nullable(),
    merchantReference: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    url: z.string().openapi({ description: "The page where a person pays it" }),
    payable: z.boolean(),
    listed: z
      .boolean()
      .openapi({ description: "Whether discovery readers are shown it while it is payable" }),
    maxPayments: z.int().nullable(),
    returnUrl: z.string().nullable(),
    expiresAt: Timestamp.nullable(),
    disabledAt: Timestamp.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    version: z.int(),
  })
  .openapi("PaymentLink");
export type PaymentLink = z.infer<typeof PaymentLink>;

const Flag = z.enum(["true", "false"]);
export const PaymentLinkFilter = z.object({
  listed: Flag.optional(),
  payable: Flag.optional(),
  kind: Kind.optional(),
});
export type PaymentLinkFilter = z.infer<typeof PaymentLinkFilter>;

export const PaymentLinkPath = z.object({
  id: z.string().max(40).openapi({ example: "plink_01K2C0Z0000000000000000000" }),
});
export type PaymentLinkPath = z.infer<typeof PaymentLinkPath>;

const { executionPath, payment, customer, merchantReference } = PaymentIntentInput.shape;
/** What its payer says. */
export const LinkCheckoutInput = z
  .strictObject({
    amount: MoneyInput.optional().openapi({ description: "Of an open link, in its currency" }),
    ...{ executionPath, payment, customer, merchantReference },
    metadata: PayerMetadata.optional(),
  })
  .openapi("LinkCheckoutInput");
export type LinkCheckoutInput = z.infer<typeof LinkCheckoutInput>;

export const LinkRailQuery = z.strictObject({
  amount: z
    .string()
    .max(40)
    .optional()
    .openapi({ description: "Of an open link: a decimal string in its currency", example: "12.50" }),
});
export type LinkRailQuery = z.infer<typeof LinkRailQuery>;

/** A way to pay a link, with what it costs there now. Indicative, as a quote is. */
export const LinkRail = z
  .object({
    chain: z.string(),
    network: z.string(),
    asset: z.string(),
    contract: z.string(),
    settlementAsset: z.string(),
    executionPaths: z.array(ExecutionPath),
    amount: Money.nullable().openapi({ description: "Null while the amount of an open link is not known" }),
    rate: z.object({ scaledRate: z.string(), source: RateSource }),
    available: z.boolean(),
    confirmationsRequired: z.int(),
    estimatedSeconds: z.int(),
  })
  .openapi("LinkRail");
export type LinkRail = z.infer<typeof LinkRail>;
