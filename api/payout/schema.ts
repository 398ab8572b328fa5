import { z } from "@hono/zod-openapi";
import { Destination } from "../clearing/schema.ts";
import { Money, MoneyInput } from "../http/money.ts";
import { Instant } from "../http/text.ts";

/** What a merchant holds in one asset on one chain. Source: merchant-api.md §2.7. */
export const Balance = z
  .object({
    asset: z.string(),
    chain: z.string(),
    available: Money.openapi({ description: "Posted and spendable" }),
    pending: Money.openapi({ description: "Credited in a block that is not final yet" }),
    reserved: Money.openapi({ description: "Locked for a payout or refund under way" }),
  })
  .openapi("Balance");

export const LedgerEntry = z
  .object({
    id: z.string(),
    code: z.string().openapi({ example: "x402-credited" }),
    subject: z.string().nullable(),
    blockNumber: z.int().nullable(),
    postedAt: z.string(),
    transfers: z.array(
      z.object({
        debit: z.string(),
        credit: z.string(),
        asset: z.string(),
        amount: Money,
        phase: z.string(),
      }),
    ),
  })
  .openapi("LedgerEntry");

export const LedgerAccount = z
  .object({ path: z.string(), type: z.string(), asset: z.string(), posted: Money, pending: Money })
  .openapi("LedgerAccount");

export const EntryQuery = z.object({
  subject: z.string().max(40).optional().openapi({
    description:
      "A payment (pi_…, or its clearing clr_…) with its refunds and returns, or one settlement (stl_…), refund (re_…) or payout (po_…)",
  }),
  from: Instant.optional(),
  to: Instant.optional(),
});

export const PayoutAddressInput = z
  .strictObject({
    chain: z.string().min(1).max(64).openapi({ description: "Slug or CAIP-2 id", example: "base" }),
    address: Destination.openapi({
      description: "0x address; a mixed-case one must carry a right EIP-55 checksum",
    }),
    label: z.string().max(140).default(""),
  })
  .openapi("PayoutAddressInput");
export type PayoutAddressInput = z.infer<typeof PayoutAddressInput>;

export const PayoutAddress = z
  .object({
    id: z.string(),
    chain: z.string(),
    address: z.string(),
    label: z.string(),
    usableFrom: z.string(),
    createdAt: z.string(),
  })
  .openapi("PayoutAddress");
export type PayoutAddress = z.infer<typeof PayoutAddress>;

export const PayoutInput = z
  .strictObject({
    amount: MoneyInput.openapi({ description: "In a stablecoin" }),
    chain: z.string().min(1).max(64),
    destination: z.string().openapi({ description: "An address of the address book, or its id (pad_…)" }),
  })
  .openapi("PayoutInput", {
    example: {
      amount: { amount: "100.00", asset: "USDC" },
      chain: "base",
      destination: "pad_01K2C0Z0000000000000000000",
    },
  });
export type PayoutInput = z.infer<typeof PayoutInput>;

export const PayoutState = z.enum(["pending", "processing", "succeeded", "failed", "cancelled"]);
export type PayoutState = z.infer<typeof PayoutState>;

export const Payout = z
  .object({
    id: z.string(),
    state: PayoutState,
    amount: Money,
    chain: z.string(),
    destination: z.string(),
    transactionHash: z.string().nullable(),
    failureReason: z.string().nullable(),
    createdAt: z.string(),
  })
  .openapi("Payout");
export type Payout = z.infer<typeof Payout>;

export const ById = z.object({ id: z.string().max(40) });
