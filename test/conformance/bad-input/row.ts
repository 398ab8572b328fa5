import type { Payer, Resource } from "../../support/house.ts";
import type { Terms } from "../signed.ts";

/** The body of verify and settle, v2, as a client makes it. */
export interface Body {
  readonly x402Version: number;
  readonly paymentPayload: {
    readonly x402Version: number;
    readonly resource: { readonly url: string };
    readonly accepted: Option;
    readonly payload: Payload;
  };
  readonly paymentRequirements: Option;
}
export interface Option {
  readonly scheme: string;
  readonly network: string;
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: Record<string, unknown>;
}
export interface Payload {
  readonly signature: string;
  readonly authorization: Readonly<Record<SignedField, string>>;
}
export type SignedField = "from" | "to" | "value" | "validAfter" | "validBefore" | "nonce";

/** One way in which a payment that is otherwise good can be bad. */
export interface Row {
  readonly name: string;
  readonly reason: string;
  /** 200 where it is left out: a no of the protocol. */
  readonly status?: number;
  /** Of the problem details, where the status is not 200. */
  readonly code?: string;
  /** What is sent in place of the good body: a value, or text or bytes as they are. */
  readonly change: (good: Body) => unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The same, where other terms are signed than those that are asked for. */
export interface SignedRow extends Omit<Row, "change"> {
  readonly terms?: (scene: Scene) => Partial<Terms>;
  readonly change?: (good: Body, scene: Scene) => unknown;
}
/** The same payment in other words, or at the edge of what is allowed: it stays good. */
export type Fine = Pick<SignedRow, "name" | "terms" | "change">;

export interface Scene {
  readonly resource: Resource;
  readonly payer: Payer;
  readonly treasury: string;
  readonly usdc: string;
  readonly eurc: string;
  /** Of the latest block, seconds. */
  readonly chainTime: bigint;
}

/** An account that nobody here knows, with its checksum. */
export const stranger = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

export const inAuthorization = (fields: object) => (good: Body) =>
  inPayload({ authorization: { ...good.paymentPayload.payload.authorization, ...fields } })(good);

export const inPayload = (fields: object) => (good: Body) =>
  inEnvelope({ payload: { ...good.paymentPayload.payload, ...fields } })(good);

export const inEnvelope = (fields: object) => (good: Body) => ({
  ...good,
  paymentPayload: { ...good.paymentPayload, ...fields },
});

export const inAccepted = (fields: object) => (good: Body) =>
  inEnvelope({ accepted: { ...good.paymentPayload.accepted, ...fields } })(good);

export const inRequirements = (fields: object) => (good: Body) => ({
  ...good,
  paymentRequirements: { ...good.paymentRequirements, ...fields },
});

export const inBoth = (fields: object) => (good: Body) => ({
  ...inAccepted(fields)(good),
  paymentRequirements: { ...good.paymentRequirements, ...fields },
});

/** Applied to the JSON itself, for what no value can say. */
export const inText = (replace: (text: string) => string | Buffer) => (good: Body) =>
  replace(JSON.stringify(good));

export const withSignature = (change: (signature: string) => unknown) => (good: Body) =>
  inPayload({ signature: change(good.paymentPayload.payload.signature) })(good);

/** Ways to write a number that is none here: sign, exponent, hex, leading zeros, other digits, room for doubt. */
export const badNumbers: readonly (readonly [string, unknown])[] = [
  ["empty", ""],
  ["negative", "-10000"],
  ["with a plus sign", "+10000"],
  ["with an exponent", "1e4"],
  ["in hex", "0x2710"],
  ["with leading zeros", "0010000"],
  ["with decimals", "10000.0"],
  ["with a separator", "10_000"],
  ["in full-width digits", "１００００"],
  ["in Arabic digits", "١٠٠٠٠"],
  ["with a space", "10000 "],
  ["with a line break", "10000\n"],
  ["with a zero-width space", "10000\u200b"],
  ["a word", "Infinity"],
  ["2^128", (1n << 128n).toString()],
  ["of forty digits", "9".repeat(40)],
];

/** Values of another JSON type than text. */
export const badTypes: readonly (readonly [string, unknown])[] = [
  ["a JSON number", 10_000],
  ["a JSON number with an exponent", 1e30],
  ["null", null],
  ["a boolean", true],
  ["an array", ["10000"]],
  ["an object", { value: "10000" }],
];
