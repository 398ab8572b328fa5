import { z } from "@hono/zod-openapi";
import { Email, line, Metadata, Timestamp } from "../http/text.ts";

const TaxId = line(64);
const Address = line(500);

/** Somebody who buys. An email names one customer of a merchant, however it is capitalised. */
export const CustomerInput = z
  .strictObject({
    name: line(140),
    email: Email,
    taxId: TaxId.nullable().optional(),
    address: Address.nullable().optional(),
    metadata: Metadata.optional(),
  })
  .openapi("CustomerInput");
export type CustomerInput = z.infer<typeof CustomerInput>;

/** What is left out stays as it is. */
export const CustomerChange = CustomerInput.partial().openapi("CustomerChange");
export type CustomerChange = z.infer<typeof CustomerChange>;

export const Customer = z
  .object({
    id: z.string().openapi({ example: "cus_01K2C0Z0000000000000000000" }),
    name: z.string(),
    email: z.string(),
    taxId: z.string().nullable(),
    address: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("Customer");
export type Customer = z.infer<typeof Customer>;

export const CustomerFilter = z.object({
  email: z.string().max(254).optional().openapi({ description: "Exactly, in any capitals" }),
});
export type CustomerFilter = z.infer<typeof CustomerFilter>;

export const CustomerPath = z.object({
  id: z.string().max(40).openapi({ example: "cus_01K2C0Z0000000000000000000" }),
});
export type CustomerPath = z.infer<typeof CustomerPath>;

/** In a filter. */
export const CustomerId = z.string().max(40).openapi({
  description: "Of their subscriptions, and what else goes by the email that they have now",
});
