/** What is wrong with an answer; null for one that any caller can act on. */
import type { Shot } from "./shot.ts";

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

type Members = Readonly<Record<string, unknown>>;

export function fault(shot: Shot, answer: Answer): string | null {
  const { status, type } = answer;
  if (status < 400) return null;
  if (status >= 500 && status !== 503) return `status ${status}`;
  if (shot.method === "HEAD") return null;
  if (type.startsWith("text/html")) return isPage(shot) ? null : "a page, where none was asked for";
  const body = members(answer.text);
  if (!body) return "no JSON object";
  if (shot.path.startsWith("/x402/mcp") && body.jsonrpc === "2.0") return rpcFault(body);
  if (type.startsWith("application/problem+json")) return problemFault(body, status);
  if (shot.path.startsWith("/health/ready"))
    return body.status === "not-ready" ? null : "neither ready nor not";
  return typedFault(body);
}

const isPage = ({ path }: Shot) => /^\/(?:checkout|invoices|links|pay|errors|$|\?)/.test(path);

function members(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : null;
  } catch {
    return null;
  }
}

const isText = (value: unknown) => typeof value === "string" && value.length > 0;

function problemFault(body: Members, status: number): string | null {
  const missing = ["type", "title", "detail", "code", "requestId"].filter((name) => !isText(body[name]));
  if (missing.length > 0) return `problem details without ${missing.join(", ")}`;
  if (body.status !== status) return `problem details of status ${String(body.status)}`;
  if (body.code !== "validation_failed") return null;
  const errors = Array.isArray(body.errors) ? (body.errors as readonly Members[]) : [];
  if (errors.length === 0) return "validation_failed that names no field";
  const isVague = errors.some(({ pointer, detail }) => typeof pointer !== "string" || !isText(detail));
  return isVague ? "an error without pointer or reason" : null;
}

/** Answers of the payment protocol: a verdict with its reason, or a challenge. */
function typedFault(body: Members): string | null {
  if (body.isValid === false && isText(body.invalidReason)) return null;
  if (body.success === false && isText(body.errorReason)) return null;
  if (Array.isArray(body.accepts) || isText(body.error) || isText(body.state)) return null;
  // A challenge of version 2 stands in its header: beside it the body says at most why the payment was not taken.
  const { errorMessage = "nothing came", ...rest } = body;
  const isChallenge = isText(errorMessage) && Object.keys(rest).length === 0;
  return isChallenge ? null : "neither problem details nor an answer of the protocol";
}

function rpcFault({ error }: Members): string | null {
  const { code, message } = (error ?? {}) as Members;
  return Number.isInteger(code) && isText(message) ? null : "a JSON-RPC answer without code or message";
}
