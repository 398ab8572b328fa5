import { z } from "@hono/zod-openapi";

/** Codes that are known as regions, and that ISO 3166-1 gives to no country. */
const REGIONS = new Set("AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ".split(" "));
const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** A code that was withdrawn is known by another one now. XK is not of the standard, and Kosovo has no other. */
function isCountry(code: string): boolean {
  if (REGIONS.has(code) || names.of(code) === undefined) return false;
  return new Intl.Locale("und", { region: code }).region === code;
}

/** Where a merchant is. Source: merchant-api.md §3.3. */
export const CountryCode = z
  .string()
  .regex(/^[A-Z]{2}$/, { message: "two capital letters, such as PT", abort: true })
  .refine(isCountry, {
    error: ({ input }) => `a country of ISO 3166-1, which ${input} is not; send its two letters, such as PT`,
  })
  .openapi({ example: "PT" });
