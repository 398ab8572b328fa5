/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { createRoute, defineOpenAPIRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import type { Clock } from "#kernel/clock";
import { Fault } from "#kernel/fault";
import { fault } from "../../http/faults.ts";
import { clientAddress, limitByAddress, spend } from "../../http/limit.ts";
import { readForm, refuseForeignForm } from "../../http/manners.ts";
import { json, problems } from "../../http/route.ts";
import { isOver } from "../present.ts";
import { CheckoutPath, CheckoutStatus, WayForm } from "../schema.ts";
import { type Counter, page, whole } from "../serve.tsx";
import {
  type ClearingDesk,
  canTestPay,
  openStatus,
  readCheckout,
  readStatus,
  takeWay,
  testPayments,
} from "../verbs/checkout.ts";
import { CheckoutPage } from "../view/checkout.tsx";
import { speechOf } from "../words/index.ts";

const limited = limitByAddress("checkout");
const tags = ["hosted pages"];

/** What lies behind the page of an intent: its form, its status, its news. */
export function mountCheckout(app: OpenAPIHono, counter: Counter): void {
  app.post(
    "/checkout/:id/confirm",
    page(counter, (c) => takeForm(c, counter)),
  );
  if (counter.testPayer) mountTestPayment(app, counter, testPayments(counter.clearing, counter.testPayer));
  app.openapiRoutes([statusRoute(counter)] as const);
  app.get("/checkout/:id/events", limited, (c) => follow(c, counter));
  describeCheckout(app);
}

const problemsShown = [
  "merchant_suspended",
  "rail_unsupported",
  "intent_not_confirmable",
  "intent_expired",
  "rail_switched_too_often",
  "rate_unavailable",
  "amount_too_small",
  "amount_too_large",
  "payer_address",
  "testPayFailed",
] as const;

/** The page itself. */
export async function showCheckout(c: Context, { clearing, assets, testPayer }: Counter): Promise<Response> {
  const isChoosing = c.req.query("change") === "1";
  const asked = c.req.query("problem");
  const found = await readCheckout(clearing, { id: c.req.param("id") ?? "", isChoosing });
  const shown = {
    ...found,
    isChoosing: isChoosing && found.offers.length > 0,
    isTestPayable: testPayer !== null && canTestPay(found.status),
    problem: problemsShown.find((each) => each === asked) ?? null,
    speech: speechOf(c.req.header("accept-language")),
    assets: await assets.addresses(),
  };
  return whole(c, <CheckoutPage {...shown} />);
}

/** The form of the chooser: 303 back to the page, which says what came of it. */
async function takeForm(c: Context, { clearing, baseUrl, edge }: Counter): Promise<Response> {
  await spend(c, "checkout", clientAddress(c, edge));
  refuseForeignForm(c, baseUrl);
  const id = c.req.param("id") ?? "";
  const problem = await attempt(clearing, id, await readForm(c));
  return c.redirect(`/checkout/${encodeURIComponent(id)}${problem ? `?problem=${problem}` : ""}`, 303);
}

/** Null when it is done; else why not, in a word that the page knows. */
async function attempt(
  clearing: ClearingDesk,
  id: string,
  fields: Readonly<Record<string, string>>,
): Promise<string | null> {
  const form = WayForm.safeParse(fields);
  if (!form.success) {
    const isAddress = form.error.issues.some(({ path }) => path[0] === "payerAddress");
    return isAddress ? "payer_address" : "rail_unsupported";
  }
  try {
    await takeWay(clearing, id, form.data);
    return null;
  } catch (error) {
    const code = error instanceof Fault ? error.code : null;
    if (code === null || !problemsShown.some((each) => each === code)) throw error;
    return code;
  }
}

/** Why the sandbox's payer sends nothing, though nobody did anything wrong. */
const notNow: ReadonlySet<string> = new Set(["simulation_impossible", "chain_unavailable"]);

/** The button of a sandbox's page: 303 back to it, where the money is seen to arrive. */
function mountTestPayment(app: OpenAPIHono, counter: Counter, pay: (id: string) => Promise<void>): void {
  const { edge, baseUrl } = counter;
  app.post(
    "/checkout/:id/test-payment",
    page(counter, async (c) => {
      await spend(c, "checkout", clientAddress(c, edge));
      refuseForeignForm(c, baseUrl);
      const id = c.req.param("id") ?? "";
      const isPaid = await pay(id).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Fault && notNow.has(error.code)) return false;
          throw error;
        },
      );
      return c.redirect(`/checkout/${encodeURIComponent(id)}${isPaid ? "" : "?problem=testPayFailed"}`, 303);
    }),
  );
  app.openAPIRegistry.registerPath({
    method: "post",
    path: "/checkout/{id}/test-payment",
    tags: ["sandbox"],
    security: [],
    summary: "Pay what is missing with test money",
    description:
      "The button of a sandbox's page. Keyless, as the page is: who holds the id may press it. The same remainder is " +
      "sent once, however often it is pressed.",
    request: { params: CheckoutPath },
    responses: {
      303: { description: "Back to the page, where the money is seen to arrive" },
      ...problems("not_found", "origin_not_allowed", "rate_limited"),
    },
  });
}

