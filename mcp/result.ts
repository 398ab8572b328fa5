import { Fault, type FaultKind } from "#kernel/fault";
import type { Members } from "./deps.ts";

/** What a caller should do now, in words that a program can branch on. */
type Action = "sign" | "send-to-resource" | "settle" | "wait" | "fix-and-retry" | "do-not-retry" | "done";
export interface Next {
  readonly action: Action;
  readonly text: string;
  readonly tool?: string;
}

/** The result of a tool call as the protocol carries it. */
export interface ToolResult {
  readonly [key: string]: unknown;
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
}

/** A treated call. Some hosts show a model only the object, some only the text, so each says everything. */
export function success(facts: Members, meta?: Members): ToolResult {
  const structuredContent = withoutUndefined(facts);
  return {
    content: [{ type: "text", text: JSON.stringify(structuredContent) }],
    structuredContent,
    ...(meta ? { _meta: { ...meta } } : {}),
  };
}

/** A call that could not be treated: `code: what happened. what to do.` No structured content, so that it cannot be
 *  taken for an answer. */
export function failure(code: string, text: string, meta?: Members): ToolResult {
  return {
    content: [{ type: "text", text: `${code}: ${text}` }],
    isError: true,
    ...(meta ? { _meta: { ...meta } } : {}),
  };
}

/** `why` ends without a full stop. */
export function badArgument(name: string, why: string): ToolResult {
  return failure("invalid_arguments", `${name}: ${why}. Correct it and call again.`);
}

export function rateLimited(seconds: number): ToolResult {
  return failure("rate_limited", `Too many calls. Wait ${seconds} seconds, then repeat this one.`);
}

const OURS = "Something failed on our side and nothing is wrong with your call. Repeat it unchanged shortly.";

/** What is told of each kind of fault; null where the fault's own sentence is fit to be told. */
const told = {
  invalid: null,
  "not-found": null,
  conflict: null,
  gone: null,
  unprocessable: null,
  "too-large": null,
  "unsupported-media": null,
  "rate-limited": null,
  unauthenticated: OURS,
  forbidden: OURS,
  dependency: null,
  unavailable: "We cannot answer just now. Repeat the identical call shortly.",
  bug: OURS,
} as const satisfies Record<FaultKind, string | null>;

/** Anything thrown, as a tool result. Nothing of the inside leaves: no stack, no message that was not written for
 *  callers. */
export function fromError(error: unknown): ToolResult {
  if (!(error instanceof Fault)) return failure("internal_error", OURS);
  const { pointer, why } = error.context;
  // An argument that no schema can judge: told as those that one does.
  if (error.kind === "invalid" && typeof pointer === "string" && typeof why === "string")
    return badArgument(nameIn(pointer), why);
  const code = error.kind === "bug" ? "internal_error" : error.code;
  return failure(code, told[error.kind] ?? error.detail);
}

/** Arguments that are called otherwise at the agent URL. */
const renamed: Readonly<Record<string, string>> = { "/query/amount": "openAmount" };

function nameIn(pointer: string): string {
  return renamed[pointer] ?? pointer.split("/").at(-1) ?? pointer;
}

function withoutUndefined(facts: Members): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}
