import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { parseAccept } from "hono/utils/accept";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import {
  type Facilitator,
  hasAgentUrl,
  namesItsPrice,
  type Offer,
  type Refusal,
  type SettleAnswer,
} from "#facilitator";
import { Fault, unreachable } from "#kernel/fault";
import { isId } from "#kernel/id";
import { errorFields } from "#kernel/log";
import { preferredType } from "../http/accept.ts";
import { headerCount } from "../http/context.ts";
import { fault, invalid } from "../http/faults.ts";
import { PRIVATE } from "../http/headers.ts";
import { readIdempotencyKey } from "../http/idempotency.ts";
import { clientAddress, spend } from "../http/limit.ts";
import { problem } from "../http/problem.ts";
import { requestFields } from "../http/request-id.ts";
import { challenge } from "./challenge.ts";
import { countPayment } from "./count.ts";
import { followDelivery } from "./delivery.ts";
import { carriedInHeaders, paymentHeaders } from "./header.ts";
import { type Meant, meantBy } from "./meant.ts";
import { presentHeaders, presentReason, presentSettle, type Voice } from "./present.ts";
import { presentReceipt } from "./receipt.ts";
import { readSpend } from "./spend.ts";
import { v1Networks } from "./v1.ts";
import { toHeader, type WirePayment } from "./wire.ts";

/** Pages that agents are sent, too. */
export const pagePaths = ["/checkout/:id", "/invoices/:id/view"] as const;

interface Counter {
  readonly facilitator: Facilitator;
  readonly baseUrl: string;
  /** Finds what is to be paid in the place of an id that is not for sale itself, or makes it. */
  readonly derive?: Derive;
}
/** Of something whose amount its payer names, or whose price moves: the id of an intent that asks for it, the one that a
 *  payment is meant for or a new one. Null for what has none, and what nobody may be asked to pay. Faults: those of making
 *  one. */
export type Derive = (c: Context, ask: Meant & { readonly id: string }) => Promise<string | null>;
/** A request to pay one thing. */
interface Visit extends Counter {
  readonly c: Context;
  /** What it carries as payment, as it came. */
  readonly payload: unknown;
  readonly offer: Offer;
  readonly voice: Voice;
}

/** `GET` and `POST /x402/payables/{id}`: unpaid it answers 402, paid it settles and answers with the receipt. What can
 *  be paid once never challenges twice. The addresses of pages answer the same to a caller that pays or asks for JSON.
 *  Source: x402.md §5, agents.md §7. */
export function mountAgentUrl(app: OpenAPIHono, counter: Counter): void {
  app.on(["GET", "POST"], "/x402/payables/:id", (c) => serve(c, counter));
  for (const page of pagePaths)
    app.on(["GET", "POST"], page, (c, next) => (wantsPage(c) ? next() : serve(c, counter)));
}

/** Who takes anything sees the page: a person's terminal, or what looks at an address for a message that names it. A form
 *  has an address of its own, so what is posted here is an agent's. */
export function wantsPage(c: Context): boolean {
  const accept = c.req.header("accept") ?? "";
  const names = (wanted: string) => parseAccept(accept).some(({ type, q }) => type === wanted && q > 0);
  if (names("text/html"))
    return !isPaying(c) && preferredType(accept, ["text/html", JSON_TYPE]) === "text/html";
  return c.req.method !== "POST" && !isPaying(c) && !names(JSON_TYPE);
}

const JSON_TYPE = "application/json";
const isPaying = (c: Context) => paymentHeaders.some((name) => c.req.header(name) !== undefined);

async function serve(c: Context, counter: Counter): Promise<Response> {
  const carried = carriedInHeaders(
    (name) => c.req.header(name),
    (name) => headerCount(c, name),
  );
  const isUnpaid = carried.ok && carried.payload === null;
  const caller = clientAddress(c, c.var.edge);
  await spend(c, isUnpaid ? "verify" : "settle", caller);
  const visit = await arrive(c, counter, carried.ok ? carried.payload : null);
  if (!carried.ok) return refuse(visit, carried.refusal);
  if (isUnpaid) return unpaid(visit);
  const { offer, voice, facilitator: claims } = visit;
  const reading = await readSpend(carried.payload, { offer, networks: voice.networks, claims });
  const version = reading.ok ? reading.payment.version : reading.version;
  const spoken = { ...visit, voice: { ...voice, version } };
  if (!reading.ok) return refuse(spoken, reading.refusal);
  await countPayment(c, { payable: offer.payable.id, payer: reading.payment.payer, caller });
  return pay(spoken, reading.payment);
}

