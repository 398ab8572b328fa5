/** What kind of no it is. Transports map the kind, never the code, to their own answers. */
export type FaultKind =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  | "conflict"
  | "gone"
  | "unprocessable"
  | "dependency"
  | "too-large"
  | "unsupported-media"
  | "rate-limited"
  | "unavailable"
  | "bug";

export interface FaultSpec {
  readonly kind: FaultKind;
  readonly title: string;
  /** Public sentence: what is wrong and the next step. `{name}` is filled from the context. */
  readonly detail: string;
}
export type FaultContext = Readonly<Record<string, string | number | boolean | undefined>>;

/** An expected refusal that is not an answer of the payment protocol. `detail` is public; `cause` stays inside. */
export class Fault extends Error {
  readonly code: string;
  readonly kind: FaultKind;
  readonly title: string;
  readonly detail: string;
  readonly context: FaultContext;

  constructor(code: string, spec: FaultSpec, context: FaultContext, cause?: unknown) {
    super(`${code}: ${fill(spec.detail, context)}`, { cause });
    this.name = "Fault";
    this.code = code;
    this.kind = spec.kind;
    this.title = spec.title;
    this.detail = fill(spec.detail, context);
    this.context = context;
  }
}

function fill(sentence: string, context: FaultContext): string {
  return sentence.replace(/\{(\w+)\}/g, (whole, name: string) => String(context[name] ?? whole));
}

/** A thrower for one catalogue: `throw fault("not_found", { id })`. */
export function faultsOf<C extends string>(catalogue: Readonly<Record<C, FaultSpec>>) {
  return (code: C, context: FaultContext = {}, cause?: unknown): Fault =>
    new Fault(code, catalogue[code], context, cause);
}

/** Faults of the centre. The merchant layer has a catalogue of its own in `api/http/faults.ts`. */
export const kernelFaults = {
  commit_unknown: {
    kind: "unavailable",
    title: "Outcome unknown",
    detail: "We cannot say whether this was recorded. Repeat the identical request.",
  },
  database_unavailable: {
    kind: "unavailable",
    title: "Temporarily unavailable",
    detail: "The database cannot be reached. Nothing was recorded; repeat the request shortly.",
  },
  chain_unavailable: {
    kind: "dependency",
    title: "Chain unavailable",
    detail: "The chain {chain} cannot be read right now. Repeat the request shortly.",
  },
  rate_limited: {
    kind: "rate-limited",
    title: "Too many requests",
    detail:
      "Not now: {why}. This call charged nothing; send the same payment again in {retryAfterSeconds} seconds.",
  },
  url_registered_elsewhere: {
    kind: "conflict",
    title: "URL registered elsewhere",
    detail:
      "Another merchant holds {url}. A URL belongs to one merchant. If its host is yours, have /.well-known/x402 there name your merchant id and not theirs, and register again; else use another URL.",
  },
  recipient_is_ours: {
    kind: "unprocessable",
    title: "Recipient is ours",
    detail: "{recipient} is an address of this service, where money comes in. Name an address of your own.",
  },
  ledger_conflict: {
    kind: "bug",
    title: "Ledger conflict",
    detail: "A posting with this id has other contents.",
  },
} as const satisfies Record<string, FaultSpec>;

export const fault = faultsOf(kernelFaults);

/** Stops on what must never happen. A 500, and nothing is posted. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** Ends a switch over a union: a new member does not compile until it is answered. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${String(value)}`);
}
