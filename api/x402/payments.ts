import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context, Handler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import {
  type Facilitator,
  type PaymentRequest,
  payableKey,
  type Reason,
  type Refusal,
  type SettleAnswer,
} from "#facilitator";
import { checksum } from "#kernel/bytes";
import { type Fault, unreachable } from "#kernel/fault";
import { isId } from "#kernel/id";
import { errorFields } from "#kernel/log";
import { isFromAllowed } from "../http/auth.ts";
import { type Edge, headerCount, type MerchantScope } from "../http/context.ts";
import { fault } from "../http/faults.ts";
import { openCorsHeaders, PRIVATE } from "../http/headers.ts";
import { readIdempotencyKey } from "../http/idempotency.ts";
import { clientAddress, rateHeadersOf, spend } from "../http/limit.ts";
import { type ProblemPlace, problemResponse, toFault } from "../http/problem.ts";
import { requestFields } from "../http/request-id.ts";
import { isJson, JSON_TYPE, PAYMENT_BODY_LIMIT, parseStrict, readText } from "../http/strict-json.ts";
import { countPayment } from "./count.ts";
import { followDelivery } from "./delivery.ts";
import { extensionResponses } from "./extension-responses.ts";
import { presentHeaders, presentReason, presentSettle, presentVerify, type Voice } from "./present.ts";
import type { SettleResponse } from "./schema.ts";
import { v1Networks } from "./v1.ts";
import { payerNamedIn, readPayment, versionOf, type WirePayment } from "./wire.ts";

type Verb = "verify" | "settle";
interface Payments {
  readonly edge: Edge;
  readonly facilitator: Facilitator;
}
/** One call of verify or settle, as far as it has been read. */
interface PaymentCall {
  readonly c: Context;
  readonly verb: Verb;
  readonly place: ProblemPlace;
  voice: Voice;
  /** What was made of the payload's extensions, as a header; none before the body was read. */
  extensionHeader: Readonly<Record<string, string>>;
  /** Undefined before it was read. */
  body: unknown;
  /** Set once the engine has been asked to settle: from here on nobody can say that nothing was recorded. */
  isAsked: boolean;
}

const noV1 = v1Networks([]);

/** `POST …/verify` and `POST …/settle` on both bases. They are mounted ahead of the general middleware and read their
 *  body by hand: these are the calls that come in thousands. Source: x402.md §4, §5. */
export function mountPayments(app: OpenAPIHono, payments: Payments): void {
  for (const verb of ["verify", "settle"] as const) {
    app.post(`/x402/resources/:id/${verb}`, handler(payments, verb));
    app.post(`/x402/${verb}`, handler(payments, verb));
  }
}

function handler(payments: Payments, verb: Verb): Handler {
  const { baseUrl, newId, clock, log } = payments.edge;
  return async (c) => {
    const requestId = newId("req");
    c.set("edge", payments.edge);
    c.set("ctx", { requestId, log, now: () => clock.now() });
    const place = { baseUrl, path: c.req.path, requestId };
    const call: PaymentCall = {
      c,
      verb,
      place,
      voice: { version: 2, networks: noV1, baseUrl },
      extensionHeader: {},
      body: undefined,
      isAsked: false,
    };
    try {
      return await answer(payments, call);
    } catch (error) {
      return failure(payments, call, error);
    }
  };
}

async function answer({ edge, facilitator }: Payments, call: PaymentCall): Promise<Response> {
  const { c, verb } = call;
  if (headerCount(c, "authorization") > 1) throw fault("duplicate_header", { header: "Authorization" });
  const caller = await whoAsks(c, edge);
  await spend(c, verb, caller);
  const id = c.req.param("id");
  if (id !== undefined && !isId("x402r", id)) return unknownPayable(call);
  const contentType = c.req.header("content-type");
  if (contentType !== undefined && !isJson(contentType))
    throw fault("unsupported_media_type", { type: JSON_TYPE });
  const text = await readText(c.req.raw, PAYMENT_BODY_LIMIT);
  const body = parseStrict(text);
  if (versionOf(body) === 1)
    call.voice = { ...call.voice, version: 1, networks: v1Networks(facilitator.chains()) };
  call.extensionHeader = extensionResponses(body);
  call.body = body;
  const reading = readPayment(body, call.voice.networks, text.length);
  if (!reading.ok) return refused(call, reading.refusal);
  const target = targetOf(call, reading.payment);
  if ("reason" in target) return refused(call, target);
  await countPayment(c, { payable: payableKey(target) ?? "", payer: reading.payment.payer, caller });
  const request = requestOf(call, target, reading.payment);
  return verb === "verify" ? verify(facilitator, call, request) : settle(facilitator, call, request);
}

