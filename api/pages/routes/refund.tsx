/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { createRoute, defineOpenAPIRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { address, type Hex } from "#kernel/bytes";
import { fault } from "../../http/faults.ts";
import { clientAddress, limitByAddress, spend } from "../../http/limit.ts";
import { readForm, refuseForeignForm } from "../../http/manners.ts";
import { json, problems } from "../../http/route.ts";
import { brandOf } from "../../merchant/verbs/brand.ts";
import { CheckoutPath, ClaimForm, ClaimMessage, ClaimQuery } from "../schema.ts";
import { type Counter, page, whole } from "../serve.tsx";
import { type ClaimRefusal, claimMessage, claimRefunds, openRefunds } from "../verbs/refund.ts";
import { RefundPage } from "../view/refund.tsx";
import { speechOf } from "../words/index.ts";

const limited = limitByAddress("checkout");
const tags = ["hosted pages"];

/** What the page says of a claim that was not taken. */
const wordOf = {
  "nothing-waits": "refund_nothing",
  "other-wallet": "refund_wallet",
  expired: "refund_expired",
  "bad-signature": "refund_signature",
  used: "refund_used",
  "bad-destination": "refund_destination",
  "not-now": "refund_later",
} as const satisfies Record<ClaimRefusal, string>;
const problemsShown = Object.values(wordOf);

/** `GET` and `POST /checkout/{id}/refund`, and the message that is signed there. Source: merchant-api.md §1.5, §7. */
export function mountRefund(app: OpenAPIHono, counter: Counter): void {
  app.get(
    "/checkout/:id/refund",
    page(counter, (c) => showRefund(c, counter)),
  );
  app.post(
    "/checkout/:id/refund",
    page(counter, (c) => takeForm(c, counter)),
  );
  app.openapiRoutes([messageRoute(counter)] as const);
  describeRefund(app);
}

async function showRefund(c: Context, { refunds: desk, assets, edge }: Counter): Promise<Response> {
  await spend(c, "checkout", clientAddress(c, edge));
  const asked = c.req.query("problem");
  const id = c.req.param("id") ?? "";
  const open = await openRefunds(desk, id);
  const shown = {
    ...open,
    id,
    brand: await brandOf(desk.db.pool, open.merchantId),
    explorer: desk.facilitator.chains().find(({ chain }) => chain === open.chain)?.explorer ?? null,
    problem: problemsShown.find((each) => each === asked) ?? null,
    speech: speechOf(c.req.header("accept-language")),
    assets: await assets.addresses(),
  };
  return whole(c, <RefundPage {...shown} />);
}

/** The claim: 303 back to the page, which says what came of it. */
async function takeForm(c: Context, { refunds: desk, baseUrl, edge }: Counter): Promise<Response> {
  await spend(c, "checkout", clientAddress(c, edge));
  refuseForeignForm(c, baseUrl);
  const id = c.req.param("id") ?? "";
  const refusal = await attempt(desk, id, await readForm(c));
  const problem = refusal && `?problem=${wordOf[refusal]}`;
  return c.redirect(`/checkout/${encodeURIComponent(id)}/refund${problem ?? ""}`, 303);
}

async function attempt(
  desk: Counter["refunds"],
  id: string,
  fields: Readonly<Record<string, string>>,
): Promise<ClaimRefusal | null> {
  const form = ClaimForm.safeParse(fields);
  if (!form.success) {
    const isDestination = form.error.issues.some(({ path }) => path[0] === "destination");
    return isDestination ? "bad-destination" : "bad-signature";
  }
  const { account, destination, signature, nonce } = form.data;
  return claimRefunds(desk, {
    ...{ id, nonce, account: address(account), destination: address(destination) },
    signature: signature.toLowerCase() as Hex,
  });
}

function messageRoute({ refunds: desk }: Counter) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/checkout/{id}/refund/message",
      tags,
      summary: "The message that the paying wallet signs to claim a refund",
      description:
        "Sign in with Ethereum (EIP-4361), signed by `personal_sign`. It names the address, and is good for 15 minutes and for one claim.",
      security: [],
      middleware: [limited],
      request: { params: CheckoutPath, query: ClaimQuery },
      responses: {
        200: json(ClaimMessage, "The message, and the nonce that goes into the form with its signature"),
        ...problems("validation_failed", "not_found", "rate_limited"),
      },
    }),
    handler: async (c) => {
      c.header("Cache-Control", "no-store");
      const { destination } = c.req.valid("query");
      const made = await claimMessage(desk, {
        id: c.req.valid("param").id,
        destination: address(destination),
      });
      if (!made) throw fault("not_found");
      return c.json({ ...made, expiresAt: made.expiresAt.toISOString() }, 200);
    },
  });
}

/** Puts what is not made from schemas into the OpenAPI document. */
function describeRefund({ openAPIRegistry }: OpenAPIHono): void {
  const shared = { path: "/checkout/{id}/refund", tags, security: [], request: { params: CheckoutPath } };
  openAPIRegistry.registerPath({
    ...shared,
    method: "get",
    summary: "What became of a payment's refunds, and how to claim one",
    responses: {
      200: { description: "The page", content: { "text/html": { schema: z.string() } } },
      ...problems("not_found", "rate_limited"),
    },
  });
  openAPIRegistry.registerPath({
    ...shared,
    method: "post",
    summary: "Say where a refund goes, with the signature of the wallet that paid",
    request: {
      params: CheckoutPath,
      body: { required: true, content: { "application/x-www-form-urlencoded": { schema: ClaimForm } } },
    },
    responses: {
      303: { description: "Back to the page, which says what came of it" },
      ...problems(
        "not_found",
        "origin_not_allowed",
        "unsupported_media_type",
        "body_too_large",
        "rate_limited",
      ),
    },
  });
}