async function arrive(c: Context, counter: Counter, payload: unknown): Promise<Visit> {
  const offer = await find(c, counter, payload);
  if (!offer) throw fault("not_found");
  const networks = v1Networks(counter.facilitator.chains());
  return { ...counter, c, payload, offer, voice: { version: 2, networks, baseUrl: counter.baseUrl } };
}

async function find(c: Context, { facilitator, derive }: Counter, payload: unknown): Promise<Offer | null> {
  const id = c.req.param("id") ?? "";
  if (!hasAgentUrl(id)) return null;
  const offer = await facilitator.offer({ by: "id", id });
  if (payload === null && offer && namesItsPrice(offer) && c.req.query("amount") !== undefined)
    throw invalid("/query/amount", "none: it says what it costs, all at once. Leave it out");
  if (!derive || isId("pi", id) || (offer && offer.options.length > 0)) return offer;
  const meant = await meantBy(facilitator, payload);
  // It was paid as it is, and is not offered so any more.
  if (meant.bound === id) return offer;
  const derived = await derive(c, { id, ...meant });
  // It was signed for something else.
  if (derived === null && meant.named !== null) return null;
  return facilitator.offer({ by: "id", id: derived ?? id });
}

/** Of identical calls that come at once each has an intent made for it, and one of them is claimed: the one that all pay.
 *  Null where the payment names an intent, or is bound to something that is not of this link. */
async function claimedVisit(visit: Visit): Promise<Visit | null> {
  const { c, facilitator, derive, offer, payload } = visit;
  const id = c.req.param("id") ?? "";
  if (!derive || offer.payable.id === id) return null;
  const { bound } = await meantBy(facilitator, payload);
  if (bound === null || bound === offer.payable.id) return null;
  const derived = await derive(c, { id, named: bound, bound });
  const claimed = derived === bound ? await facilitator.offer({ by: "id", id: bound }) : null;
  return claimed && { ...visit, offer: claimed };
}

interface Why {
  readonly error: string;
  readonly errorMessage: string;
}

function unpaid(visit: Visit, why?: Why): Response {
  const { offer, voice } = visit;
  const { state } = offer;
  switch (state) {
    case "closed":
    case "paid":
      return gone(visit);
    case "held":
      return busy(visit);
    case "open": {
      if (offer.options.length === 0) return nothingToSign(visit);
      const { required, v1 } = challenge(offer, voice.networks, why?.error);
      // Beside the code, which programs compare: what only the paying call is told breaks no client of version 1.
      const body = why ? { ...v1, errorMessage: why.errorMessage } : v1;
      return respond(402, body, { "PAYMENT-REQUIRED": toHeader(required) });
    }
    default:
      return unreachable(state);
  }
}

function gone({ c, offer }: Visit): Response {
  const state = offer.state === "paid" ? "paid" : (offer.payable.closedAs ?? "closed");
  return problem(c, fault("payable_closed"), { members: { state }, headers: { "Cache-Control": PRIVATE } });
}

/** Below what any chain takes, or while none of them works. */
function nothingToSign({ c, offer }: Visit): Response {
  const rail = `a coin at parity with ${offer.payable.price.asset}`;
  return problem(c, fault("rail_unsupported", { rail }), { headers: { "Cache-Control": PRIVATE } });
}

/** Somebody's payment is under way, so nobody is asked to sign another. Who pays on the page takes minutes. */
function busy({ c, offer: { paymentId }, baseUrl }: Visit): Response {
  return problem(c, fault("payment_pending"), {
    members: paymentId === null ? {} : { statusUrl: `${baseUrl}/x402/settlements/${paymentId}` },
    headers: { "Cache-Control": PRIVATE, "Retry-After": paymentId === null ? "30" : "2" },
  });
}

