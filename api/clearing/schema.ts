import { z } from "@hono/zod-openapi";
import { parseAddress } from "#kernel/bytes";
import { Money } from "../http/money.ts";
import { PaymentChoice, PaymentIntent } from "../payment-intent/schema.ts";
import { failureReasons, providers } from "../payment-intent/state.ts";
import { ExecutionPath, LockedRate } from "../rate/schema.ts";
import { clearingStates, depositStatuses } from "./state.ts";

const Timestamp = z.string().openapi({ format: "date-time", example: "2026-08-11T09:30:00.000Z" });

/** How the money of an intent stands. Source: interface §2.3. */
export const Clearing = z
  .object({
    id: z.string().openapi({ example: "clr_01K2C0Z0000000000000000000" }),
    paymentIntentId: z.string(),
    state: z.enum(clearingStates),
    provider: z.enum(providers),
    providerReference: z.string().nullable().openapi({
      description: "The order (ord_…), the settlement of an agent's payment (stl_…), or the provider's id",
    }),
    transactionHash: z.string().nullable().openapi({ description: "The transaction that paid" }),
    sourceAmount: Money.openapi({ description: "What the payer must send; once settled, what counted" }),
    settlementAmount: Money.openapi({ description: "Gross, in the asset of the rail" }),
    fee: Money,
    netAmount: Money.openapi({ description: "What the merchant is credited" }),
    rate: LockedRate,
    failure: z.object({ reason: z.string(), code: z.enum(failureReasons), at: Timestamp }).nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("Clearing");
export type Clearing = z.infer<typeof Clearing>;

const DepositEntry = z
  .object({
    txHash: z.string(),
    logIndex: z.int(),
    amount: Money,
    status: z.enum(depositStatuses),
    confirmations: z.int(),
    firstSeenAt: Timestamp,
  })
  .openapi("DepositEntry");
export type DepositEntry = z.infer<typeof DepositEntry>;

/** Where the payer sends the money, and what came. Source: interface §2.4. */
export const Deposit = z
  .object({
    address: z.string(),
    chain: z.string(),
    asset: z.string(),
    amount: Money.openapi({ description: "Due for this order" }),
    uri: z.string().nullable().openapi({ description: "EIP-681, for what is still missing" }),
    received: Money.openapi({ description: "All that was seen there" }),
    required: z.int().openapi({ description: "Confirmations that each deposit needs" }),
    reviewRequired: z.boolean(),
    deposits: z.array(DepositEntry),
  })
  .openapi("Deposit");
export type Deposit = z.infer<typeof Deposit>;

/** One step of a clearing. Source: interface §2.5. */
export const TimelineEntry = z
  .object({
    sequence: z.int(),
    state: z.enum(clearingStates),
    from: z.enum(clearingStates).nullable(),
    occurredAt: Timestamp,
  })
  .openapi("TimelineEntry");
export type TimelineEntry = z.infer<typeof TimelineEntry>;

/** A payment whole. Source: interface §4. */
export const PaymentPosition = z
  .object({
    paymentIntent: PaymentIntent,
    clearing: Clearing.nullable().openapi({ description: "Null until the intent is confirmed" }),
    deposit: Deposit.nullable(),
    timeline: z.array(TimelineEntry),
  })
  .openapi("PaymentPosition");
export type PaymentPosition = z.infer<typeof PaymentPosition>;

/** What a confirm may choose; the intent's own wishes hold for what is left out. */
export const ConfirmInput = z
  .strictObject({ payment: PaymentChoice.optional(), executionPath: ExecutionPath.optional() })
  .openapi("ConfirmInput");
export type ConfirmInput = z.infer<typeof ConfirmInput>;

const ZERO = /^0x0{40}$/;
const WANTED = "0x and 40 hex digits, in mixed case with a right checksum, and not all zero";

/** Where money may be sent: an address that somebody can hold. `checkRecipient` knows what is wrong on its chain. */
export const Destination = z
  .string()
  .refine((text) => parseAddress(text) !== null && !ZERO.test(text), WANTED)
  .openapi({
    type: "string",
    pattern: "^0x[0-9a-fA-F]{40}$",
    example: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  });

export const ReviewInput = z
  .strictObject({
    action: z.enum(["accept", "return", "extend"]).openapi({
      description: "accept what came as the payment; return it to its payer; or give the payer more time",
    }),
    destination: Destination.optional().openapi({ description: "Where a return goes" }),
    note: z.string().max(500).optional(),
  })
  .openapi("ReviewInput");
export type ReviewInput = z.infer<typeof ReviewInput>;

/** What the router takes, with the operator's signature over it: `pay(order, signature)`. Amounts in atomic units. */
export const SignedOrder = z
  .object({
    chain: z.string(),
    router: z.string(),
    order: z.object({
      paymentRef: z.string().openapi({ description: "keccak256 of the intent's id" }),
      token: z.string(),
      payTo: z.string(),
      amount: z.string(),
      deadline: z
        .string()
        .openapi({ description: "Unix seconds; the router takes it up to and including this one" }),
    }),
    signature: z.string(),
  })
  .openapi("SignedOrder");
export type SignedOrder = z.infer<typeof SignedOrder>;

export const PaymentPath = z.object({
  id: z.string().max(40).openapi({
    description: "A payment intent (pi_…) or a clearing (clr_…)",
    example: "pi_01K2C0Z0000000000000000000",
  }),
});
export type PaymentPath = z.infer<typeof PaymentPath>;
