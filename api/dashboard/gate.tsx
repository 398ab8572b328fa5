/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { html } from "hono/html";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { countRequest, demandAddress, merchantContext } from "../http/auth.ts";
import type { Edge, MerchantScope } from "../http/context.ts";
import { asPublic, fault } from "../http/faults.ts";
import { clientAddress, spend } from "../http/limit.ts";
import { pageHeaders } from "../http/manners.ts";
import { onError, statusOfCode, toFault } from "../http/problem.ts";
import { dropSessionCookie, readSessionCookie } from "./cookie.ts";
import { findSession, type Session, type SessionDesk } from "./verbs/session.ts";
import { MessagePage } from "./view/message.tsx";

/** What every request of the dashboard needs. */
export interface Porch {
  readonly edge: Edge;
  readonly sessions: SessionDesk;
  /** Who a key stands for now; null when it has ended. */
  readonly standIn: (key: Pick<Session, "merchantId" | "keyId">) => Promise<MerchantScope | null>;
  /** Where the style sheet is. */
  readonly style: () => Promise<string>;
}

/** The session that a request is of, whose key stands in for it from then on; null where there is none. Faults:
 *  `address_not_allowed`, `rate_limited`. */
export async function enter(c: Context, { edge, sessions, standIn }: Porch): Promise<Session | null> {
  const token = readSessionCookie(c, edge.baseUrl);
  if (token === undefined) return null;
  const address = clientAddress(c, edge);
  await demandPatience(edge, address);
  const session = await findSession(sessions, token);
  const scope = session && (await standIn(session));
  if (!session || !scope?.permissions.has("merchant:manage")) {
    dropSessionCookie(c, edge.baseUrl);
    await spend(c, "unknown-session", address);
    return null;
  }
  demandAddress(c, scope);
  await countRequest(c, scope);
  c.set("merchant", merchantContext(c, scope));
  return session;
}

/** Each cookie is a look-up, and anybody can make some up: an address that brought too many waits. Fault: `rate_limited`. */
async function demandPatience({ count }: Edge, address: string): Promise<void> {
  const retryAfterSeconds = (await count("unknown-session", address, 0))?.retryAfterSeconds ?? null;
  if (retryAfterSeconds !== null)
    throw fault("rate_limited", { retryAfterSeconds, policy: "unknown-session" });
}

/** Fault: `form_not_current`, for a form that was not made for this session. */
export function demandToken({ csrfToken }: Session, sent: string | undefined): void {
  const [wanted, given] = [Buffer.from(csrfToken), Buffer.from(sent ?? "")];
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) throw fault("form_not_current");
}

/** A page, and a page too where it cannot be shown. */
export async function page(c: Context, porch: Porch, show: () => Promise<Response>): Promise<Response> {
  pageHeaders(c);
  try {
    return await show();
  } catch (error) {
    return refuse(c, porch, error);
  }
}

async function refuse(c: Context, { style }: Porch, error: unknown): Promise<Response> {
  // What it says to programs is also what is logged, and what a browser is told to wait.
  const retryAfter = onError(error, c).headers.get("Retry-After");
  if (retryAfter !== null) c.header("Retry-After", retryAfter);
  const { code, title, detail } = asPublic(toFault(error));
  return whole(c, <MessagePage title={title} text={detail} style={await style()} />, statusOfCode(code));
}

/** Without this first line browsers lay pages out as they did long ago. */
export async function whole(
  c: Context,
  shown: unknown,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  return c.html(await html`<!DOCTYPE html>${shown}`, status);
}
