import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const Arguments = z.object({ url: z.string().max(2_048).describe("URL of the resource to buy from") });

/** The one prompt: buy from a URL that a person names. */
export function registerPrompt(server: McpServer): void {
  server.registerPrompt(
    "pay_resource",
    {
      title: "Pay a resource",
      description: "Price a paid URL, pay it once from your own wallet and check the payment.",
      argsSchema: Arguments,
    },
    ({ url }) => ({
      messages: [{ role: "user" as const, content: { type: "text" as const, text: steps(url) } }],
    }),
  );
}

function steps(url: string): string {
  return [
    "Buy from this URL, once:",
    JSON.stringify(url),
    "Call get_payment_required with it, tell me the price and wait for my yes. Then sign one option with your own",
    "wallet, check it with verify_payment, send it to the URL in the header PAYMENT-SIGNATURE, and follow it with",
    "get_payment_status. Follow next in every answer. Never sign a second payment while the first one is open.",
  ].join("\n");
}