/** A caller with a secret key is counted as its merchant: a stock server brings all its payers from one address. Not so
 *  with a publishable key, nor with a secret one from where it does not work: what is in other hands, too, would use up
 *  the allowance of the merchant's own server. */
async function whoAsks(c: Context, edge: Edge): Promise<string> {
  const [, key] = /^Bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "") ?? [];
  const address = clientAddress(c, edge);
  const scope = key === undefined ? null : await keyHolder(edge, { key, address });
  return scope?.kind === "sk" && isFromAllowed(c, scope) ? scope.merchantId : address;
}

/** Who a key stands for. One that was never good here is looked up as often as its address may ask for that, and else
 *  passed over: made-up keys cost no more than none. */
async function keyHolder(
  { authenticate, limits }: Edge,
  { key, address }: { readonly key: string; readonly address: string },
): Promise<MerchantScope | null> {
  const known = await authenticate(key, { isKnownOnly: true });
  if (known) return known;
  return (await limits("unknown-key", address)) === null ? authenticate(key) : null;
}

function targetOf(call: PaymentCall, payment: WirePayment): PaymentRequest["target"] | Refusal {
  const id = call.c.req.param("id");
  if (id !== undefined) return { by: "id", id };
  if (payment.resourceUrl !== null) return { by: "url", url: payment.resourceUrl };
  return {
    reason: "invalid_payload",
    message: `The payload names no resource URL. Send resource.url, or use the base ${call.place.baseUrl}/x402/resources/{id}.`,
  };
}

function requestOf(
  { c, verb, place }: PaymentCall,
  target: PaymentRequest["target"],
  payment: WirePayment,
): PaymentRequest {
  // Read on verify too, where it means nothing: what settle would refuse, verify does not let pass.
  const idempotencyKey = readIdempotencyKey(c);
  return {
    target,
    selection: payment.selection,
    accepted: payment.accepted,
    payload: payment.payload,
    payloadHash: payment.payloadHash,
    paymentIdentifier: payment.paymentIdentifier,
    idempotencyKey: verb === "settle" ? idempotencyKey : null,
    requestId: place.requestId,
  };
}

async function verify(
  facilitator: Facilitator,
  call: PaymentCall,
  request: PaymentRequest,
): Promise<Response> {
  const answer = await facilitator.verify(request);
  if (answer.outcome === "unknown-payable") return unknownPayable(call, answer.message);
  return respond(call, 200, withPayer(call, presentVerify(answer, call.voice)));
}

async function settle(
  facilitator: Facilitator,
  call: PaymentCall,
  request: PaymentRequest,
): Promise<Response> {
  const delivery = followDelivery(call.c);
  call.isAsked = true;
  const answer = await facilitator.settle(request, { closed: delivery.closed });
  const { paymentId } = answer;
  if (answer.outcome === "settled" && !answer.replayed && paymentId !== null)
    delivery.orElse(() => void release(facilitator, call, paymentId));
  return settled(call, answer);
}

/** Nobody got this success, so somebody else may. */
async function release(
  facilitator: Facilitator,
  { c, place }: PaymentCall,
  paymentId: string,
): Promise<void> {
  try {
    await facilitator.releaseGrant(paymentId, place.requestId);
  } catch (error) {
    c.var.ctx.log.warn(
      { paymentId, ...errorFields(error) },
      "a success that nobody received was not taken back",
    );
  }
}

function settled(call: PaymentCall, answer: SettleAnswer): Response {
  const body = withPayer(call, presentSettle(answer, call.voice));
  const { outcome } = answer;
  const headers = presentHeaders(answer);
  switch (outcome) {
    case "settled":
    case "refused":
    case "failed":
    case "pending":
      return respond(call, 200, body, headers);
    case "duplicate":
    case "bound-elsewhere":
      return respond(call, 409, body, headers);
    case "unknown-payable":
      return unknownPayable(call, answer.message ?? undefined);
    case "idempotency-key-reused":
      return withProblem(
        call,
        fault("idempotency_key_reused"),
        body.errorReason ?? "invalid_payload",
        answer.message,
      );
    case "unavailable":
      return unavailable(call, answer.reason ?? "settlement_pending", { ...answer.extra, fields: body });
    default:
      return unreachable(outcome);
  }
}

