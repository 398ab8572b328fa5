import { z } from "zod";
import type { Offer, Refusal, SettleAnswer } from "#facilitator";
import type { Call, Members, ReadPayment, Settled } from "../deps.ts";
import { findPayable, findToPay, noPayable, refuseAmount } from "../find.ts";
import { outcomeNext, spentNext, unanswered, underWay } from "../outcome.ts";
import { overBudget, settle, unreadable } from "../pay.ts";
import { challengeOf, nothingToSign, obstacle } from "../present.ts";
import { failure, success, type ToolResult } from "../result.ts";
import { IdempotencyKey, OpenAmount, Url } from "../schema.ts";
import { defineTool } from "../tool.ts";

/** The extension in which x402 is negotiated, and the keys that its base binding uses. Source: agents.md §4. */
export const X402_EXTENSION = "org.x402/payment";
const PAYMENT = "x402/payment";
const DOTTED_PAYMENT = "x402.payment";
const RESPONSE = "x402/payment-response";
const CHALLENGE = "x402/error";

export const payPayable = defineTool({
  name: "pay_payable",
  title: "Pay an invoice, link or intent",
  description:
    "Pays an invoice, payment link or intent. Without a payment it answers with an x402 PaymentRequired, as an error " +
    "result that paying clients understand: sign one option with your own wallet and call again with the payload in " +
    '_meta["x402/payment"] or as payment. It settles and answers with the receipt. Each payable that can be paid once is ' +
    'never charged twice. Pending is not a failure: wait. Example: {"payableId":"inv_…"}. Then ask get_payment_status.',
  input: z.strictObject({
    payableId: Url.describe("Id or URL"),
    openAmount: OpenAmount.optional(),
    payment: z
      .union([z.looseObject({}), z.string()])
      .optional()
      .describe("x402 PaymentPayload, or base64 of it"),
    idempotencyKey: IdempotencyKey.optional(),
  }),
  effect: "pays",
  rate: "settle",
  async run(call, { payableId, openAmount, payment, idempotencyKey }) {
    const carried = carriedPayment(call, payment);
    if (!carried.ok) return misread(call, { id: payableId, refusal: carried.refusal });
    const priced = await refuseAmount(call, { id: payableId, openAmount });
    if (priced) return priced;
    const offer = await findToPay(call, { id: payableId, openAmount, payment: carried.payload });
    if (!offer) return noPayable;
    if (carried.payload === null) return unpaid(call, offer);
    const reading = await call.wire.read(carried.payload, offer);
    if (!reading.ok) {
      const { reason, message } = reading.refusal;
      return unpaid(call, offer, { why: { error: call.wire.reason(reason, reading.version), message } });
    }
    const { payment: read } = reading;
    const spending = { id: payableId, offer, payment: read, idempotencyKey };
    const refused = await overBudget(call, spending);
    if (refused) return refused;
    return told(call, { payment: read, ...(await settle(call, spending)) });
  },
});

/** Nothing is made anew for a payment that nobody can read. */
async function misread(call: Call, { id, refusal }: { id: string; refusal: Refusal }): Promise<ToolResult> {
  const offer = await findPayable(call.facilitator, { id });
  if (!offer || offer.options.length === 0) return unreadable("payment", refusal);
  return unpaid(call, offer, { why: { error: refusal.reason, message: refusal.message } });
}

/** Every place where a client in the field puts its payment; two different ones are refused. */
function carriedPayment({ wire, meta, headers }: Call, argument: unknown) {
  const named = wire.carried([meta[PAYMENT], meta[DOTTED_PAYMENT], argument]);
  const inHeaders = wire.carriedInHeaders(headers);
  if (!named.ok) return named;
  if (!inHeaders.ok) return inHeaders;
  return wire.carried([named.payload, inHeaders.payload]);
}

interface Unpaid {
  /** Why a payment that came was not taken. */
  readonly why?: Why | undefined;
  readonly meta?: Members | undefined;
}
interface Why {
  readonly error: string | undefined;
  readonly message: string;
}

/** The price, to a caller who may pay it; to anybody else why not, without anything that a wallet would sign. */
function unpaid(call: Call, offer: Offer, { why, meta }: Unpaid = {}): ToolResult {
  switch (obstacle(offer)) {
    case null:
      if (offer.options.length === 0) return failure("rail_unsupported", nothingToSign(offer), meta);
      return challenge(call, challengeOf(call.wire, offer, why?.error ?? "Payment required"), { why, meta });
    case "held":
      return failure("payment_pending", underWay(offer.paymentId), meta);
    case "paid":
      return failure("payable_closed", "It is paid. Do not sign and do not retry.", meta);
    default:
      return failure("payable_closed", "It cannot be paid any more. Do not sign and do not retry.", meta);
  }
}

/** Clients read the challenge out of the first text; the sentence of a refusal stands after it, where a model reads it. */
function challenge({ clientExtensions }: Call, required: object, { why, meta = {} }: Unpaid): ToolResult {
  const said = why ? [{ type: "text" as const, text: why.message }] : [];
  const isNegotiated = Object.hasOwn(clientExtensions, X402_EXTENSION);
  if (isNegotiated)
    return { content: said, resultType: "payment_required", paymentRequired: required, _meta: { ...meta } };
  return {
    content: [{ type: "text", text: JSON.stringify(required) }, ...said],
    structuredContent: { ...required },
    isError: true,
    _meta: { ...meta, [CHALLENGE]: required },
  };
}

interface Told {
  readonly offer: Offer;
  readonly payment: ReadPayment;
  readonly answer: SettleAnswer;
}

async function told(call: Call, { offer, payment, answer }: Told): Promise<ToolResult> {
  const { wire, facilitator } = call;
  const settled = wire.settled(answer, payment.version);
  const meta = { [RESPONSE]: settled };
  const next = outcomeNext(answer);
  switch (answer.outcome) {
    case "settled":
      return success(
        { ...wire.receipt(answer, offer.payable, payment.selection.asset), status: "settled", next },
        meta,
      );
    case "pending":
      return success({ ...open(settled), status: "pending", next }, meta);
    case "refused": {
      const now = (await findPayable(facilitator, { id: offer.payable.id })) ?? offer;
      return unpaid(call, now, {
        why: { error: settled.errorReason, message: sentenceOf(settled, answer) },
        meta,
      });
    }
    case "duplicate":
    case "bound-elsewhere":
    case "failed":
      return failure(
        settled.errorReason ?? answer.outcome,
        `${settled.errorMessage ?? "The payment did not settle."} ${next.text}`,
        meta,
      );
    default:
      return (
        unanswered(answer) ?? failure("internal_error", "The payment has no outcome. Ask get_payment_status.")
      );
  }
}

function sentenceOf({ errorMessage = "The payment was not taken." }: Settled, { reason }: SettleAnswer) {
  const spent = spentNext(reason);
  return spent ? `${errorMessage} ${spent.text}` : errorMessage;
}

function open({ extra = {}, ...settled }: object & { readonly extra?: object | undefined }): Members {
  return { ...settled, ...extra };
}
