/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { Fault } from "#kernel/fault";
import { clientAddress, spend } from "../../http/limit.ts";
import { refuseForeignForm } from "../../http/manners.ts";
import { problems } from "../../http/route.ts";
import { brandOf } from "../../merchant/verbs/brand.ts";
import { type Counter, forPeople, page, whole } from "../serve.tsx";
import { openInvoice, payInvoice } from "../verbs/invoice.ts";
import { InvoicePage } from "../view/invoice.tsx";
import { speechOf } from "../words/index.ts";

const problemsShown = ["linkPending", "invoiceClosed", "rail_unsupported", "merchant_suspended"] as const;
type Problem = (typeof problemsShown)[number];
const wordOf: Readonly<Record<string, Problem>> = {
  invoice_not_payable: "invoiceClosed",
  invoice_payment_in_progress: "linkPending",
  rail_unsupported: "rail_unsupported",
  merchant_suspended: "merchant_suspended",
  amount_too_small: "rail_unsupported",
  amount_too_large: "rail_unsupported",
};

/** `GET /invoices/{id}/view` and `POST /invoices/{id}/pay`. */
export function mountInvoice(app: OpenAPIHono, counter: Counter): void {
  app.get(
    "/invoices/:id/view",
    forPeople(counter, (c) => showInvoice(c, counter)),
  );
  app.post(
    "/invoices/:id/pay",
    page(counter, (c) => takeForm(c, counter)),
  );
  const shared = {
    tags: ["hosted pages"],
    security: [],
    request: { params: z.object({ id: z.string().openapi({ example: "inv_01K2C0Z0000000000000000000" }) }) },
  };
  app.openAPIRegistry.registerPath({
    ...shared,
    method: "get",
    path: "/invoices/{id}/view",
    summary: "The page of an invoice",
    responses: {
      200: { description: "The page", content: { "text/html": { schema: z.string() } } },
      402: { description: "Who pays or asks for JSON is answered as at `/x402/payables/{id}`" },
      ...problems("not_found", "rate_limited"),
    },
  });
  app.openAPIRegistry.registerPath({
    ...shared,
    method: "post",
    path: "/invoices/{id}/pay",
    summary: "Begin to pay an invoice at its page",
    responses: {
      303: { description: "To the page of the payment; or back, where it says what was wrong" },
      ...problems("not_found", "origin_not_allowed", "rate_limited"),
    },
  });
}

async function showInvoice(c: Context, { invoices, assets }: Counter): Promise<Response> {
  const asked = c.req.query("problem");
  const invoice = await openInvoice(invoices, c.req.param("id") ?? "");
  const shown = {
    invoice,
    brand: await brandOf(invoices.db.pool, invoice.merchant.id),
    problem: problemsShown.find((each) => each === asked) ?? null,
    speech: speechOf(c.req.header("accept-language")),
    assets: await assets.addresses(),
  };
  return whole(c, <InvoicePage {...shown} />);
}

async function takeForm(c: Context, { invoices, baseUrl, edge }: Counter): Promise<Response> {
  await spend(c, "checkout", clientAddress(c, edge));
  refuseForeignForm(c, baseUrl);
  const id = c.req.param("id") ?? "";
  try {
    return c.redirect(`/checkout/${await payInvoice(invoices, edge, id)}`, 303);
  } catch (error) {
    const problem = error instanceof Fault ? wordOf[error.code] : undefined;
    if (problem === undefined) throw error;
    return c.redirect(`/invoices/${encodeURIComponent(id)}/view?problem=${problem}`, 303);
  }
}
