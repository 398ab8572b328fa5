import { agentUrl, type Facilitator, hasAgentUrl, namesItsPrice, type Offer } from "#facilitator";
import { Fault } from "#kernel/fault";
import { isId } from "#kernel/id";
import type { Call, ReadPayment } from "./deps.ts";
import { signedOf } from "./payment-ref.ts";
import { priceOf } from "./present.ts";
import { badArgument, failure, type ToolResult } from "./result.ts";

const IN_OUR_URL = /\/(?:x402\/payables|checkout|invoices)\/([a-z]+_[0-9A-Z]{26})(?:[/?#]|$)/;

interface Named {
  readonly id?: string | undefined;
  readonly url?: string | undefined;
}

/** A resource by its id or the URL it is called at. Text that cannot be an id is not looked up. */
export async function findResource(facilitator: Facilitator, { id, url }: Named): Promise<Offer | null> {
  if (id !== undefined) return isId("x402r", id) ? facilitator.offer({ by: "id", id }) : null;
  const found = await facilitator.offer({ by: "url", url: url ?? "" });
  return found?.payable.kind === "resource" ? found : null;
}

/** A link, invoice or intent by its id, its agent URL or its page. */
export async function findPayable(facilitator: Facilitator, named: Named): Promise<Offer | null> {
  const id = idIn(named);
  return id === null ? null : facilitator.offer({ by: "id", id });
}

/** The same for somebody who pays it: of what is paid by intents of its own, such an intent. Faults: those of making one.
 *  Source: agents.md §7. */
export async function findToPay(
  { facilitator, derive, caller: { address } }: Call,
  {
    openAmount,
    payment,
    ...named
  }: Named & { readonly openAmount: string | undefined; readonly payment: unknown },
): Promise<Offer | null> {
  const offer = await findPayable(facilitator, named);
  const id = idIn(named);
  if (id === null || (offer && offer.options.length > 0)) return offer;
  const derived = await derive({ id, amount: openAmount, payment, address });
  return facilitator.offer({ by: "id", id: derived ?? id });
}

/** Refuses an amount for what says itself what it costs. Null where nothing is wrong. */
export async function refuseAmount(
  { facilitator }: Call,
  { openAmount, ...named }: Named & { readonly openAmount: string | undefined },
): Promise<ToolResult | null> {
  const offer = openAmount === undefined ? null : await findPayable(facilitator, named);
  if (!offer || !namesItsPrice(offer)) return null;
  const { decimal, symbol } = priceOf(offer.payable);
  return badArgument("openAmount", `none: this costs ${decimal} ${symbol}, all at once. Leave it out`);
}

/** What a payload pays that comes with the id of a link or invoice: where that is paid by intents, one of them. What its
 *  payer names is the amount of the intent, so who names the intent need not say how much. */
export async function findPaid(call: Call, id: string, payment: unknown): Promise<Offer | null> {
  try {
    return await findToPay(call, { id, openAmount: undefined, payment });
  } catch (error) {
    if (!(error instanceof Fault) || error.context.pointer !== "/query/amount") throw error;
    throw new Fault("validation_failed", nameless, { ...namesNoIntent }, error);
  }
}
const nameless = { kind: "invalid", title: "Payload without its resource", detail: "{why}." } as const;
const namesNoIntent = {
  pointer: "/paymentPayload",
  why: "it does not say which intent of the link it pays: add resource, as paymentRequired has it; it is not signed, so the signature stays good",
};

/** Of identical calls that come at once each has an intent made for it, and one of them is claimed: the one that all pay.
 *  Null where the payment names an intent, or is bound to something that is not of this link or invoice. */
export async function findClaimed(
  { facilitator, derive, config, caller: { address } }: Call,
  { id, offer, payment }: { readonly id: string; readonly offer: Offer; readonly payment: ReadPayment },
): Promise<Offer | null> {
  const asked = idIn({ id });
  if (asked === null || asked === offer.payable.id) return null;
  const signed = signedOf(payment);
  const bound = signed && (await facilitator.boundTo(signed));
  if (!bound || bound === offer.payable.id) return null;
  const naming = { resource: { url: agentUrl(config.baseUrl, bound) } };
  const derived = await derive({ id: asked, amount: undefined, payment: naming, address });
  return derived === bound ? facilitator.offer({ by: "id", id: bound }) : null;
}

/** In whichever argument: who was sent an invoice has its URL, and hands it on as it is. */
function idIn({ id, url }: Named): string | null {
  const given = (id ?? url ?? "").trim();
  const named = IN_OUR_URL.exec(given)?.[1] ?? given;
  return hasAgentUrl(named) ? named : null;
}

export const noResource: ToolResult = failure(
  "not_found",
  "No resource for sale here has this id or URL. Take the id from search_resources.",
);
export const noPayable: ToolResult = failure(
  "not_found",
  "Nothing payable here has this id or URL. Take the id from search_payables, or from whoever asked you to pay.",
);
