import { z } from "zod";
import type { Offer, Reason } from "#facilitator";
import type { Call, Members, ReadPayment, Verified } from "../deps.ts";
import { findPaid, findResource, noPayable, noResource } from "../find.ts";
import { nextFor, spentNext } from "../outcome.ts";
import { overBudget, unreadable, verify } from "../pay.ts";
import { signedOf } from "../payment-ref.ts";
import { isTool } from "../present.ts";
import { type Next as NextStep, success } from "../result.ts";
import { isReturned, returnedNext } from "../returned.ts";
import { Next, PaymentPayload, ShortText } from "../schema.ts";
import { defineTool } from "../tool.ts";

export const verifyPayment = defineTool({
  name: "verify_payment",
  title: "Check a signed payment",
  description:
    "Whether a signed payment would settle: signature, amount, funds, time and nonce are checked against the chain; " +
    "nothing is sent and nothing is charged. Use it before you spend a signature. isValid false is an answer, not an " +
    'error: invalidReason says why, such as insufficient_funds. Example: {"resourceId":"x402r_…","paymentPayload":{…}}. ' +
    "Then send a resource's payment to the resource itself, and a payable's to pay_payable.",
  input: z
    .strictObject({
      resourceId: ShortText.optional(),
      payableId: ShortText.optional(),
      paymentPayload: PaymentPayload,
      paymentRequirements: z.looseObject({}).optional().describe("Needed for a version 1 payload only"),
    })
    .refine(
      ({ resourceId, payableId }) => (resourceId === undefined) !== (payableId === undefined),
      "give exactly one of resourceId and payableId",
    ),
  output: z.looseObject({
    isValid: z.boolean(),
    invalidReason: z.string().optional(),
    invalidMessage: z.string().optional(),
    payer: z.string().optional(),
    next: Next,
  }),
  effect: "reads",
  rate: "verify",
  async run(call, { resourceId, payableId, paymentPayload, paymentRequirements }) {
    const carried = call.wire.carried([paymentPayload]);
    if (!carried.ok) return unreadable("paymentPayload", carried.refusal);
    const payload = carried.payload as Members;
    const isResource = resourceId !== undefined;
    const offer = isResource
      ? await findResource(call.facilitator, { id: resourceId })
      : await findPaid(call, payableId ?? "", payload);
    if (!offer) return isResource ? noResource : noPayable;
    const reading = await call.wire.read(payload, offer, paymentRequirements);
    if (!reading.ok) {
      const { reason, message } = reading.refusal;
      const invalidReason = call.wire.reason(reason, reading.version);
      const verified = { isValid: false, invalidReason, invalidMessage: message };
      return told(call, offer, { verified, next: invalidNext(reason) });
    }
    const { payment } = reading;
    const refused = await overBudget(call, { offer, payment });
    if (refused) return refused;
    const answer = await verify(call, { offer, payment });
    const next =
      answer.outcome === "valid" ? validNext(offer, payload) : await judgedNext(call, payment, answer.reason);
    return told(call, offer, { verified: call.wire.verified(answer, payment.version), next });
  },
});

async function told(
  { facilitator }: Call,
  offer: Offer,
  { verified, next }: { readonly verified: Verified; readonly next: NextStep },
) {
  return success({ ...verified, next: await nextFor(facilitator, offer, next) });
}

function validNext({ payable }: Offer, payload: Members): NextStep {
  if (payable.kind === "resource")
    return {
      action: "send-to-resource",
      text:
        (isNameless(payload) ? NAMELESS : "") +
        (isTool(payable) ? TO_TOOL : TO_URL) +
        "Do not call settle_payment: the seller's server settles and delivers. Then ask get_payment_status with network, asset, " +
        "payer and nonce.",
      tool: "get_payment_status",
    };
  return {
    action: "settle",
    text: "Call pay_payable with payableId and this payload as payment.",
    tool: "pay_payable",
  };
}

const TO_URL =
  "Send this payload, base64 of its JSON, to the resource's own URL in the header PAYMENT-SIGNATURE. ";
const TO_TOOL =
  'Call the tool that get_payment_required names, on the MCP server at its URL, with this payload as _meta["x402/payment"]. ';

/** Version 1 names what it pays beside the payload. */
const isNameless = ({ x402Version, resource }: Members) => x402Version === 2 && resource === undefined;
const NAMELESS =
  "The payload names no resource, and the seller's server may need it: add resource, as paymentRequired has it; it is " +
  "not signed, so the signature stays good. ";

/** Of a payment that is sent back verify says no more than of one that asks for the wrong price. */
async function judgedNext({ facilitator }: Call, payment: ReadPayment, reason: Reason): Promise<NextStep> {
  const signed = reason === "invalid_payment_requirements" ? signedOf(payment) : null;
  const found = signed && (await facilitator.lookup({ by: "nonce", ...signed }));
  return found?.kind === "found" && isReturned(found.status) ? returnedNext : invalidNext(reason);
}

/** By our own reason: version 1 has one word for several. */
function invalidNext(reason: Reason): NextStep {
  switch (reason) {
    case "duplicate_settlement":
      return {
        action: "do-not-retry",
        text: "This authorization is paid already. Ask get_payment_status how it stands.",
        tool: "get_payment_status",
      };
    case "unexpected_verify_error":
      return {
        action: "wait",
        text: "We could not check. Repeat this call shortly.",
        tool: "verify_payment",
      };
    default:
      return (
        spentNext(reason) ?? {
          action: "fix-and-retry",
          text: "Nothing was charged. Correct what invalidMessage names, then verify again.",
          tool: "verify_payment",
        }
      );
  }
}
