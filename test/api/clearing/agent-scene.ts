/** What tests of agents' payments share: what an agent URL asks for, and an agent who pays it. */
import { newPayer, type Resource, signPayment, type World } from "../../support/house.ts";

/** Where a clearing has been when its money came as it should. */
export const statesToSettled = [
  "created",
  "awaiting-funds",
  "funds-detected",
  "funds-received",
  "settling",
  "settled",
];

/** What the agent URL of an intent asks for, as if it were a resource. */
async function offerOf(world: World, id: string): Promise<Resource & { readonly amount: bigint }> {
  const url = `${world.baseUrl}/x402/payables/${id}`;
  const visit = await fetch(url);
  const header = visit.headers.get("PAYMENT-REQUIRED");
  if (visit.status !== 402 || !header)
    throw new Error(`${url} answered ${visit.status}: ${await visit.text()}`);
  const required = JSON.parse(Buffer.from(header, "base64").toString("utf8"));
  const accepts = required.accepts.map(
    (option: { asset: string; payTo: string; extra: Record<string, unknown> }) => ({
      asset: "USDC",
      contract: option.asset,
      payTo: option.payTo,
      domain: option.extra,
    }),
  );
  const usdc = required.accepts.find(
    ({ asset }: { asset: string }) => asset.toLowerCase() === world.dev.usdc,
  );
  return { id, url, maxTimeoutSeconds: usdc.maxTimeoutSeconds, accepts, amount: BigInt(usdc.amount) };
}

/** A signed payment of an intent, and how to send it to the agent URL. */
export async function agentPays(world: World, id: string) {
  const offer = await offerOf(world, id);
  const payer = await newPayer(world.dev, offer.amount);
  const { body, signed } = await signPayment(world.dev, payer, offer, { amount: offer.amount });
  body.paymentRequirements.amount = `${offer.amount}`; // the accepted option is the same object
  const header = Buffer.from(JSON.stringify(body.paymentPayload)).toString("base64");
  const send = async () => {
    const response = await fetch(offer.url, { method: "POST", headers: { "PAYMENT-SIGNATURE": header } });
    return { status: response.status, body: (await response.json()) as { success?: boolean } };
  };
  return { payer, signed, send, offer, header, body };
}
