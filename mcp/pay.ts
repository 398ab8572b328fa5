import type { Offer, PaymentRequest, Refusal, SettleAnswer, VerifyAnswer } from "#facilitator";
import { errorFields } from "#kernel/log";
import type { Call, ReadPayment } from "./deps.ts";
import { findClaimed } from "./find.ts";
import { failure, rateLimited, type ToolResult } from "./result.ts";

/** What a payment is checked or spent for. */
interface Spending {
  readonly offer: Offer;
  readonly payment: ReadPayment;
  readonly idempotencyKey?: string | undefined;
}

/** To a payment that is none in whatever form. */
export function unreadable(argument: string, { message }: Refusal): ToolResult {
  return failure("invalid_arguments", `${argument}: ${message} Correct it and call again.`);
}

/** The budgets of what is paid and of who pays it, beside the caller's own; null when all hold. Nobody has checked yet that
 *  the payer signed, so a payer has a budget for each address: what strangers send in its name takes nothing from its own. */
export async function overBudget(call: Call, { offer, payment }: Spending): Promise<ToolResult | null> {
  const { limit, address } = call.caller;
  const seconds =
    (await limit("payable", offer.payable.id)) ??
    (payment.payer === null
      ? null
      : await limit("payer", `${payment.payer.slice(0, 64).toLowerCase()} ${address}`));
  return seconds === null ? null : rateLimited(seconds);
}

export function verify(call: Call, spending: Spending): Promise<VerifyAnswer> {
  return call.facilitator.verify(requestOf(call, spending));
}

/** Settles for what was asked by `id`, or for the intent of it that the authorization was claimed for meanwhile: also what
 *  the answer is about. */
export async function settle(
  call: Call,
  { id, ...spending }: Spending & { readonly id: string },
): Promise<{ readonly answer: SettleAnswer; readonly offer: Offer }> {
  const answer = await settleOnce(call, spending);
  const claimed = answer.outcome === "bound-elsewhere" ? await findClaimed(call, { ...spending, id }) : null;
  if (!claimed) return { answer, offer: spending.offer };
  return { answer: await settleOnce(call, { ...spending, offer: claimed }), offer: claimed };
}

/** Waits as long as the engine does. A success that the caller's connection did not take is given back. */
async function settleOnce(call: Call, spending: Spending): Promise<SettleAnswer> {
  const { facilitator, caller, requestId, log } = call;
  const answer = await facilitator.settle(requestOf(call, spending), { closed: caller.delivery.closed });
  const { paymentId } = answer;
  if (answer.outcome === "settled" && !answer.replayed && paymentId !== null)
    caller.delivery.orElse(() => {
      facilitator
        .releaseGrant(paymentId, requestId)
        .catch((error) => log.warn({ paymentId, ...errorFields(error) }, "a success was not taken back"));
    });
  return answer;
}

function requestOf({ requestId }: Call, { offer, payment, idempotencyKey }: Spending): PaymentRequest {
  const { selection, accepted, payload, payloadHash, paymentIdentifier } = payment;
  return {
    target: { by: "id", id: offer.payable.id },
    selection,
    accepted,
    payload,
    payloadHash,
    paymentIdentifier,
    idempotencyKey: idempotencyKey ?? null,
    requestId,
  };
}
