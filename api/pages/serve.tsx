/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context, Handler } from "hono";
import { html } from "hono/html";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { agentUrl } from "#facilitator";
import type { Clock } from "#kernel/clock";
import { preferredType } from "../http/accept.ts";
import type { Edge } from "../http/context.ts";
import { clientAddress, spend } from "../http/limit.ts";
import { pageHeaders } from "../http/manners.ts";
import { onError } from "../http/problem.ts";
import { JSON_TYPE } from "../http/strict-json.ts";
import type { InvoiceDesk } from "../invoice/verbs/desk.ts";
import type { CheckoutDesk } from "../payment-link/verbs/checkout.ts";
import type { Payer } from "../provider/verbs/deposit.ts";
import { wantsPage } from "../x402/agent-url.ts";
import type { AssetBook } from "./assets.ts";
import type { Streams } from "./streams.ts";
import type { ClearingDesk } from "./verbs/checkout.ts";
import type { ClaimDesk } from "./verbs/refund.ts";
import { MessagePage } from "./view/message.tsx";
import { speechOf } from "./words/index.ts";

/** What the pages need besides a request. */
export interface PageDesk {
  readonly clearing: ClearingDesk;
  /** For intents that payers make of links and invoices. */
  readonly intents: CheckoutDesk;
  readonly invoices: InvoiceDesk;
  readonly refunds: ClaimDesk;
  /** Of a sandbox, who pays with money that is worth nothing; null elsewhere. */
  readonly testPayer: Payer | null;
  readonly edge: Edge;
  readonly baseUrl: string;
  /** Of this machine: it paces, it does not tell the time. */
  readonly clock: Clock;
}
/** The same with what the pages share in a process. */
export interface Counter extends PageDesk {
  readonly assets: AssetBook;
  readonly streams: Streams;
  /** Aborts when this process is about to stop: what browsers keep open ends, and they come back to another one. */
  readonly leaving: AbortSignal;
}

/** A page, and a page too where it cannot be shown, unless who asked reads JSON rather. */
export function page(counter: Counter, show: Handler): Handler {
  return async (c, next) => {
    pageHeaders(c);
    try {
      return await show(c, next);
    } catch (error) {
      return refuse(c, counter, error);
    }
  };
}

async function refuse(c: Context, { assets }: Counter, error: unknown): Promise<Response> {
  // What it says to programs is also what is logged, and what a browser is told to wait.
  const told = onError(error, c);
  if (preferredType(c.req.header("accept"), ["text/html", JSON_TYPE]) === JSON_TYPE) return told;
  const { status, headers } = told;
  const retryAfter = headers.get("Retry-After");
  if (retryAfter !== null) c.header("Retry-After", retryAfter);
  const speech = speechOf(c.req.header("accept-language"));
  const { say } = speech;
  const isMissing = status === 404;
  const [title, text] = isMissing
    ? [say("notFound"), say("notFoundHint")]
    : [say("problem"), say(status === 429 ? "rate_limited" : "tryAgain")];
  const shown = { title, text, speech, assets: await assets.addresses() };
  return whole(c, <MessagePage {...shown} />, status as ContentfulStatusCode);
}

/** One URL for people and agents: who pays or asks for JSON is answered as at the agent URL, which the page names. */
export function forPeople(counter: Counter, show: (c: Context) => Promise<Response>): Handler {
  const asPage = page(counter, async (c) => {
    await spend(c, "checkout", clientAddress(c, counter.edge));
    const shown = await show(c);
    if (shown.ok) shown.headers.set("Link", linkToAgentUrl(counter, c.req.param("id") ?? ""));
    return shown;
  });
  return (c, next) => {
    if (wantsPage(c)) return asPage(c, next);
    c.header("Vary", "Accept");
    return next();
  };
}

const linkToAgentUrl = ({ baseUrl }: Counter, id: string) =>
  `<${agentUrl(baseUrl, id)}>; rel="alternate"; type="application/json"`;

/** Without this first line browsers lay pages out as they did long ago. */
export async function whole(
  c: Context,
  page: unknown,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  return c.html(await html`<!DOCTYPE html>${page}`, status);
}
