import { Webhook } from "standardwebhooks";
import type { Clock } from "#kernel/clock";
import type { SafeFetch } from "../http/safe-fetch.ts";
import { type Revision, reshapeFrom } from "../http/version.ts";
import { type EventRow, presentEvent } from "./present.ts";
import { retryAfterMs } from "./schedule.ts";
import type { Attempt, Event } from "./schema.ts";

/** Where an event goes, and what it is signed with. */
export interface Target {
  readonly url: string;
  /** Each signs; more than one while a secret is being replaced. */
  readonly secrets: readonly string[];
  readonly apiVersion: string;
}
/** What came of an attempt. */
export interface Outcome {
  readonly isAccepted: boolean;
  /** It answered 410: nobody listens there any more. */
  readonly isGone: boolean;
  readonly attempt: Attempt;
  /** What it answered, as far as that is kept. */
  readonly response: string | null;
  readonly retryAfterMs: number | null;
}
export interface Sender {
  readonly fetch: SafeFetch;
  /** The machine's: receivers judge a signature's time by clocks of their own. */
  readonly clock: Clock;
  /** Revisions after the first, newest first. */
  readonly revisions: readonly Revision[];
}

/** The exact bytes that are signed and sent. */
export function bodyFor(row: EventRow, apiVersion: string, revisions: readonly Revision[]): string {
  return JSON.stringify(inRevision(presentEvent(row), apiVersion, revisions));
}

function inRevision(event: Event, pinned: string, revisions: readonly Revision[]): Event {
  if (pinned >= event.apiVersion) return event;
  const written = { route: `EVENT ${event.type}`, status: 200, body: event.data };
  const data = reshapeFrom(revisions, { from: event.apiVersion, to: pinned }, written) as Event["data"];
  return { ...event, apiVersion: pinned, data };
}

/** Headers of Standard Webhooks: the same id at each attempt, the time of this one, a signature by each secret. */
export function signedHeaders(
  { id, body, at }: { readonly id: string; readonly body: string; readonly at: Date },
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(" "),
  };
}

/** One attempt. Never throws for what the other side does. */
export async function send(
  { fetch, clock, revisions }: Sender,
  { url, secrets, apiVersion }: Target,
  row: EventRow,
  { at, signal }: { readonly at: Date; readonly signal: AbortSignal },
): Promise<Outcome> {
  const body = bodyFor(row, apiVersion, revisions);
  const headers = signedHeaders({ id: row.id, body, at: clock.now() }, secrets);
  const start = clock.monotonicMs();
  const answer = await fetch(url, { method: "POST", headers, body, signal });
  const durationMs = Math.round(clock.monotonicMs() - start);
  const status = answer.ok ? answer.status : null;
  const attempt = { at: at.toISOString(), status, problem: answer.ok ? null : answer.problem, durationMs };
  return {
    isAccepted: status !== null && status >= 200 && status < 300,
    isGone: status === 410,
    attempt,
    response: answer.ok ? readable(answer.body) : null,
    retryAfterMs:
      answer.ok && (status === 429 || status === 503)
        ? retryAfterMs(answer.headers.get("retry-after"), clock.now())
        : null,
  };
}

/** Whatever bytes came, as text that the database takes. */
function readable(body: Buffer): string {
  return body.toString("utf8").replaceAll("\0", "\uFFFD");
}
