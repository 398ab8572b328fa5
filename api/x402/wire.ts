import { isValidPaymentId, PAYMENT_IDENTIFIER } from "@x402/extensions/payment-identifier";
import type { OptionSelection, PaymentRequest, Refusal } from "#facilitator";
import { type Address, type Hash, parseAddress } from "#kernel/bytes";
import { stableHash } from "#kernel/codec";
import { parseAtomic } from "#kernel/money";
import type { V1Networks } from "./v1.ts";

export type WireVersion = 1 | 2;

/** A payment as the wire carried it, in the one inner shape: what `PaymentRequest` needs of the body. */
export interface WirePayment
  extends Pick<PaymentRequest, "selection" | "accepted" | "payload" | "payloadHash" | "paymentIdentifier"> {
  readonly version: WireVersion;
  /** Where the payload says it is spent; unsigned, so it finds a payable and proves nothing. */
  readonly resourceUrl: string | null;
  /** As the body claims it; whom to count requests for. */
  readonly payer: string | null;
}
export type Reading =
  | { readonly ok: true; readonly payment: WirePayment }
  | { readonly ok: false; readonly version: WireVersion; readonly refusal: Refusal };

/** Room for the signature of a wallet that is a contract. */
const MAX_PAYLOAD_CHARACTERS = 16_384;
/** A character of JSON becomes six at most when what it says is written out anew: `1e20` has 21. */
const LONGER_AT_MOST = 6;

type Members = Readonly<Record<string, unknown>>;

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The version that a body of verify or settle is written in: that of its payload, 2 where it says nothing we know. */
export function versionOf(body: unknown): WireVersion {
  const payload = isMembers(body) ? body.paymentPayload : undefined;
  return isMembers(payload) && payload.x402Version === 1 ? 1 : 2;
}

/** Who pays, as a body of verify or settle says, which proves nothing; null where it names no address. */
export function payerNamedIn(body: unknown): Address | null {
  return parseAddress(
    membersAt(membersAt(membersAt(body, "paymentPayload"), "payload"), "authorization").from,
  );
}

/** Reads the body of verify or settle, `{x402Version, paymentPayload, paymentRequirements}`, in either version; of
 *  a body that was `characters` long the payload need not be measured when that is little.
 *  What the payload signs is read later, by its scheme. Source: interface §2.14, x402.md §3, §4, §7. */
export function readPayment(
  body: unknown,
  networks: V1Networks,
  characters = Number.POSITIVE_INFINITY,
): Reading {
  const version = versionOf(body);
  const refuse = (reason: Refusal["reason"], message: string): Reading => ({
    ok: false,
    version,
    refusal: { reason, message },
  });
  if (!isMembers(body) || !isMembers(body.paymentPayload))
    return refuse(
      "invalid_payload",
      "Expected {x402Version, paymentPayload, paymentRequirements}, with paymentPayload an object.",
    );
  const { paymentPayload, paymentRequirements: requirements } = body;
  const said = paymentPayload.x402Version;
  if (said !== version || (body.x402Version !== undefined && body.x402Version !== said))
    return refuse(
      "invalid_x402_version",
      "x402Version must be 2 (or 1), the same in the body and in paymentPayload.",
    );
  if (requirements !== undefined && !isMembers(requirements))
    return refuse("invalid_payload", "paymentRequirements must be an object.");
  if (!isMembers(paymentPayload.payload))
    return refuse("invalid_payload", "paymentPayload.payload must hold the signature and the authorization.");
  const mayBeLong = characters > MAX_PAYLOAD_CHARACTERS / LONGER_AT_MOST;
  if (mayBeLong && JSON.stringify(paymentPayload).length > MAX_PAYLOAD_CHARACTERS)
    return refuse("invalid_payload", `paymentPayload is longer than ${MAX_PAYLOAD_CHARACTERS} characters.`);
  const read =
    version === 1 ? readV1(paymentPayload, requirements, networks) : readV2(paymentPayload, requirements);
  if (typeof read === "string") return refuse("invalid_payload", read);
  const { network } = read.selection;
  if (version === 1 && networks.isNameless(network))
    return refuse(
      "invalid_network",
      `Version 1 of x402 has no name for ${network}. Pay there with version 2.`,
    );
  let hash: Hash | null = null;
  return {
    ok: true,
    payment: {
      ...read,
      version,
      payload: paymentPayload.payload,
      // No accessor: an object that has one is a dictionary to the engine, ten times as slow to make.
      payloadHash: () => {
        hash ??= stableHash(paymentPayload);
        return hash;
      },
      payer: text(membersAt(paymentPayload.payload, "authorization").from),
    },
  };
}