function statusRoute({ clearing }: Counter) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/checkout/{id}/status",
      tags,
      summary: "Where a payment stands, for its payer",
      description: "Keyless: whoever holds the id may see it. Nothing here is only the merchant's.",
      security: [],
      middleware: [limited],
      request: { params: CheckoutPath },
      responses: {
        200: json(CheckoutStatus, "What the payer is told"),
        ...problems("not_found", "rate_limited"),
      },
    }),
    handler: async (c) => {
      c.header("Cache-Control", "no-store");
      return c.json(await readStatus(clearing, c.req.valid("param").id), 200);
    },
  });
}

const HEARTBEAT_MS = 15_000;
const TOO_MANY_SECONDS = 30;
/** On its way the stream is neither kept nor gathered. */
const unkept = { "Cache-Control": "no-store", "X-Accel-Buffering": "no" } as const;

/** Server-sent events: one `state` now and one with each change, until nothing follows by itself. */
async function follow(c: Context, { clearing, streams, clock, edge, leaving }: Counter): Promise<Response> {
  const first = await openStatus(clearing, c.req.param("id") ?? "");
  // Nobody would read that stream, so nothing would ever end it.
  if (c.req.method === "HEAD") return c.body(null, 200, { "Content-Type": "text/event-stream", ...unkept });
  const { id } = first.status;
  const ended = new AbortController();
  let tell: (news: Omit<typeof first, "merchantId">) => void = () => {};
  const at = { merchantId: first.merchantId, id, who: clientAddress(c, edge) };
  const leave = streams.follow(at, (status, sequence) => tell({ status, sequence }));
  if (!leave) throw fault("rate_limited", { retryAfterSeconds: TOO_MANY_SECONDS, policy: "checkout" });
  const response = streamSSE(c, async (stream) => {
    stream.onAbort(() => ended.abort());
    tell = (news) => {
      void send(stream, news).then(() => isOver(news.status) && ended.abort());
    };
    try {
      tell(first);
      await beat(stream, clock, AbortSignal.any([ended.signal, leaving]));
    } finally {
      leave();
    }
  });
  for (const [name, value] of Object.entries(unkept)) response.headers.set(name, value);
  return response;
}

function send(
  stream: SSEStreamingApi,
  { status, sequence }: { readonly status: CheckoutStatus; readonly sequence: string },
): Promise<void> {
  return stream.writeSSE({ event: "state", id: sequence, data: JSON.stringify(status) });
}

/** Keeps the connection alive until it is over. */
async function beat(stream: SSEStreamingApi, clock: Clock, over: AbortSignal): Promise<void> {
  while (!over.aborted && !stream.aborted) {
    await clock.sleep(HEARTBEAT_MS, over);
    if (!over.aborted) await stream.write(": still here\n\n");
  }
}

/** Puts what is not made from schemas into the OpenAPI document. */
function describeCheckout({ openAPIRegistry }: OpenAPIHono): void {
  const shared = { tags, security: [], request: { params: CheckoutPath } };
  openAPIRegistry.registerPath({
    ...shared,
    method: "post",
    path: "/checkout/{id}/confirm",
    summary: "Choose how to pay, or switch while no money has come",
    request: {
      params: CheckoutPath,
      body: { required: true, content: { "application/x-www-form-urlencoded": { schema: WayForm } } },
    },
    responses: {
      303: { description: "Back to the page, which says what came of it" },
      ...problems("not_found", "origin_not_allowed", "unsupported_media_type", "body_too_large"),
    },
  });
  openAPIRegistry.registerPath({
    ...shared,
    method: "get",
    path: "/checkout/{id}/events",
    summary: "News of a payment, as server-sent events",
    description: "Events `state`, each with a CheckoutStatus; the id is the length of the timeline.",
    responses: {
      200: { description: "The stream", content: { "text/event-stream": { schema: z.string() } } },
      ...problems("not_found", "rate_limited"),
    },
  });
}
