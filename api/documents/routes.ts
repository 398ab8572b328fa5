import { createRoute, defineOpenAPIRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { PaymentPath } from "../clearing/schema.ts";
import { findPayment } from "../clearing/verbs/payment.ts";
import { openCors, PRIVATE } from "../http/headers.ts";
import { json, keyless, keylessFaults, problems, secretKey, secretKeyFaults } from "../http/route.ts";
import { InvoicePath } from "../invoice/schema.ts";
import { refundsOf as refundsOfInvoice } from "../invoice/verbs/money.ts";
import { findInvoice } from "../invoice/verbs/move.ts";
import { findByAddress, type InvoiceRow } from "../invoice/verbs/read.ts";
import { sellerOf } from "../invoice/verbs/seller.ts";
import { letterheadOf } from "../merchant/verbs/brand.ts";
import { findMerchant } from "../merchant/verbs/merchant.ts";
import { type IntentRow, openIntent } from "../payment-intent/verbs/read.ts";
import { inTurn } from "./in-turn.ts";
import { invoicePdf } from "./invoice.ts";
import { isOfInvoice } from "./lines.ts";
import type { Drawn } from "./page.ts";
import { paymentRequestPdf } from "./payment-request.ts";
import { receiptPdf } from "./receipt.ts";
import { type Refunded, refundedOf, refundsOf } from "./refunded.ts";
import { SignedProof } from "./schema.ts";
import { proofOf, readSettled, type Settled } from "./settled.ts";
import { type ProofDesk, readProof } from "./verbs.ts";

const PDF = "application/pdf";
/** Clients that ask every path for JSON get the PDF as well: there is nothing else to choose. */
const produces = [PDF, "application/json"];
const tags = ["documents"];
const reading = { tags, ...secretKey({ permission: "payments:read", produces }) };
const pdf = (description: string) => ({
  description,
  content: { [PDF]: { schema: z.string().openapi({ format: "binary" }) } },
});

/** What is printed of payments, and what proves them. Source: interface §4, merchant-api.md §7. */
export function documentRoutes(room: ProofDesk) {
  return [
    invoiceOf(room),
    printedInvoice(room),
    receiptOf(room),
    proofRoute(room),
    ...payersCopies(room),
    openInvoicePdf(room),
  ] as const;
}

function invoiceOf(room: ProofDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payments/{id}/invoice.pdf",
      summary: "The invoice of a payment; a payment request where it has none",
      ...reading,
      request: { params: PaymentPath },
      responses: { 200: pdf("PDF"), ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) => {
      const { merchantId, db } = c.var.merchant;
      const { intent } = await findPayment(db.pool, merchantId, c.req.valid("param").id);
      return askedWith(c, room, intent, { isForBuyer: true });
    },
  });
}

function printedInvoice(room: ProofDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/invoices/{id}/invoice.pdf",
      summary: "An invoice as PDF",
      tags,
      ...secretKey({ permission: "invoices:read", produces }),
      request: { params: InvoicePath },
      responses: { 200: pdf("PDF"), ...problems(...secretKeyFaults, "not_found") },
    }),
    handler: async (c) => {
      const { merchantId, db } = c.var.merchant;
      const row = await findInvoice(db.pool, { merchantId, id: c.req.valid("param").id });
      return printed(c, room, row, { isForBuyer: true });
    },
  });
}

function receiptOf(room: ProofDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payments/{id}/receipt.pdf",
      summary: "The receipt of a completed payment, with its settlement proof",
      ...reading,
      request: { params: PaymentPath },
      responses: { 200: pdf("PDF"), ...problems(...secretKeyFaults, "not_found", "receipt_not_available") },
    }),
    handler: async (c) => {
      const { merchantId, db } = c.var.merchant;
      const settled = await readSettled(room, db.pool, { merchantId, id: c.req.valid("param").id });
      return receipt(c, room, settled, { tellsPayer: true });
    },
  });
}

function proofRoute(room: ProofDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/v1/payments/{id}/proof.json",
      summary: "The settlement proof of a completed payment, signed",
      tags,
      ...secretKey({ permission: "payments:read" }),
      request: { params: PaymentPath },
      responses: {
        200: json(SignedProof, "The proof; `farebox proof verify` checks it"),
        ...problems(...secretKeyFaults, "not_found", "receipt_not_available"),
      },
    }),
    handler: async (c) =>
      c.json(await readProof(room, { ctx: c.var.merchant, input: c.req.valid("param") }), 200),
  });
}