type Read = Pick<WirePayment, "selection" | "accepted" | "paymentIdentifier" | "resourceUrl">;

/** A string instead of a reading says what is wrong. */
function readV2(payload: Members, requirements: Members | undefined): Read | string {
  const carried = requirements === undefined ? null : selectionOf(requirements);
  const accepted = payload.accepted === undefined ? null : selectionOf(payload.accepted);
  if (requirements !== undefined && carried === null)
    return "paymentRequirements needs scheme, network, amount, asset and payTo, each a string.";
  if (payload.accepted !== undefined && accepted === null)
    return "paymentPayload.accepted needs scheme, network, amount, asset and payTo, each a string.";
  const selection = carried ?? accepted;
  if (selection === null)
    return "The chosen option is missing: send paymentPayload.accepted or paymentRequirements.";
  const identifier = membersAt(membersAt(payload, "extensions"), PAYMENT_IDENTIFIER);
  const id = membersAt(identifier, "info").id;
  if (id !== undefined && !(typeof id === "string" && isValidPaymentId(id)))
    return "The payment-identifier is 16 to 128 of A-Z, a-z, 0-9, _ and -.";
  return {
    selection,
    accepted: carried === null ? null : accepted,
    paymentIdentifier: id ?? null,
    resourceUrl: text(membersAt(payload, "resource").url),
  };
}

/** v1 has no `accepted`: scheme and network of the envelope stand for it, and the signed value for the amount, unless more is
 *  required. */
function readV1(payload: Members, requirements: Members | undefined, networks: V1Networks): Read | string {
  if (requirements === undefined) return "A v1 payment needs its paymentRequirements.";
  const { scheme, network, asset, payTo, resource, maxAmountRequired } = requirements;
  const { value } = membersAt(membersAt(payload, "payload"), "authorization");
  const amount = isMore(maxAmountRequired, value) ? maxAmountRequired : value;
  const carried = selectionOf({ scheme, network, asset, payTo, amount });
  const envelope = selectionOf({ scheme: payload.scheme, network: payload.network, asset, payTo, amount });
  if (!carried)
    return "paymentRequirements needs scheme, network, asset and payTo, payload.authorization its value.";
  if (!envelope) return "A v1 paymentPayload needs scheme and network, each a string.";
  const inCaip2 = (named: OptionSelection) => ({ ...named, network: networks.toCaip2(named.network) });
  return {
    selection: inCaip2(carried),
    accepted: inCaip2(envelope),
    paymentIdentifier: null,
    resourceUrl: text(resource),
  };
}

/** Both digits; what is none is judged elsewhere. */
function isMore(asked: unknown, signed: unknown): boolean {
  const [most, value] = [asked, signed].map((each) => (typeof each === "string" ? parseAtomic(each) : null));
  return most != null && value != null && most > value;
}

function selectionOf(option: unknown): OptionSelection | null {
  if (!isMembers(option)) return null;
  const { scheme, network, asset, amount, payTo } = option;
  const all = [scheme, network, asset, amount, payTo];
  if (!all.every((word) => typeof word === "string" && word.length <= 100)) return null;
  return { scheme, network, asset, amount, payTo } as OptionSelection;
}

/** The members of an object, none of anything else. */
export function membersOf(holder: unknown): Members {
  return isMembers(holder) ? holder : {};
}

function membersAt(holder: unknown, key: string): Members {
  return membersOf(membersOf(holder)[key]);
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** An object as a payment header carries it: base64 of UTF-8 JSON, standard alphabet, padded. */
export function toHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64");
}
