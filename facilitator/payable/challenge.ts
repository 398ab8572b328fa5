import { isPaymentRequiredV2 } from "@x402/core/schemas";
import { stableHash } from "#kernel/codec";
import { deeperThan } from "./nesting.ts";
import type { OptionSelection } from "./payable.ts";
import { payableUrl } from "./url.ts";

/** What somebody else's 402 offers. Nothing here is believed: it is compared with what was registered. */
export interface Challenge {
  /** The form in which a payable is found; null when it names no URL of the web. */
  readonly url: string | null;
  readonly options: readonly OptionSelection[];
  /** Hash of the input schema that it declares; null when it declares none. */
  readonly schema: string | null;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const MAX_OPTIONS = 50;
/** As deep as JSON of callers may be. A header has room for thousands, and what walks through them all runs out of stack. */
const MAX_DEPTH = 32;

/** The challenge in a `PAYMENT-REQUIRED` header, or null when clients could not read it either. */
export function readChallenge(header: string): Challenge | null {
  const text = header.trim();
  if (text === "" || !BASE64.test(text)) return null;
  return readRequired(parsed(Buffer.from(text, "base64").toString("utf8")));
}

/** The challenge that is a `PaymentRequired`, or null when clients could not read it either. */
export function readRequired(value: unknown): Challenge | null {
  if (deeperThan(value, MAX_DEPTH) || !isPaymentRequiredV2(value)) return null;
  const { resource, accepts, extensions } = value;
  return {
    url: payableUrl(resource.url),
    options: accepts
      .slice(0, MAX_OPTIONS)
      .map(({ scheme, network, asset, amount, payTo }) => ({ scheme, network, asset, amount, payTo })),
    schema: schemaIn(extensions),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function schemaIn(extensions: unknown): string | null {
  const schema = memberOf(memberOf(extensions, "bazaar"), "schema");
  return schema === undefined ? null : stableHash(schema);
}

function memberOf(holder: unknown, key: string): unknown {
  return typeof holder === "object" && holder !== null
    ? (holder as Readonly<Record<string, unknown>>)[key]
    : undefined;
}
