import { z } from "@hono/zod-openapi";
import { Money, MoneyInput } from "../http/money.ts";
import { line, Metadata, Timestamp, text } from "../http/text.ts";

const Prices = z
  .array(MoneyInput)
  .min(1)
  .max(30)
  .check((ctx) => {
    const assets = ctx.value.map(({ asset }) => asset);
    for (const [i, asset] of assets.entries())
      if (assets.indexOf(asset) < i)
        ctx.issues.push({
          code: "custom",
          input: ctx.value,
          path: [i, "asset"],
          message: `one price in ${asset}`,
        });
  })
  .openapi({ description: "One for each currency that it is sold in" });

/** Something that a merchant sells. Source: merchant-api.md §2.2. */
export const ProductInput = z
  .strictObject({
    merchantId: z.string().max(40).optional(),
    sku: line(64).openapi({ description: "Unique in the merchant's catalog" }),
    name: line(140),
    description: text(1_000).nullable().optional(),
    prices: Prices,
    active: z.boolean().default(true),
    metadata: Metadata.optional(),
  })
  .openapi("ProductInput");
export type ProductInput = z.infer<typeof ProductInput>;

/** What is left out stays as it is. */
export const ProductChange = ProductInput.extend({
  active: z.boolean(),
  version: z.int().min(1).openapi({ description: "The one that was read; another one now is a conflict" }),
})
  .partial()
  .openapi("ProductChange", { example: { name: "Coffee" } });
export type ProductChange = z.infer<typeof ProductChange>;

/** Source: interface §2.11. */
export const Product = z
  .object({
    id: z.string().openapi({ example: "prod_01K2C0Z0000000000000000000" }),
    merchantId: z.string(),
    sku: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    prices: z.array(Money),
    active: z.boolean(),
    metadata: z.record(z.string(), z.string()),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    version: z.int(),
  })
  .openapi("Product");
export type Product = z.infer<typeof Product>;

export const ProductFilter = z.object({
  merchantId: z.string().max(40).optional().openapi({ description: "The key's own merchant" }),
  active: z
    .enum(["true", "false"])
    .optional()
    .openapi({ description: "A publishable key is shown active ones only" }),
  sku: line(64, 0).optional(),
});
export type ProductFilter = z.infer<typeof ProductFilter>;

export const ProductPath = z.object({
  id: z.string().max(40).openapi({ example: "prod_01K2C0Z0000000000000000000" }),
});
export type ProductPath = z.infer<typeof ProductPath>;

/** So many of a product: what a buyer says; what it costs is read here. */
export const LineInput = z
  .strictObject({
    productId: z.string().max(40).openapi({ example: "prod_01K2C0Z0000000000000000000" }),
    quantity: z.int().min(1).max(9_999),
  })
  .openapi("LineInput");
export type LineInput = z.infer<typeof LineInput>;

export const LineInputs = z.array(LineInput).min(1).max(100);
