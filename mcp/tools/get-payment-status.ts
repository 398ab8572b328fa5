import { z } from "zod";
import type { Facilitator, PaymentLookup, SettlementStatus } from "#facilitator";
import { checksum, parseAddress } from "#kernel/bytes";
import { paymentRefOf } from "../payment-ref.ts";
import { amountOf } from "../present.ts";
import { badArgument, failure, type Next as NextStep, success, type ToolResult } from "../result.ts";
import { isReturned, returnedNext } from "../returned.ts";
import { Amount, Next, ShortText } from "../schema.ts";
import { defineTool } from "../tool.ts";

const Input = z
  .strictObject({
    paymentId: ShortText.optional().describe("stl_…, from a settle answer"),
    network: ShortText.optional().describe("CAIP-2"),
    asset: ShortText.optional().describe("Token contract, as signed"),
    payer: ShortText.optional(),
    nonce: ShortText.optional().describe("32 bytes of hex, as signed"),
    transaction: ShortText.optional(),
  })
  .refine(isOneWay, "give paymentId; or network, asset, payer and nonce; or network, transaction and payer");

export const getPaymentStatus = defineTool({
  name: "get_payment_status",
  title: "Where a payment stands",
  description:
    "Where a payment stands, by paymentId, by what was signed {network, asset, payer, nonce}, or by {network, " +
    "transaction, payer}. Use it whenever an answer was lost or pending: by nonce it knows the payment before it is on " +
    "chain. status is pending, settled, final, failed, expired, cancelled, review, reversed or not-found. Chain facts " +
    "only. chargeable false means nobody can use the authorization any more; until then never sign again. Example: " +
    '{"paymentId":"stl_…"}.',
  input: Input,
  output: z.looseObject({
    status: z.string(),
    paymentId: z.string().optional(),
    transaction: z.string().optional(),
    network: z.string().optional(),
    payer: z.string().optional(),
    confirmations: z.int().optional(),
    required: z.int().optional(),
    chargeable: z.boolean().optional(),
    amount: Amount.optional(),
    next: Next,
  }),
  effect: "reads",
  rate: "lookup",
  async run({ facilitator }, input) {
    const ref = paymentRefOf(facilitator, input);
    if ("why" in ref) return badArgument(ref.name, ref.why);
    const found = await facilitator.lookup(ref);
    switch (found.kind) {
      case "not-found":
        return success({ status: "not-found", next: unknown });
      case "several":
        return several;
      case "found":
        return present(facilitator, found);
    }
  },
});

/** Exactly one of the three ways, without members of another. */
function isOneWay(input: Readonly<Record<string, string | undefined>>): boolean {
  const given = Object.keys(input)
    .filter((key) => input[key] !== undefined)
    .sort()
    .join(" ");
  return ["paymentId", "asset network nonce payer", "network payer transaction"].includes(given);
}

function present(facilitator: Facilitator, found: Extract<PaymentLookup, { kind: "found" }>): ToolResult {
  const { status, token, amount } = found;
  const paid = facilitator
    .chains()
    .find(({ network }) => network === status.network)
    ?.tokens.find(({ contract }) => parseAddress(contract) === token);
  return success({
    status: status.status,
    paymentId: status.paymentId,
    transaction: status.transaction,
    network: status.network,
    payer: checksum(status.payer),
    confirmations: status.confirmations,
    required: status.required,
    chargeable: status.chargeable,
    ...(paid ? { amount: amountOf(amount, paid.decimals, paid.asset) } : {}),
    ...(status.reason === null ? {} : { errorReason: status.reason }),
    next: nextOf(status),
  });
}

const several = failure(
  "several_payments",
  "That transaction carries more than one payment of this payer. Ask with network, asset, payer and nonce.",
);
const tool = "get_payment_status";
const unknown: NextStep = {
  action: "wait",
  text:
    "No payment is recorded here under these arguments. Compare each of them with what you signed before you sign " +
    "anew: a wrong one finds nothing, though you may have paid. If they are right and you sent it, repeat the " +
    "identical request; it cannot be charged twice.",
  tool,
};

function nextOf({ status, chargeable, reason }: SettlementStatus): NextStep {
  switch (status) {
    case "pending":
    case "reversed":
      return { action: "wait", text: "The outcome is open. Do not sign again; ask once more shortly.", tool };
    case "review":
      return {
        action: "wait",
        text: "A person decides on this payment. Do not sign again; ask later.",
        tool,
      };
    case "settled":
      return {
        action: "done",
        text: "Paid. It becomes final with a few more blocks; nothing is left to do.",
      };
    case "final":
      return { action: "done", text: "Paid, for good." };
    case "failed":
      return chargeable
        ? {
            action: "wait",
            text: "Not settled so far, but the signature can still be charged. Repeat the identical request, or wait until chargeable is false.",
            tool,
          }
        : { action: "fix-and-retry", text: "Not paid. Sign a fresh authorization." };
    case "expired":
    case "cancelled":
      if (isReturned({ reason, chargeable })) return returnedNext;
      return {
        action: "fix-and-retry",
        text: "Nothing was charged and nothing can be. Sign a fresh authorization.",
      };
  }
}
