import { z } from "zod";
import type { Offer } from "#facilitator";
import { findResource, noResource } from "../find.ts";
import { callExample, clientNotes, isTool, merchantText, priceOf, requiredOf, trustOf } from "../present.ts";
import { failure, type Next as NextStep, success } from "../result.ts";
import { Amount, MerchantText, Next, Notes, PaymentRequired, ShortText, Url } from "../schema.ts";
import { defineTool } from "../tool.ts";

export const getPaymentRequired = defineTool({
  name: "get_payment_required",
  title: "Price of a resource",
  description:
    "What a paid resource costs and what to sign for it, without calling it. Use it after search_resources, or with " +
    "the URL of a resource you know; for invoices, links and intents use get_payable. Amounts in accepts are atomic " +
    "units. Signing and sending is up to your own wallet and x402 client: the payload goes to the resource's own URL, " +
    'never to settle_payment, or you have paid and may get nothing. Example: {"id":"x402r_…"}.',
  input: z
    .strictObject({ id: ShortText.optional(), url: Url.optional() })
    .refine(({ id, url }) => (id === undefined) !== (url === undefined), "give exactly one of id and url"),
  output: z.looseObject({
    id: z.string(),
    paymentRequired: PaymentRequired,
    price: Amount,
    callExample: z.looseObject({}),
    clientNotes: Notes,
    trust: z.looseObject({}),
    merchantText: MerchantText,
    next: Next,
  }),
  effect: "reads",
  rate: "lookup",
  async run({ facilitator, wire }, input) {
    const offer = await findResource(facilitator, input);
    if (!offer) return noResource;
    const { payable, state } = offer;
    if (state !== "open")
      return failure("payable_closed", "This resource is no longer for sale. Search for another one.");
    const trust = await facilitator.trust(payable.id);
    return success({
      id: payable.id,
      paymentRequired: requiredOf(wire, offer),
      price: priceOf(payable),
      callExample: callExample(payable),
      clientNotes: clientNotes(wire, offer, trust),
      trust: trustOf(payable, trust),
      merchantText: merchantText(payable),
      next: nextOf(offer),
    });
  },
});

function nextOf({ payable, options }: Offer): NextStep {
  if (options.length === 0)
    return {
      action: "wait",
      text: "No network that this is sold on is served at the moment. Do not sign; ask again later.",
      tool: "get_payment_required",
    };
  return {
    action: "sign",
    text:
      "Sign one option of paymentRequired.accepts with your own wallet and check it with verify_payment (resourceId). " +
      (isTool(payable)
        ? 'Then call the tool in callExample, on the MCP server at its URL, with it as _meta["x402/payment"].'
        : "Then send it to the resource's URL in the header PAYMENT-SIGNATURE."),
    tool: "verify_payment",
  };
}
