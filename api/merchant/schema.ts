import { z } from "@hono/zod-openapi";
import ipaddr from "ipaddr.js";
import { fromBytes } from "#kernel/bytes";
import { cleanText } from "#kernel/text";
import { CountryCode } from "../http/country.ts";
import { AllowedOrigins } from "../http/origin.ts";
import { type Preset, permissions, presets } from "../http/permissions.ts";
import { Instant, line, text } from "../http/text.ts";
import { readPng } from "./png.ts";

/** Text on one line, plain, not empty once it is cleaned. */
function plain(longest: number) {
  return z
    .string()
    .max(longest)
    .transform((text) => cleanText(text))
    .refine((text) => text !== "", "some text")
    .openapi({ type: "string", minLength: 1, maxLength: longest });
}

const Timestamp = z.string().openapi({ format: "date-time", example: "2026-08-11T09:30:00.000Z" });
const InvoicePrefix = z
  .string()
  .regex(/^[A-Z0-9]([A-Z0-9-]{0,10}[A-Z0-9])?$/, "up to 12 of A-Z 0-9, with - in between");
/** What becomes of a subscription whose invoice is 30 days overdue. */
export const finalActions = ["none", "pause", "cancel"] as const;
const LONGEST_LOGO = 32 * 1_024;
/** A picture as pages carry it in a link, so that nothing has to be fetched from anywhere. */
const Logo = z
  .string()
  .max(48 * 1_024)
  .regex(/^data:image\/png;base64,[A-Za-z0-9+/]+={0,2}$/, "a PNG as data:image/png;base64,…")
  .transform((text, ctx) => {
    const png = readPng(Buffer.from(text.slice(text.indexOf(",") + 1), "base64"));
    if (png && png.length <= LONGEST_LOGO) return fromBytes(png);
    const message = "a whole PNG: 8 bits, not interlaced, at most 1024 × 1024 pixels and 32 KiB";
    ctx.addIssue({ code: "custom", message });
    return z.NEVER;
  })
  .openapi({
    type: "string",
    description:
      "A PNG as `data:image/png;base64,…`: 8 bits, not interlaced, at most 1024 × 1024 pixels and 32 KiB. Only the picture is kept",
  });
const BrandColour = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, "a colour such as #0a5c36")
  .transform((text) => text.toLowerCase())
  .openapi({ type: "string", pattern: "^#[0-9a-fA-F]{6}$", example: "#0a5c36" });
const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, "the name of a time zone, such as Europe/Lisbon or UTC")
  .openapi({ type: "string", example: "Europe/Lisbon" });
const CategoryCode = z.string().regex(/^\d{4}$/, "four digits");

/** Rails as merchants name them: a chain by its slug or its CAIP-2 id, with an asset. */
export const NamedRails = z
  .array(z.strictObject({ chain: z.string().min(1).max(64), asset: z.string().min(1).max(16) }))
  .max(50);
export type NamedRails = z.infer<typeof NamedRails>;

/** By name: an offset does not know of summers. */
function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: text }));
  } catch {
    return false;
  }
}

/** A merchant as the operator creates it. */
export const MerchantInput = z.strictObject({
  /** For a merchant whose id must be the same after a restart; made anew when left out. */
  id: z
    .string()
    .regex(/^mer_[0-9A-HJKMNP-TV-Z]{26}$/)
    .optional(),
  name: plain(140),
  city: plain(140),
  countryCode: CountryCode,
  categoryCode: CategoryCode.nullable().default(null),
  feeBps: z.int().min(0).max(10_000).default(0),
});
export type MerchantInput = z.input<typeof MerchantInput>;

/** What a merchant may change of itself. Left out stays as it is. */
export const MerchantChange = z
  .strictObject({
    name: plain(140),
    city: plain(140),
    countryCode: CountryCode,
    categoryCode: CategoryCode.nullable(),
    taxId: line(64).nullable(),
    address: text(500, 1).nullable(),
    allowedOrigins: AllowedOrigins,
    rails: NamedRails.openapi({
      description:
        "Chains by slug or CAIP-2 id, with an asset each: you are paid there and nowhere else. An empty list takes " +
        "every rail of the deployment. Links, invoices and resources follow at once; what is being paid goes on as it is",
    }),
    underpaymentToleranceBps: z.int().min(0).max(500),
    spreadBps: z.int().min(0).max(300),
    refundFees: z.boolean(),
    invoicePrefix: InvoicePrefix,
    finalAction: z.enum(finalActions),
    timeZone: TimeZone,
    contactEmail: z.email().max(254).nullable(),
    brandColour: BrandColour.nullable(),
    logo: Logo.nullable(),
  })
  .partial()
  .openapi("MerchantChange");
export type MerchantChange = z.infer<typeof MerchantChange>;

