import { z } from "@hono/zod-openapi";
import { parseAddress } from "#kernel/bytes";
import { Destination } from "../clearing/schema.ts";
import { clearingStates, returnStates } from "../clearing/state.ts";
import { Money } from "../http/money.ts";
import { intentStatuses } from "../payment-intent/state.ts";
import { ExecutionPath } from "../rate/schema.ts";

const Timestamp = z.string().openapi({ format: "date-time", example: "2026-08-11T09:30:00.000Z" });

/** What a payer is looking at. */
export const phases = [
  "choose",
  "waiting",
  "underpaid",
  "detected",
  "settling",
  "paid",
  "in-review",
  "expired",
  "failed",
  "cancelled",
  "returned",
] as const;
export type Phase = (typeof phases)[number];

/** Money that goes back to who sent it. What could not be sent is left out: it is here still. */
const Returned = z
  .object({
    amount: Money,
    asset: z.string(),
    chain: z.string(),
    transactionHash: z.string().nullable().openapi({ description: "Null until it is in a block" }),
    explorerUrl: z.string().nullable().openapi({ description: "Where that can be looked up" }),
    state: z
      .enum(returnStates)
      .exclude(["failed"])
      .openapi({ description: "decided: it leaves once what came is final; sent: it has left for good" }),
  })
  .openapi("Returned");
export type Returned = z.infer<typeof Returned>;

/** A payment as its payer sees it: nothing that only concerns the merchant. Source: merchant-api.md §7. */
export const CheckoutStatus = z
  .object({
    id: z.string().openapi({ example: "pi_01K2C0Z0000000000000000000" }),
    status: z.enum(intentStatuses),
    phase: z.enum(phases),
    clearing: z.object({ state: z.enum(clearingStates) }).nullable(),
    merchant: z.object({ name: z.string(), city: z.string(), countryCode: z.string() }),
    amount: Money,
    executionPath: ExecutionPath.nullable(),
    chain: z.string().nullable(),
    address: z.string().nullable().openapi({ description: "Where the money goes" }),
    uri: z.string().nullable().openapi({ description: "EIP-681, for what is still missing" }),
    due: Money.nullable(),
    received: Money.nullable(),
    remaining: Money.nullable(),
    confirmations: z.int().nullable().openapi({ description: "Of the deposit that has fewest" }),
    required: z.int().nullable(),
    transactionHash: z.string().nullable(),
    returned: z.array(Returned).openapi({ description: "What was sent back, or is on its way back" }),
    expiresAt: Timestamp,
    now: Timestamp.openapi({ description: "Our clock, to count down by" }),
  })
  .openapi("CheckoutStatus");
export type CheckoutStatus = z.infer<typeof CheckoutStatus>;

const Address = z
  .string()
  .refine((text) => parseAddress(text) !== null, "an address")
  .openapi({ type: "string", pattern: "^0x[0-9a-fA-F]{40}$" });

/** The form of the rail chooser. */
export const WayForm = z.strictObject({
  chain: z.string().min(1).max(64),
  asset: z.string().min(1).max(16),
  executionPath: ExecutionPath,
  payerAddress: Address.optional(),
});
export type WayForm = z.infer<typeof WayForm>;

export const CheckoutPath = z.object({
  id: z.string().max(40).openapi({ example: "pi_01K2C0Z0000000000000000000" }),
});

/** The form of a link's page. */
export const PayForm = z.strictObject({
  token: z.string().regex(/^[\x21-\x7e]{8,64}$/, "as the page gave it"),
  amount: z.string().max(40).optional().openapi({ description: "Of an open link, in major units" }),
  currency: z.string().max(16).default(""),
});
export type PayForm = z.infer<typeof PayForm>;

/** What a payer wants signed. */
export const ClaimQuery = z.object({ destination: Destination });

export const ClaimMessage = z
  .object({ message: z.string(), nonce: z.string(), expiresAt: Timestamp })
  .openapi("ClaimMessage");

/** The form of the refund page. */
export const ClaimForm = z.strictObject({
  account: Address.openapi({ description: "The wallet that paid" }),
  destination: Destination,
  nonce: z.string().max(64),
  signature: z
    .string()
    .regex(/^0x(?:[0-9a-fA-F]{2}){1,1500}$/)
    .openapi({ description: "Of the message: by the account's key, or what its contract takes (ERC-1271)" }),
});
