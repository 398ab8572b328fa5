import type {
  Facilitator,
  Offer,
  Payable,
  PaymentOption,
  PaymentRequest,
  Quote,
  Reason,
  Refusal,
  SettleAnswer,
  VerifyAnswer,
} from "#facilitator";
import type { Clock } from "#kernel/clock";
import type { Log } from "#kernel/log";

type WireVersion = 1 | 2;
export type Members = Readonly<Record<string, unknown>>;

/** A payment as it was read: what the facilitator is asked with, and the version it came in. */
export interface ReadPayment
  extends Pick<PaymentRequest, "selection" | "accepted" | "payload" | "payloadHash" | "paymentIdentifier"> {
  readonly version: WireVersion;
  readonly payer: string | null;
}
export type Reading =
  | { readonly ok: true; readonly payment: ReadPayment }
  | { readonly ok: false; readonly version: WireVersion; readonly refusal: Refusal };
/** One payload, none (null), or something that cannot be one. */
export type Carried =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly refusal: Refusal };

/** How payments are read off the wire and written on it, in every version. The one codec of the house, handed in where
 *  it is composed. Source: DESIGN 4.1. */
export interface PaymentWire {
  /** JSON as payment routes take it. Fault: `invalid_json`. */
  parse(text: string): unknown;
  /** Objects, base64 of objects, or their JSON; several must be the same. */
  carried(values: readonly unknown[]): Carried;
  carriedInHeaders(headers: Headers): Carried;
  read(payload: unknown, offer: Offer, requirements?: unknown): Promise<Reading>;
  required(offer: Quote): PaymentRequired;
  verified(answer: VerifyAnswer, version: WireVersion): Verified;
  settled(answer: SettleAnswer, version: WireVersion): Settled;
  reason(reason: Reason, version: WireVersion): string;
  receipt(answer: SettleAnswer, payable: Payable, asset: string): object;
  v1Name(option: PaymentOption): string | null;
}

/** x402's own shapes, as far as this room looks into them. */
export interface PaymentRequired {
  readonly x402Version: 2;
  readonly error?: string;
  readonly resource: { readonly url: string; readonly mimeType: string };
  readonly accepts: readonly object[];
  readonly extensions: Members;
}
export interface Verified {
  readonly isValid: boolean;
  readonly invalidReason?: string | undefined;
  readonly invalidMessage?: string | undefined;
  readonly payer?: string | undefined;
}
export interface Settled {
  readonly success: boolean;
  readonly errorReason?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly transaction: string;
  readonly network: string;
  readonly payer?: string | undefined;
  readonly extra?:
    | { readonly paymentId?: string | undefined; readonly statusUrl?: string | undefined }
    | undefined;
}

/** What calls are counted against. */
export type Rate = "agent-request" | "discovery" | "lookup" | "verify" | "settle" | "payable" | "payer";

/** Who calls, as far as the transport knows. */
export interface Caller {
  readonly address: string;
  /** A fresh one for each call of a tool, even in one batch: who has the id that was told of a success is told it again. */
  readonly newRequestId: () => string;
  /** Null when the call may pass, else the seconds to wait. For this caller, or for `who`. */
  readonly limit: (rate: Rate, who?: string) => Promise<number | null>;
  readonly delivery: {
    /** Aborted when the caller is gone. */
    readonly closed: AbortSignal;
    /** Calls `undo` once if the answer does not reach the caller. */
    orElse(undo: () => void): void;
  };
}

/** What an amount comes to in each asset, as the merchant API quotes it. Faults: those of an amount or currency that
 *  cannot be read. */
export type Quoter = (input: {
  readonly amount: { readonly amount: string; readonly asset: string };
  readonly assets: string[];
}) => Promise<{
  readonly quotes: readonly {
    readonly asset: string;
    /** A decimal with all the decimals of the asset. */
    readonly amount: { readonly amount: string };
    readonly available: boolean;
    readonly rate: { readonly source: string };
  }[];
}>;

/** Of a link whose payer names the amount, or a link or invoice whose price moves: the id of an intent that asks for it, the
 *  one that a payment is meant for or a new one. Null for what has none. Faults: those of making one. */
export type Deriver = (ask: {
  readonly id: string;
  /** Decimal, in the link's currency. */
  readonly amount: string | undefined;
  /** A payload as it came; null for none. */
  readonly payment: unknown;
  readonly address: string;
}) => Promise<string | null>;

export interface McpDeps {
  readonly facilitator: Facilitator;
  readonly wire: PaymentWire;
  readonly quote: Quoter;
  readonly derive: Deriver;
  readonly config: McpConfig;
  readonly clock: Clock;
  readonly log: Log;
}
export interface McpConfig {
  /** Public base URL, without a slash at the end. */
  readonly baseUrl: string;
  /** Of the software. */
  readonly version: string;
  /** Host names that requests may be addressed to, beside our own and loopback. No ports. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Host names of pages that may call from a browser, beside our own and loopback. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** One call of a tool. */
export interface Call extends McpDeps {
  readonly caller: Caller;
  readonly requestId: string;
  /** The client's own `_meta` keys; the reserved ones are lifted out by the protocol. */
  readonly meta: Members;
  readonly headers: Headers;
  /** Extensions that the client declared with this very request (2026-07-28 only). */
  readonly clientExtensions: Members;
}