export const Merchant = z
  .object({
    id: z.string().openapi({ example: "mer_01K2C0Z0000000000000000000" }),
    name: z.string(),
    city: z.string(),
    countryCode: z.string(),
    categoryCode: z.string().nullable(),
    taxId: z.string().nullable().openapi({ description: "Printed on invoices that are issued from now on" }),
    address: z
      .string()
      .nullable()
      .openapi({ description: "Postal, on several lines; printed on invoices that are issued from now on" }),
    feeBps: z.int().openapi({ description: "Our fee in basis points; the operator sets it" }),
    allowedOrigins: z.array(z.string()).openapi({
      description: "Origins of pages that may use publishable keys without a list of their own",
    }),
    rails: z.array(z.object({ chain: z.string(), asset: z.string() })).openapi({
      description: "The rails that the merchant takes, by slug; empty means every rail of the deployment",
    }),
    underpaymentToleranceBps: z
      .int()
      .openapi({ description: "How much less than the amount due still counts as paid, in basis points" }),
    spreadBps: z.int().openapi({
      description:
        "Margin in basis points on rates that a market makes, so never between a currency and its coin; payers are told of it where they choose how to pay",
    }),
    refundFees: z
      .boolean()
      .openapi({ description: "Whether a refund gives the refunded part of our fee back" }),
    invoicePrefix: z.string().openapi({ description: "What the numbers of invoices begin with" }),
    finalAction: z.enum(finalActions).openapi({
      description: "What becomes of a subscription whose invoice is 30 days overdue",
    }),
    timeZone: z.string().openapi({
      description: "IANA name; receipts tell times in it, beside UTC. Nothing is reckoned by it",
    }),
    contactEmail: z.string().nullable().openapi({
      description:
        "Where notices about the account go, and what payers answer to our mails. The page of a payment that ended unpaid names it",
    }),
    brandColour: z.string().nullable().openapi({
      description:
        "Of hosted pages and receipts; what is written on it is black or white, whichever is easier to read",
    }),
    logo: z
      .string()
      .nullable()
      .openapi({ description: "Path of the picture on hosted pages and receipts; give a new one as data" }),
    suspendedAt: Timestamp.nullable().openapi({
      description:
        "Since when the operator has it suspended: it asks for no payments and takes none, and pays nothing out",
    }),
    suspensionReason: z.string().nullable().openapi({ description: "Why, in the operator's words" }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("Merchant");
export type Merchant = z.infer<typeof Merchant>;

const KeyKind = z.enum(["sk", "pk"]).openapi({ description: "Secret or publishable" });
const Permission = z.enum(permissions);
const PresetName = z.enum(Object.keys(presets) as [Preset, ...Preset[]]);

const AllowedIps = z
  .array(z.string().refine(isNetwork, "an IP address or a CIDR range"))
  .min(1)
  .max(50)
  .openapi({ example: ["203.0.113.0/24"] });

function isNetwork(text: string): boolean {
  return text.includes("/") ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text);
}

/** A secret key has either permissions or a preset of them; a publishable one has none. */
export const ApiKeyInput = z
  .strictObject({
    kind: KeyKind.default("sk"),
    name: plain(140).openapi({ example: "shop server" }),
    permissions: z.array(Permission).min(1).max(permissions.length).optional(),
    preset: PresetName.optional(),
    allowedOrigins: AllowedOrigins.optional(),
    allowedIps: AllowedIps.optional(),
    expiresAt: Instant.optional(),
  })
  .check((ctx) => {
    const { kind, permissions: given, preset, allowedOrigins } = ctx.value;
    const refuse = (at: string, message: string) =>
      ctx.issues.push({ code: "custom", input: ctx.value, path: [at], message });
    if (kind === "pk" && (given ?? preset) !== undefined)
      refuse(given ? "permissions" : "preset", "a publishable key carries no permissions");
    if (kind === "sk" && (given === undefined) === (preset === undefined))
      refuse("permissions", "give permissions or a preset, one of the two");
    if (kind === "sk" && allowedOrigins !== undefined)
      refuse("allowedOrigins", "a secret key is for servers; only a publishable key has origins");
  })
  .openapi("ApiKeyInput", { example: { name: "shop server", preset: "checkout-backend" } });
export type ApiKeyInput = z.infer<typeof ApiKeyInput>;

export const ApiKey = z
  .object({
    id: z.string().openapi({ example: "key_01K2C0Z0000000000000000000" }),
    kind: KeyKind,
    name: z.string(),
    keyId: z.string().openapi({ description: "The 12 characters after the prefix, as logs show them" }),
    last4: z.string(),
    permissions: z.array(Permission),
    allowedOrigins: z
      .array(z.string())
      .nullable()
      .openapi({ description: "Of a publishable key; null follows the merchant's" }),
    allowedIps: z.array(z.string()).nullable(),
    createdBy: z.string().nullable().openapi({ description: "keyId of the key that made it" }),
    createdAt: Timestamp,
    lastUsedAt: Timestamp.nullable(),
    expiresAt: Timestamp.nullable(),
    revokedAt: Timestamp.nullable().openapi({
      description: "Ahead of now while a replaced key is still good",
    }),
  })
  .openapi("ApiKey");
export type ApiKey = z.infer<typeof ApiKey>;

export const IssuedApiKey = ApiKey.extend({
  key: z.string().openapi({ description: "The whole key. It is shown this once and kept nowhere" }),
}).openapi("IssuedApiKey");
export type IssuedApiKey = z.infer<typeof IssuedApiKey>;

export const ApiKeyPath = z.object({ id: z.string().openapi({ example: "key_01K2C0Z0000000000000000000" }) });
export type ApiKeyPath = z.infer<typeof ApiKeyPath>;

export const Rotation = z
  .strictObject({
    graceSeconds: z
      .int()
      .min(0)
      .max(604_800)
      .default(86_400)
      .openapi({ description: "How long the replaced key stays good" }),
  })
  .openapi("Rotation");
export type Rotation = z.infer<typeof Rotation>;