/** The same for who holds the address of a payment's page: its payer. */
function payersCopies(room: ProofDesk) {
  const shared = {
    method: "get" as const,
    tags,
    ...keyless({ limit: "checkout", produces }),
    request: { params: PaymentPath },
  };
  const received = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...shared,
      path: "/checkout/{id}/receipt.pdf",
      summary: "The receipt, for who paid",
      responses: { 200: pdf("PDF"), ...problems(...keylessFaults, "not_found", "receipt_not_available") },
    }),
    handler: async (c) => {
      const { pool } = c.var.edge.db;
      const { merchantId, id } = await openIntent(pool, c.req.valid("param").id);
      const settled = await readSettled(room, pool, { merchantId, id });
      // Anybody who found an invoice in the index is given the address of its payment, which its buyer may pay then. Even
      // when it is not listed any more, the address says nothing of who paid.
      return receipt(c, room, settled, { tellsPayer: !isOfInvoice(settled.intent) });
    },
  });
  const asked = defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      ...shared,
      path: "/checkout/{id}/invoice.pdf",
      summary: "The invoice or the payment request, for who pays",
      responses: { 200: pdf("PDF"), ...problems(...keylessFaults, "not_found") },
    }),
    handler: async (c) =>
      askedWith(c, room, await openIntent(c.var.edge.db.pool, c.req.valid("param").id), {
        isForBuyer: false,
      }),
  });
  return [received, asked] as const;
}

function openInvoicePdf(room: ProofDesk) {
  return defineOpenAPIRoute({
    addRoute: true,
    route: createRoute({
      method: "get",
      path: "/invoices/{id}/invoice.pdf",
      summary: "An invoice, for who holds its address",
      tags,
      ...keyless({ limit: "checkout", produces }),
      request: { params: InvoicePath },
      responses: { 200: pdf("PDF"), ...problems(...keylessFaults, "not_found") },
    }),
    handler: async (c) => {
      const row = await findByAddress(
        { db: c.var.edge.db, facilitator: room.facilitator },
        c.req.valid("param").id,
      );
      return printed(c, room, row, { isForBuyer: !row.wasListed });
    },
  });
}

/** What a payer was asked with. An invoice that is or was listed may have been found by anybody: then nothing is told of its buyer, save to its
 *  merchant. */
async function askedWith(
  c: Context,
  room: ProofDesk,
  intent: IntentRow,
  { isForBuyer }: { readonly isForBuyer: boolean },
) {
  const { merchantId } = intent;
  const { invoiceId } = intent.metadata;
  if (invoiceId === undefined || !isOfInvoice(intent)) {
    const drawn = { ...(await drawnFor(c, room, merchantId)), refunded: await refundedFrom(c, intent) };
    return sent(c, () => paymentRequestPdf(intent, drawn), `payment-request-${intent.id}`);
  }
  const row = await findInvoice(c.var.edge.db.pool, { merchantId, id: invoiceId });
  return printed(c, room, row, { isForBuyer: isForBuyer || !row.wasListed });
}

async function refundedFrom(c: Context, { merchantId, id, status }: IntentRow): Promise<Refunded | null> {
  if (status !== "completed") return null;
  const { pool } = c.var.edge.db;
  const { clearing } = await findPayment(pool, merchantId, id);
  return clearing && refundedOf(clearing, await refundsOf(pool, clearing));
}

async function printed(
  c: Context,
  room: ProofDesk,
  row: InvoiceRow,
  { isForBuyer }: { readonly isForBuyer: boolean },
) {
  const drawn = await drawnFor(c, room, row.merchantId);
  const refunds = await refundsOfInvoice(c.var.edge.db.pool, row);
  const shown = row.state === "draft" ? await asIssuedNow(c, row) : row;
  return sent(c, () => invoicePdf(shown, { ...drawn, isForBuyer, refunds }), row.number ?? row.id);
}

/** A draft is looked over before it is issued, so it shows the seller that it would freeze. */
async function asIssuedNow(c: Context, row: InvoiceRow): Promise<InvoiceRow> {
  return { ...row, ...sellerOf(await findMerchant(c.var.edge.db.pool, row.merchantId)) };
}

async function receipt(
  c: Context,
  room: ProofDesk,
  settled: Settled,
  { tellsPayer }: { readonly tellsPayer: boolean },
) {
  const signed = room.key.sign(proofOf(room, settled));
  const drawn = await drawnFor(c, room, settled.intent.merchantId);
  const draw = () => receiptPdf(settled, signed, { ...drawn, tellsPayer });
  return sent(c, draw, `receipt-${settled.intent.id}`);
}

async function drawnFor(c: Context, { baseUrl }: ProofDesk, merchantId: string): Promise<Drawn> {
  return { baseUrl, head: await letterheadOf(c.var.edge.db.pool, merchantId) };
}

/** The key that proofs are signed with, for whoever checks one. */
export function mountProofKey(app: OpenAPIHono, { key }: Pick<ProofDesk, "key">): void {
  app.get("/.well-known/farebox-proof-key", openCors, (c) =>
    c.json({ algorithm: "Ed25519", publicKey: key.publicKey }),
  );
}

async function sent(c: Context, draw: () => Promise<Uint8Array>, name: string) {
  const bytes = await inTurn(c, draw);
  return c.body(bytes as Uint8Array<ArrayBuffer>, 200, {
    "Content-Type": PDF,
    // Proxies take what ends in .pdf for anybody's: it names who buys.
    "Cache-Control": PRIVATE,
    "Content-Disposition": `inline; filename="${name}.pdf"`,
  });
}
