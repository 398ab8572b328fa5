import {
  clientNotes as notesOf,
  type Offer,
  type Payable,
  type PaymentOption,
  type Quote,
  resourceType,
  type Trust,
} from "#facilitator";
import { decimalsOfPrice } from "#kernel/asset";
import { formatDecimal } from "#kernel/money";
import { cleanText, cutText } from "#kernel/text";
import type { Members, PaymentRequired, PaymentWire } from "./deps.ts";

/** An amount both ways: atomic units, and decimals for reading. */
export function amountOf(atomic: bigint, decimals: number, symbol: string) {
  return { atomic: atomic.toString(), decimal: shortDecimal(atomic, decimals), decimals, symbol };
}

/** A price in its own unit. */
export function priceOf({ price }: Payable) {
  return amountOf(price.amount, decimalsOfPrice(price.asset), price.asset);
}

/** Without the zeros at the end, but with two decimals at least where there are as many. */
function shortDecimal(atomic: bigint, decimals: number): string {
  const [whole = "0", fraction = ""] = formatDecimal(atomic, decimals).split(".");
  const kept = fraction.replace(/0+$/, "").padEnd(Math.min(2, decimals), "0");
  return kept === "" ? whole : `${whole}.${kept}`;
}

export function networksOf({ options }: Quote): string[] {
  return [...new Set(options.map(({ network }) => network))];
}

/** The ways to pay, in short; what is signed stands in `paymentRequired.accepts`. */
export function railsOf({ options }: Quote) {
  return options.map(({ chain, network, symbol }) => ({ chain, network, asset: symbol }));
}

/** What the seller wrote, and nothing else has it. Cleaned when it was stored and again here; treated as hostile all
 *  the same. Source: agents.md §8. */
export function merchantText(payable: Payable, limit = 300) {
  const plain = (text: string) => cutText(cleanText(text), limit);
  const { title, description, serviceName, tags, number = null } = payable;
  return {
    trust: "merchant-supplied" as const,
    merchant: plain(payable.merchantName),
    ...(title ? { title: plain(title) } : {}),
    ...(number ? { number: plain(number) } : {}),
    ...(description ? { description: plain(description) } : {}),
    ...(serviceName ? { serviceName: plain(serviceName) } : {}),
    ...(tags.length > 0 ? { tags: tags.slice(0, 5).map(plain) } : {}),
  };
}

/** Facts that a seller cannot write. */
export function trustOf({ url, merchantId }: Payable, trust: Trust) {
  const { hostVerified, settledCount, distinctPayers, lastProbe } = trust;
  return {
    host: new URL(url).host,
    hostVerified,
    merchantId,
    settledCount,
    distinctPayers,
    lastProbe: lastProbe && { ...lastProbe, at: lastProbe.at.toISOString() },
  };
}

/** What to sign, without the seller's words: an option, its address and ours is all that is signed. */
export function requiredOf(wire: PaymentWire, offer: Quote): PaymentRequired {
  const { resource, ...rest } = wire.required(offer);
  return { ...rest, resource: { url: resource.url, mimeType: resource.mimeType }, extensions: {} };
}

/** The same as a challenge to a client: with why, and with the extension by which it may repeat itself. */
export function challengeOf(wire: PaymentWire, offer: Quote, error: string): PaymentRequired {
  const { "payment-identifier": identifier } = wire.required(offer).extensions;
  const extensions = identifier === undefined ? {} : { "payment-identifier": identifier };
  return { ...requiredOf(wire, offer), error, extensions };
}

const V1_CAP = 100_000n;

/** What an agent should know before it signs. */
export function clientNotes(wire: PaymentWire, { options }: Quote, trust: Trust): string[] {
  const [first] = options;
  return [...notesOf(options, trust), ...(first ? v1Note(wire, first) : [])];
}

