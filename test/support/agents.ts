/** Agents who pay what has an agent URL: an intent, an invoice, a link. */
import { afterEach } from "vitest";
import type { Checkpoint } from "#facilitator";
import { newPayer, type Resource, signPayment } from "./house.ts";
import type { PaymentPlace } from "./payments.ts";

/** What the agent URL of a payable asks for, as if it were a resource. */
export async function offerOf(
  place: PaymentPlace,
  id: string,
): Promise<Resource & { readonly amount: bigint }> {
  const url = `${place.baseUrl}/x402/payables/${id}`;
  const visit = await fetch(url);
  const header = visit.headers.get("PAYMENT-REQUIRED");
  if (visit.status !== 402 || !header)
    throw new Error(`${url} answered ${visit.status}: ${await visit.text()}`);
  const { accepts } = JSON.parse(Buffer.from(header, "base64").toString("utf8"));
  const usdc = accepts.find(({ asset }: { asset: string }) => asset.toLowerCase() === place.dev.usdc);
  return {
    id,
    url,
    maxTimeoutSeconds: usdc.maxTimeoutSeconds,
    accepts: accepts.map((option: { asset: string; payTo: string; extra: Record<string, unknown> }) => ({
      asset: "USDC",
      contract: option.asset,
      payTo: option.payTo,
      domain: option.extra,
    })),
    amount: BigInt(usdc.amount),
  };
}

/** A signed payment of a payable by a payer with just that money, and how to send it to the agent URL. */
export async function agentFor(place: PaymentPlace, id: string) {
  const offer = await offerOf(place, id);
  const payer = await newPayer(place.dev, offer.amount);
  const { body, signed } = await signPayment(place.dev, payer, offer, { amount: offer.amount });
  body.paymentRequirements.amount = `${offer.amount}`; // the accepted option is the same object
  const header = Buffer.from(JSON.stringify(body.paymentPayload)).toString("base64");
  const send = async () => {
    const response = await fetch(offer.url, { method: "POST", headers: { "PAYMENT-SIGNATURE": header } });
    return { status: response.status, body: (await response.json()) as { readonly success?: boolean } };
  };
  return { payer, signed, send, offer, header, body };
}

/** What a test does when a payment was found good and is about to be claimed, while nothing of it has been sent. It is
 *  forgotten after each test. */
export function claimHook() {
  const nothing = async () => {};
  const hook = {
    beforeClaim: nothing,
    checkpoint: async (step: Checkpoint) => {
      if (step === "before-claim") await hook.beforeClaim();
    },
    forget: () => {
      hook.beforeClaim = nothing;
    },
  };
  afterEach(hook.forget);
  return hook;
}
