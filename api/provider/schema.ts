import { z } from "@hono/zod-openapi";

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
