import type { Facilitator, Offer, PaymentOption } from "#facilitator";
import { checksum, parseAddress } from "#kernel/bytes";
import { parseAtomic } from "#kernel/money";
import type { V1Networks } from "./v1.ts";
import { membersOf, type Reading, readPayment } from "./wire.ts";

interface Offered {
  readonly offer: Pick<Offer, "options" | "everywhere">;
  readonly networks: V1Networks;
  readonly claims: Pick<Facilitator, "boundTo">;
}

/** Reads a payment for something that we offer ourselves, so that a bare payload is enough. v1's payload names no
 *  asset: it stands for the option that our own v1 challenge offers on that network. Source: x402.md §7. */
export async function readSpend(
  payload: unknown,
  { requirements, ...offered }: Offered & { readonly requirements?: unknown },
): Promise<Reading> {
  const { x402Version } = membersOf(payload);
  const isBare = requirements === undefined && x402Version === 1;
  const paymentRequirements = isBare ? await v1Requirements(payload, offered) : requirements;
  return readPayment({ x402Version, paymentPayload: payload, paymentRequirements }, offered.networks);
}

async function v1Requirements(payload: unknown, offered: Offered) {
  const { scheme, network } = membersOf(payload);
  const meant = await meantOption(payload, offered);
  if (!meant) return { scheme, network, asset: "", payTo: "" };
  return { scheme, network, asset: checksum(meant.asset), payTo: checksum(meant.payTo) };
}

/** What was claimed before names the option that was offered then, though another is now. */
async function meantOption(
  payload: unknown,
  { offer, networks, claims }: Offered,
): Promise<PaymentOption | undefined> {
  const { network } = membersOf(payload);
  const { from, to, value, nonce } = membersOf(membersOf(membersOf(payload).payload).authorization);
  const isThere = (option: PaymentOption) => networks.toName(option.network) === network;
  const isPaid = ({ payTo, amount }: PaymentOption) =>
    parseAddress(to) === payTo && parseAtomic(value) === amount;
  const there = offer.options.filter(isThere);
  const now = there.find(isPaid) ?? there[0];
  const before = offer.everywhere.filter(isThere).find(isPaid);
  if (!now || !before || before.asset === now.asset) return now ?? before;
  const signed = { network: before.network, asset: before.asset, payer: String(from), nonce: String(nonce) };
  return (await claims.boundTo(signed)) === null ? now : before;
}
