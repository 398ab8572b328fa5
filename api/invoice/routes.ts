import { createRoute, defineOpenAPIRoute } from "@hono/zod-openapi";
import type { FindBuyer } from "../customer/verbs.ts";
import { keyed, keyedAfter } from "../http/idempotency.ts";
import { PageQuery, pageOf, readPage } from "../http/page.ts";
import {
  body,
  bodyFaults,
  json,
  problems,
  RequiredIdempotencyHeader,
  requiredKeyFaults,
  secretKey,
  secretKeyFaults,
} from "../http/route.ts";
import { invoiceCheckoutRoute } from "./checkout-route.ts";
import { Invoice, InvoiceChange, InvoiceInput, InvoicePath, InvoiceQuery, Invoices } from "./schema.ts";
import { deleteDraft, editInvoice, sendInvoice, setListed, writeOff } from "./verbs/change.ts";
import { createInvoice } from "./verbs/create.ts";
import type { InvoiceDesk } from "./verbs/desk.ts";
import { agentsPayments } from "./verbs/intents.ts";
import { issueInvoice } from "./verbs/issue.ts";
import { checkDraft, checkNew } from "./verbs/limits.ts";
import { listInvoices, readInvoice } from "./verbs/read.ts";
import { voidInvoice } from "./verbs/void.ts";

const reading = { tags: ["invoices"], ...secretKey({ permission: "invoices:read" }) };
const writing = { tags: ["invoices"], ...secretKey({ permission: "invoices:manage" }) };
const writeFaults = [...secretKeyFaults, ...bodyFaults, ...requiredKeyFaults] as const;
const lineFaults = [
  "product_not_found",
  "product_inactive",
  "price_missing",
  "currency_unsupported",
  "too_many_decimals",
  "amount_too_small",
  "due_date_invalid",
] as const;

/** Bills: made, issued, sent, paid, taken back. */
export function invoiceRoutes({ buyers, ...desk }: InvoiceDesk & { readonly buyers: FindBuyer }) {
  return [
    createOf(desk),
    listOf(desk, buyers),
    readOf(desk),
    editOf(desk),
    deleteOf(desk),
    issueOf(desk),
    sendOf(desk),
    voidOf(desk),
    writeOffOf(desk),
    showOf(desk, "list"),
    showOf(desk, "unlist"),
    invoiceCheckoutRoute(desk),
  ] as const;
}

function createOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/invoices",
      summary: "Make an invoice",
      ...writing,
      request: { headers: RequiredIdempotencyHeader, body: body(InvoiceInput) },
      responses: {
        201: json(Invoice, "The invoice: a draft, or issued where that was asked for"),
        ...problems(...writeFaults, ...lineFaults, "amount_too_large"),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("json");
      const beforehand = () => checkNew(desk, { ctx: c.var.merchant, input });
      return keyedAfter(c, { input, isRequired: true, beforehand }, async (ctx) => {
        const made = await createInvoice(desk, { ctx, input });
        const headers = { Location: `/v1/invoices/${made.id}` };
        return { status: 201, body: made, headers, resourceId: made.id };
      });
    },
  });
}

function listOf(desk: InvoiceDesk, buyers: FindBuyer) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/invoices",
      summary: "List invoices",
      ...reading,
      request: { query: PageQuery.extend(InvoiceQuery.shape) },
      responses: {
        200: json(Invoices, "The invoices, newest first"),
        ...problems(...secretKeyFaults, "invalid_cursor"),
      },
    }),
    handler: async (c) => {
      const { limit, cursor, ...filter } = c.req.valid("query");
      const page = readPage(c, { limit, cursor }, filter);
      const { customerId, ...rest } = filter;
      const buyer = customerId === undefined ? undefined : await buyers(c.var.merchant, customerId);
      const input = { ...page, ...rest, ...(buyer !== undefined && { buyer }) };
      const found = await listInvoices(desk, { ctx: c.var.merchant, input });
      return c.json([...pageOf(c, page, found, filter)], 200);
    },
  });
}

function readOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/invoices/{id}",
      summary: "Read an invoice",
      ...reading,
      request: { params: InvoicePath },
      responses: { 200: json(Invoice, "The invoice"), ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) =>
      c.json(await readInvoice(desk, { ctx: c.var.merchant, input: c.req.valid("param") }), 200),
  });
}

function editOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "patch",
      path: "/v1/invoices/{id}",
      summary: "Change an invoice",
      description:
        "Of a draft everything; of its lines those of products that it has already keep their name and price, unless the " +
        "currency changes. Of what is issued: notes, metadata, a later dueAt, and the buyer's taxId, address and email.",
      ...writing,
      request: { headers: RequiredIdempotencyHeader, params: InvoicePath, body: body(InvoiceChange) },
      responses: {
        200: json(Invoice, "The invoice as it is now"),
        ...problems(
          ...writeFaults,
          ...lineFaults,
          "not_found",
          "version_conflict",
          "invoice_not_editable",
          "buyer_email_required",
        ),
      },
    }),
    handler: (c) => {
      const input = { ...c.req.valid("param"), ...c.req.valid("json") };
      return keyed(c, { input, isRequired: true }, async (ctx) => ({
        status: 200,
        body: await editInvoice(desk, { ctx, input }),
      }));
    },
  });
}

function deleteOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "delete",
      path: "/v1/invoices/{id}",
      summary: "Delete a draft",
      ...writing,
      request: { headers: RequiredIdempotencyHeader, params: InvoicePath },
      responses: {
        204: { description: "It is gone" },
        ...problems(...writeFaults, "not_found", "invoice_state"),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("param");
      return keyed(c, { input, isRequired: true }, async (ctx) => {
        await deleteDraft(desk, { ctx, input });
        return { status: 204 };
      });
    },
  });
}

function issueOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/invoices/{id}/issue",
      summary: "Issue a draft",
      description: "It gets its number, without gaps, and what it asks for is frozen.",
      ...writing,
      request: { headers: RequiredIdempotencyHeader, params: InvoicePath },
      responses: {
        200: json(Invoice, "The invoice, now open"),
        ...problems(
          ...writeFaults,
          "not_found",
          "invoice_state",
          "due_date_invalid",
          "amount_too_small",
          "amount_too_large",
        ),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("param");
      const beforehand = () => checkDraft(desk, { ctx: c.var.merchant, input });
      return keyedAfter(c, { input, isRequired: true, beforehand }, async (ctx) => ({
        status: 200,
        body: await issueInvoice(desk, { ctx, input }),
      }));
    },
  });
}

function sendOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/invoices/{id}/send",
      summary: "Mail an invoice to its buyer",
      ...writing,
      request: { headers: RequiredIdempotencyHeader, params: InvoicePath },
      responses: {
        200: json(Invoice, "The invoice; its mail is on the way"),
        ...problems(...writeFaults, "not_found", "invoice_state", "buyer_email_required"),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("param");
      return keyed(c, { input, isRequired: true }, async (ctx) => ({
        status: 200,
        body: await sendInvoice(desk, { ctx, input }),
      }));
    },
  });
}

function voidOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/invoices/{id}/void",
      summary: "Void an invoice",
      ...writing,
      request: { headers: RequiredIdempotencyHeader, params: InvoicePath },
      responses: {
        200: json(Invoice, "The invoice, now void; nobody can pay it"),
        ...problems(
          ...writeFaults,
          "not_found",
          "invoice_paid",
          "invoice_payment_in_progress",
          "invoice_state",
        ),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("param");
      const { merchantId, db } = c.var.merchant;
      const beforehand = () => agentsPayments(desk, db.pool, { merchantId, id: input.id as `inv_${string}` });
      return keyedAfter(c, { input, isRequired: true, beforehand }, async (ctx, payments) => ({
        status: 200,
        body: await voidInvoice(desk, { ctx, input, payments }),
      }));
    },
  });
}

function writeOffOf(desk: InvoiceDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: "/v1/invoices/{id}/mark-uncollectible",
      summary: "Give up on an invoice's money",
      description: "It can still be paid.",
      ...writing,
      request: { headers: RequiredIdempotencyHeader, params: InvoicePath },
      responses: {
        200: json(Invoice, "The invoice, now uncollectible"),
        ...problems(...writeFaults, "not_found", "invoice_state"),
      },
    }),
    handler: (c) => {
      const input = c.req.valid("param");
      return keyed(c, { input, isRequired: true }, async (ctx) => ({
        status: 200,
        body: await writeOff(desk, { ctx, input }),
      }));
    },
  });
}

/** Idempotent by itself, so that it asks for no key. */
function showOf<W extends "list" | "unlist">(desk: InvoiceDesk, word: W) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "post",
      path: `/v1/invoices/{id}/${word}` as const,
      summary:
        word === "list" ? "Show an invoice in the public index" : "Take an invoice out of the public index",
      ...writing,
      request: { params: InvoicePath },
      responses: {
        200: json(Invoice, "The invoice; whoever holds its address can pay it either way"),
        ...problems(...secretKeyFaults, "not_found"),
      },
    }),
    handler: async (c) => {
      const input = { ...c.req.valid("param"), listed: word === "list" };
      return c.json(await setListed(desk, { ctx: c.var.merchant, input }), 200);
    },
  });
}