function v1Note(wire: PaymentWire, option: PaymentOption): string[] {
  if (wire.v1Name(option) === null)
    return [`Version 1 of x402 has no name for ${option.network}: use version 2.`];
  return option.amount > V1_CAP ? ["Above the $0.10 that version 1 clients pay by default."] : [];
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const MAX_EXAMPLE = 1_500;

/** How to call a resource so that the paid call is not malformed: the example that the seller registered. */
export function callExample(payable: Payable) {
  const { url, extensions } = payable;
  const input = inputOf(extensions);
  if (isTool(payable)) return toolExample(url, input);
  const method = methodOf(extensions);
  if (method === null)
    return {
      available: false,
      text: "The seller registered no input description. Ask the URL itself what it takes before you pay.",
    };
  const { queryParams, pathParams, bodyType, body, headers } = input;
  const given = fitting({ query: queryParams, path: pathParams, bodyType, body, headers });
  return { available: true, trust: "merchant-supplied", method, url, ...given };
}

/** Of a tool of an MCP server: what it may be called with, or what it takes. */
function toolExample(url: string, { toolName, example, inputSchema }: Members) {
  const given = fitting(example === undefined ? { inputSchema } : { arguments: example });
  return { available: true, trust: "merchant-supplied", url, toolName: plainJson(toolName), ...given };
}

/** Cleaned; nothing where it is too long to be shown. */
function fitting(given: Members): Members {
  const plain = plainJson(given);
  return JSON.stringify(plain).length <= MAX_EXAMPLE ? membersOf(plain) : {};
}

/** Whether it is a tool of an MCP server, whose call carries the payment. */
export function isTool(payable: Payable): boolean {
  return resourceType(payable) === "mcp";
}

function inputOf(extensions: Members): Members {
  return membersAt(membersAt(membersAt(extensions, "bazaar"), "info"), "input");
}

export function methodOf(extensions: Members): string | null {
  const { method } = inputOf(extensions);
  return typeof method === "string" && METHODS.includes(method) ? method : null;
}

/** The seller's input schema, for readers who ask for everything; it belongs under the seller's text. */
export function inputSchema({ extensions }: Payable): unknown {
  const schema = membersAt(extensions, "bazaar").schema;
  return schema === undefined ? undefined : plainJson(schema);
}

/** Somebody else's JSON with every text and key in it cleaned. */
function plainJson(value: unknown): unknown {
  if (typeof value === "string") return cutText(cleanText(value), 300);
  if (Array.isArray(value)) return value.map(plainJson);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries.map(([key, member]) => [cutText(cleanText(key), 60), plainJson(member)]));
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

function membersAt(holder: unknown, key: string): Members {
  return membersOf(membersOf(holder)[key]);
}

/** What everybody may know of a payable that has an agent URL. */
export function presentPayable(offer: Quote, textLimit?: number) {
  const { payable } = offer;
  const { id, kind, url, pageUrl, expiresAt, dueAt } = payable;
  return {
    id,
    kind,
    amount: priceOf(payable),
    resource: url,
    ...(pageUrl ? { url: pageUrl } : {}),
    ...(expiresAt ? { expiresAt: expiresAt.toISOString() } : {}),
    ...(dueAt ? { dueAt: dueAt.toISOString() } : {}),
    merchantText: merchantText(payable, textLimit),
  };
}

/** Of what is open without an option: below what any chain takes, or an intent that was never offered to agents. */
export function nothingToSign({ payable }: Offer): string {
  const { decimal, symbol } = priceOf(payable);
  const way = payable.pageUrl
    ? `A person can pay it at ${payable.pageUrl}`
    : "Ask whoever sent it for another way";
  return `No rail here takes ${decimal} ${symbol} from an agent. Do not sign and do not retry. ${way}.`;
}

/** Why a payable is not on offer; null when it is. */
export function obstacle({ state, payable }: Offer): string | null {
  switch (state) {
    case "open":
      return null;
    case "held":
      return "held";
    case "paid":
      return "paid";
    case "closed":
      return payable.closedAs ?? "closed";
  }
}
