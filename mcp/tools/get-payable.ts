import { z } from "zod";
import type { Offer } from "#facilitator";
import { findToPay, noPayable, refuseAmount } from "../find.ts";
import { standingNext } from "../outcome.ts";
import {
  clientNotes,
  nothingToSign,
  obstacle,
  presentPayable,
  railsOf,
  requiredOf,
  trustOf,
} from "../present.ts";
import { type Next as NextStep, success } from "../result.ts";
import { Amount, MerchantText, Next, Notes, OpenAmount, PaymentRequired, ShortText, Url } from "../schema.ts";
import { defineTool } from "../tool.ts";

export const getPayable = defineTool({
  name: "get_payable",
  title: "One invoice, link or intent",
  description:
    "What an invoice, payment link or payment intent costs, whether it can still be paid, and what to sign for it. " +
    "Use it with an id from search_payables, an agent URL or the URL of a payment page; for resources use " +
    "get_payment_required. state is open, or why it cannot be paid: held (a payment is under way), paid, void, " +
    'disabled, expired. Example: {"id":"inv_…"}. Then sign one option and call pay_payable.',
  input: z
    .strictObject({ id: ShortText.optional(), url: Url.optional(), openAmount: OpenAmount.optional() })
    .refine(({ id, url }) => (id === undefined) !== (url === undefined), "give exactly one of id and url"),
  output: z.looseObject({
    id: z.string(),
    kind: z.string(),
    state: z.string(),
    amount: Amount,
    resource: z.string(),
    rails: z.array(z.looseObject({})),
    paymentRequired: PaymentRequired.optional(),
    clientNotes: Notes,
    merchantText: MerchantText,
    next: Next,
  }),
  effect: "reads",
  rate: "lookup",
  async run(call, input) {
    const priced = await refuseAmount(call, { openAmount: undefined, ...input });
    if (priced) return priced;
    const offer = await findToPay(call, { payment: null, openAmount: undefined, ...input });
    if (!offer) return noPayable;
    const why = obstacle(offer);
    const isSignable = why === null && offer.options.length > 0;
    const trust = await call.facilitator.trust(offer.payable.id);
    return success({
      ...presentPayable(offer),
      state: why ?? "open",
      trust: trustOf(offer.payable, trust),
      rails: isSignable ? railsOf(offer) : [],
      paymentRequired: isSignable ? requiredOf(call.wire, offer) : undefined,
      clientNotes: isSignable ? clientNotes(call.wire, offer, trust) : [],
      paymentId: offer.state === "held" ? (offer.paymentId ?? undefined) : undefined,
      next: nextOf(offer),
    });
  },
});

function nextOf(offer: Offer): NextStep {
  const standing = standingNext(offer);
  if (standing) return standing;
  if (offer.options.length === 0) return { action: "do-not-retry", text: nothingToSign(offer) };
  return {
    action: "sign",
    text:
      "Sign one option of paymentRequired.accepts with your own wallet, then call pay_payable with payableId and " +
      "the payload as payment. Or send it to the agent URL, resource, in the header PAYMENT-SIGNATURE.",
    tool: "pay_payable",
  };
}
