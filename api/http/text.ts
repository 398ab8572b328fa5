import { z } from "@hono/zod-openapi";

export const Timestamp = z.string().openapi({ format: "date-time", example: "2026-08-11T09:30:00.000Z" });

/** What is said of text that is no moment, before an example. */
export const NOT_AN_INSTANT = "a date and a time with its zone";

/** In a query a bare + is a blank. */
const LOST_PLUS = /\d \d\d:\d\d$/;
const IN_A_QUERY = "; the + of an offset is %2B in a query";

/** A moment that a caller names. Other years JavaScript writes as PostgreSQL does not read them. */
export const Instant = z.iso
  .datetime({
    ...{ offset: true, abort: true },
    error: ({ code, input }) =>
      code === "invalid_format"
        ? `${NOT_AN_INSTANT}, such as 2026-08-11T09:30:00Z${LOST_PLUS.test(String(input)) ? IN_A_QUERY : ""}`
        : undefined,
  })
  .refine((text) => isReadable(new Date(text)), "a moment of the years 1 to 9999, in UTC")
  .openapi({ type: "string", format: "date-time" });

function isReadable(moment: Date): boolean {
  const year = moment.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

const MISSING = "some text, not only blanks";
/** Nobody sees any of it: blanks, and signs of no width such as U+200B. */
const UNSEEN = /^[\p{Z}\p{DI}\n]*$/u;
const saysEnough = (text: string, least: number) =>
  text.length >= least && (least === 0 || !UNSEEN.test(text));
const CONTROL = /\p{Cc}/u;

/** Text on one line: trimmed, composed, without control characters. */
export function line(longest: number, least = 1) {
  return z
    .string()
    .max(longest)
    .transform((text) => text.normalize("NFC").trim())
    .refine((text) => saysEnough(text, least), MISSING)
    .refine((text) => !CONTROL.test(text), "text on one line, without control characters")
    .openapi({ type: "string", minLength: least, maxLength: longest });
}

const UNSAFE = /[^\P{Cc}\n]/u;

/** Text on several lines. Forms send each break as two characters, which count as the one that is kept. */
export function text(longest: number, least = 0) {
  return z
    .string()
    .overwrite((given) => given.replace(/\r\n?/g, "\n"))
    .max(longest)
    .transform((given) => given.normalize("NFC").trim())
    .refine((given) => saysEnough(given, least), MISSING)
    .refine((given) => !UNSAFE.test(given), "text without control characters but line breaks")
    .openapi({ type: "string", maxLength: longest, ...(least > 0 && { minLength: least }) });
}

export const Email = z.email().max(254).openapi({ example: "ada@example.com" });

const KEY = /^[A-Za-z0-9_.:-]{1,40}$/;
const RESERVED = /^(?:x402|system\.)/;
/** What its writers may give; where a thing comes from is written beside it. */
export const METADATA_KEYS = 50;

/** What a merchant keeps with a thing. Source: interface §2.1, merchant-api.md §3.3. */
export const Metadata = z
  .record(z.string().regex(KEY, "1 to 40 of A-Z a-z 0-9 _ . : -"), line(500, 0))
  .check((ctx) => {
    const keys = Object.keys(ctx.value);
    const refuse = (path: readonly string[], message: string) =>
      ctx.issues.push({ code: "custom", input: ctx.value, path: [...path], message });
    if (keys.length > METADATA_KEYS) refuse([], `at most ${METADATA_KEYS} keys`);
    for (const key of keys.filter((each) => RESERVED.test(each)))
      refuse([key], "keys that begin with x402 or system. are ours");
  })
  .openapi("Metadata", { type: "object", additionalProperties: { type: "string" } });
export type Metadata = z.infer<typeof Metadata>;

/** Keys by which we say where a payment comes from. */
const ORIGIN = ["subscriptionId", "cycleIndex", "invoiceId", "paymentLinkId", "resourceId"] as const;

/** What a payer, or a page of the merchant, says of a payment: what it comes from is not theirs to say, and dropped. */
export const PayerMetadata = Metadata.transform(
  (said): Metadata =>
    Object.fromEntries(Object.entries(said).filter(([key]) => !ORIGIN.some((ours) => ours === key))),
).openapi("PayerMetadata", {
  type: "object",
  additionalProperties: { type: "string" },
  description: `${ORIGIN.slice(0, -1).join(", ")} and ${ORIGIN.at(-1)} are written by us, and left out of what is sent`,
});