/** A no of the protocol before the engine was asked: readable, so it is a 200. */
function refused(call: PaymentCall, { reason, message }: Refusal): Response {
  return respond(call, 200, typedFields(call, presentReason(reason, call.voice), message));
}

function unknownPayable(
  call: PaymentCall,
  message = "No such resource is for sale here. Check the id or the URL it was registered with.",
): Response {
  return withProblem(
    call,
    fault("not_found"),
    presentReason("invalid_payment_requirements", call.voice),
    message,
  );
}

/** Whatever was thrown, told so that a stock client gets a typed error and no payer is blamed for a fault of ours. */
function failure({ edge }: Payments, call: PaymentCall, error: unknown): Response {
  const seen = toFault(error);
  const unexpected: Reason = call.verb === "verify" ? "unexpected_verify_error" : "unexpected_settle_error";
  if (["invalid", "too-large", "unsupported-media"].includes(seen.kind))
    return withProblem(call, seen, "invalid_payload", seen.detail);
  if (seen.kind === "rate-limited") return withProblem(call, seen, unexpected, seen.detail);
  const level = seen.kind === "bug" ? "error" : "warn";
  edge.log[level](
    { ...requestFields(call.c), verb: call.verb, ...errorFields(error) },
    "a payment call failed",
  );
  if (call.verb === "verify")
    return respond(
      call,
      200,
      typedFields(
        call,
        unexpected,
        "We could not check this payment. Nothing is wrong with it as far as we know; try again.",
      ),
    );
  return unavailable(call, call.isAsked ? "settlement_pending" : unexpected);
}

/** 503: nothing was claimed (`unexpected_settle_error`), or nobody can say whether it was (`settlement_pending`).
 *  `fields` are what the engine knows of it. */
function unavailable(
  call: PaymentCall,
  reason: Reason,
  {
    retryAfterSeconds = 1,
    fields = {},
  }: { retryAfterSeconds?: number; fields?: Partial<SettleResponse> } = {},
): Response {
  const message =
    reason === "settlement_pending"
      ? "We cannot say yet whether this was recorded. Repeat the identical request; do not sign a new payment."
      : "Nothing was recorded. Repeat the identical request shortly.";
  const members = { ...typedFields(call, presentReason(reason, call.voice), message), ...fields };
  const seen = fault("unavailable", { retryAfterSeconds });
  return problemResponse(call.place, seen, { members, headers: headersOf(call) });
}

function withProblem(call: PaymentCall, seen: Fault, reason: string, message: string | null): Response {
  const members = typedFields(call, reason, message ?? seen.detail);
  return problemResponse(call.place, seen, { members, headers: headersOf(call) });
}

/** What every refusal carries, beside or in place of problem details. */
function typedFields(call: PaymentCall, reason: string, message: string) {
  return withPayer(
    call,
    call.verb === "verify"
      ? { isValid: false, invalidReason: reason, invalidMessage: message }
      : { success: false, errorReason: reason, errorMessage: message, transaction: "", network: "" },
  );
}

/** With who pays, as the body says where nobody found out: the x402 package for Python reads no verdict of v1 without. */
function withPayer<T extends object>({ body }: PaymentCall, told: T): T {
  const named = "payer" in told ? null : payerNamedIn(body);
  return named === null ? told : { ...told, payer: checksum(named) };
}

function respond(
  call: PaymentCall,
  status: ContentfulStatusCode,
  body: unknown,
  headers: Record<string, string> = {},
): Response {
  const all = { "Content-Type": "application/json", ...headersOf(call), ...headers };
  return new Response(JSON.stringify(body), { status, headers: all });
}

function headersOf({ c, place, extensionHeader }: PaymentCall): Record<string, string> {
  return {
    ...openCorsHeaders,
    "Cache-Control": PRIVATE,
    "X-Content-Type-Options": "nosniff",
    "Request-Id": place.requestId,
    ...rateHeadersOf(c),
    ...extensionHeader,
  };
}
