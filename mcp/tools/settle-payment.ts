import { z } from "zod";
import type { SettleAnswer } from "#facilitator";
import type { Members } from "../deps.ts";
import { findPaid, findResource, noPayable, noResource } from "../find.ts";
import { nextFor, outcomeNext, refusedFor, statusOf, unanswered } from "../outcome.ts";
import { overBudget, settle, unreadable } from "../pay.ts";
import { success } from "../result.ts";
import { IdempotencyKey, Next, PaymentPayload, ShortText } from "../schema.ts";
import { defineTool } from "../tool.ts";

export const settlePayment = defineTool({
  name: "settle_payment",
  title: "Settle a signed payment",
  description:
    "Broadcasts a signed payment, waits for the chain and credits the merchant. For merchants, and for payables, where " +
    "settling is the delivery. NOT for buying a resource: an authorization settles once, so send that payload to the " +
    "resource's own URL, or you have paid and may be refused. status pending is not a failure: wait, never sign again. " +
    'A second settle is answered duplicate with the first transaction. Example: {"payableId":"inv_…","paymentPayload":{…}}. ' +
    "Then ask get_payment_status.",
  input: z
    .strictObject({
      resourceId: ShortText.optional(),
      payableId: ShortText.optional(),
      paymentPayload: PaymentPayload,
      paymentRequirements: z.looseObject({}).optional().describe("Needed for a version 1 payload only"),
      idempotencyKey: IdempotencyKey.optional(),
    })
    .refine(
      ({ resourceId, payableId }) => (resourceId === undefined) !== (payableId === undefined),
      "give exactly one of resourceId and payableId",
    ),
  output: z.looseObject({
    success: z.boolean(),
    status: z.string(),
    transaction: z.string(),
    network: z.string(),
    payer: z.string().optional(),
    errorReason: z.string().optional(),
    errorMessage: z.string().optional(),
    paymentId: z.string().optional(),
    statusUrl: z.string().optional(),
    receiptUrl: z.string().optional(),
    next: Next,
  }),
  effect: "pays",
  rate: "settle",
  async run(call, { resourceId, payableId, paymentPayload, paymentRequirements, idempotencyKey }) {
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
      return success({
        success: false,
        status: "refused",
        transaction: "",
        network: "",
        errorReason: call.wire.reason(reason, reading.version),
        errorMessage: message,
        next: await nextFor(call.facilitator, offer, outcomeNext(refusedFor(reason))),
      });
    }
    const id = resourceId ?? payableId ?? "";
    const spending = { id, offer, payment: reading.payment, idempotencyKey };
    const refused = await overBudget(call, spending);
    if (refused) return refused;
    const { answer, offer: paid } = await settle(call, spending);
    const next = await nextFor(call.facilitator, paid, outcomeNext(answer));
    const settled = call.wire.settled(answer, reading.payment.version);
    return unanswered(answer) ?? success({ ...facts(answer, settled), next });
  },
});

function facts(
  { outcome }: SettleAnswer,
  { extra = {}, ...settled }: object & { readonly extra?: object | undefined },
) {
  return { ...settled, status: statusOf(outcome), ...extra };
}
