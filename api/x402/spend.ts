import type { PaymentOption, Quote } from "#facilitator";
import { checksum, parseAddress } from "#kernel/bytes";
import { parseAtomic } from "#kernel/money";
import type { V1Networks } from "./v1.ts";
import { membersOf, type Reading, readPayment } from "./wire.ts";

/** Reads a payment for something that we offer ourselves, so that a bare payload is enough. v1's payload names no
 *  asset: it stands for the option that our own v1 challenge offers on that network. Source: x402.md §7. */
export function readSpend(
  payload: unknown,
  { offer, networks, requirements }: { offer: Quote; networks: V1Networks; requirements?: unknown },
): Reading {
  const { x402Version, scheme, network } = membersOf(payload);
  const isBare = requirements === undefined && x402Version === 1;
  const paymentRequirements = isBare
    ? v1Requirements(payload, offer, networks, { scheme, network })
    : requirements;
  return readPayment({ x402Version, paymentPayload: payload, paymentRequirements }, networks);
}

function v1Requirements(
  payload: unknown,
  { options }: Quote,
  networks: V1Networks,
  named: { readonly scheme: unknown; readonly network: unknown },
) {
  const { to, value } = membersOf(membersOf(membersOf(payload).payload).authorization);
  const there = options.filter((option) => networks.toName(option.network) === named.network);
  const meant = there.find((option) => pays(option, to, value)) ?? there[0];
  if (!meant) return { ...named, asset: "", payTo: "" };
  return { ...named, asset: checksum(meant.asset), payTo: checksum(meant.payTo) };
}

function pays({ payTo, amount }: PaymentOption, to: unknown, value: unknown): boolean {
  return parseAddress(to) === payTo && parseAtomic(value) === amount;
}