async function pay(visit: Visit, payment: WirePayment): Promise<Response> {
  const { c, facilitator, offer } = visit;
  const delivery = followDelivery(c);
  const { requestId, log } = c.var.ctx;
  const request = {
    ...payment,
    target: { by: "id", id: offer.payable.id } as const,
    idempotencyKey: readIdempotencyKey(c),
    requestId,
  };
  let answer: SettleAnswer;
  try {
    answer = await facilitator.settle(request, { closed: delivery.closed });
  } catch (error) {
    if (error instanceof Fault && error.kind === "rate-limited") throw error; // nothing was claimed
    // From here on nobody can say that nothing was recorded.
    log.error({ ...requestFields(c), ...errorFields(error) }, "paying a payable failed");
    return unavailable(visit, { errorReason: "settlement_pending", transaction: "", network: "" });
  }
  const claimed = answer.outcome === "bound-elsewhere" ? await claimedVisit(visit) : null;
  if (claimed) return pay(claimed, payment);
  const { paymentId } = answer;
  if (answer.outcome === "settled" && !answer.replayed && paymentId !== null)
    delivery.orElse(() => {
      facilitator
        .releaseGrant(paymentId, requestId)
        .catch((error) => log.warn({ paymentId, ...errorFields(error) }, "a success was not taken back"));
    });
  return told(visit, answer, payment);
}

async function told(visit: Visit, answer: SettleAnswer, payment: WirePayment): Promise<Response> {
  const { facilitator, voice, offer, baseUrl, c } = visit;
  const body = presentSettle(answer, voice);
  const headers = {
    [voice.version === 1 ? "X-PAYMENT-RESPONSE" : "PAYMENT-RESPONSE"]: toHeader(body),
    ...presentHeaders(answer),
  };
  const { outcome } = answer;
  switch (outcome) {
    case "settled": {
      const about = { payable: offer.payable, asset: payment.selection.asset, baseUrl };
      return respond(200, presentReceipt(answer, { ...about, chains: facilitator.chains() }), headers);
    }
    case "pending":
      return respond(200, body, headers);
    case "failed":
      return respond(402, body, headers);
    case "duplicate":
    case "bound-elsewhere":
      return respond(409, body, headers);
    case "refused":
      return refuse(await again(visit), refusalOf(answer));
    case "idempotency-key-reused":
      return problem(c, fault("idempotency_key_reused"), { members: body, headers: shared });
    case "unknown-payable":
      return problem(c, fault("not_found"), { members: body, headers: shared });
    case "unavailable":
      return unavailable(visit, body, answer.extra.retryAfterSeconds);
    default:
      return unreachable(outcome);
  }
}

/** The same thing, as it stands by now. */
async function again(visit: Visit): Promise<Visit> {
  const offer = await visit.facilitator.offer({ by: "id", id: visit.offer.payable.id });
  if (!offer) throw fault("not_found");
  return { ...visit, offer };
}

function refusalOf({ reason, message }: SettleAnswer): Refusal {
  return { reason: reason ?? "invalid_payload", message: message ?? "The payment was not taken." };
}

/** Refused before anything was signed into a transaction: what the payable is by now decides how. */
function refuse(visit: Visit, { reason, message }: Refusal): Response {
  return unpaid(visit, { error: presentReason(reason, visit.voice), errorMessage: message });
}

function unavailable(
  { c }: Visit,
  fields: Readonly<Record<string, unknown>>,
  retryAfterSeconds = 2,
): Response {
  const members = { success: false, ...fields };
  return problem(c, fault("unavailable", { retryAfterSeconds }), { members, headers: shared });
}

const shared = { "Cache-Control": PRIVATE, Vary: "PAYMENT-SIGNATURE, X-PAYMENT" };

function respond(status: ContentfulStatusCode, body: unknown, headers: Readonly<Record<string, string>>) {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...headers, ...shared },
  });
}
