import { z } from "@hono/zod-openapi";
import { Money, MoneyInput } from "../http/money.ts";

export const ProviderPath = z.object({
  provider: z
    .string()
    .max(40)
    .openapi({ param: { name: "provider", in: "path" }, example: "sandbox" }),
});

export const Received = z.object({ received: z.literal(true) }).openapi("ProviderEventReceived");

export const ClockAdvance = z
  .strictObject({
    seconds: z
      .int()
      .min(1)
      .max(366 * 86_400),
  })
  .openapi("ClockAdvance", { example: { seconds: 3_600 } });
export type ClockAdvance = z.infer<typeof ClockAdvance>;

export const ClockAdvanced = z
  .object({
    now: z.string().openapi({ description: "What the merchant clock says now" }),
    offsetSeconds: z.int().openapi({ description: "How far it is ahead of real time" }),
  })
  .openapi("ClockAdvanced");
export type ClockAdvanced = z.infer<typeof ClockAdvanced>;

export const Reorg = z
  .strictObject({ depth: z.int().min(1).max(64).openapi({ description: "How many of the newest blocks" }) })
  .openapi("Reorg", { example: { depth: 1 } });
export type Reorg = z.infer<typeof Reorg>;

export const SimulatedDepositInput = z
  .strictObject({
    paymentId: z.string().max(40).openapi({ description: "A payment intent (pi_…) or a clearing (clr_…)" }),
    amount: MoneyInput.optional().openapi({
      description:
        "In a token of the chain; what is still missing when left out. Less, more and another token are possible",
    }),
    delay: z.int().min(0).max(600).default(0).openapi({ description: "Seconds until it is sent" }),
  })
  .openapi("SimulatedDepositInput", { example: { paymentId: "pi_01K2C0Z0000000000000000000", delay: 0 } });
export type SimulatedDepositInput = z.infer<typeof SimulatedDepositInput>;

export const SimulatedDeposit = z
  .object({
    paymentId: z.string(),
    amount: Money,
    delay: z.int(),
    transactionHash: z
      .string()
      .nullable()
      .openapi({ description: "Null for what is sent later, and for a provider's payment" }),
  })
  .openapi("SimulatedDeposit");
export type SimulatedDeposit = z.infer<typeof SimulatedDeposit>;
