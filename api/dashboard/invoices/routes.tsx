/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import { isId } from "#kernel/id";
import { listCustomers, readCustomer } from "../../customer/verbs.ts";
import type { MerchantCtx } from "../../http/context.ts";
import { readPage, shownPage } from "../../http/page.ts";
import { InvoiceFilter, InvoicePath } from "../../invoice/schema.ts";
import { listInvoices, readInvoice } from "../../invoice/verbs/read.ts";
import { refundsOfInvoice } from "../../invoice/verbs/refunds.ts";
import { undeliveredOfInvoice } from "../../mail/verbs/undelivered.ts";
import { askedOf, parseQuery, pathAs } from "../form.ts";
import { listShown } from "../payments/listed.ts";
import { productOptions } from "../products/options.ts";
import type { Room, Show } from "../room.tsx";
import type { Section } from "../section.ts";
import { furnishActs, type InvoicesDesk } from "./acts.ts";
import { asks, ConfirmPage, type Grave } from "./confirm.tsx";
import { InvoicePage } from "./detail.tsx";
import { DraftFormPage } from "./draft-form.tsx";
import { IssuedFormPage } from "./issued-form.tsx";
import { InvoicesPage } from "./list.tsx";

const PATH = "/dashboard/invoices";

export function invoicesSection(desk: InvoicesDesk): Section {
  return {
    place: "invoices",
    furnish(room) {
      const shows = { create, invoice: invoiceOf(desk), edit: editOf(desk), confirm: confirmOf(desk) };
      room.page(PATH, listOf(desk));
      room.page(`${PATH}/new`, shows.create);
      room.page(`${PATH}/:id`, shows.invoice);
      room.page(`${PATH}/:id/edit`, shows.edit);
      confirmPages(room, shows.confirm);
      furnishActs(room, desk, shows);
    },
  };
}

function confirmPages(room: Room, confirm: (grave: Grave) => Show): void {
  for (const grave of Object.keys(asks) as Grave[]) room.page(`${PATH}/:id/${grave}`, confirm(grave));
}

const PAGE = 25;

function listOf({ invoices }: InvoicesDesk): Show {
  return async ({ c, ctx }) => {
    const asked = askedOf(c, ["status", "find"]);
    const { find, ...shown } = asked;
    if (find !== undefined && isId("inv", find)) return c.redirect(`${PATH}/${find}`, 303);
    const filter = parseQuery(InvoiceFilter, { ...shown, ...findBy(find) });
    const page = readPage(c, { limit: PAGE, cursor: c.req.query("cursor") }, filter);
    const found = await listInvoices(invoices, { ctx, input: { ...page, ...filter } });
    return { title: "Invoices", body: <InvoicesPage asked={asked} {...shownPage(c, page, found, filter)} /> };
  };
}

function findBy(text: string | undefined) {
  if (text === undefined) return {};
  return text.includes("@") ? { buyerEmail: text } : { number: text };
}

const MOST_CUSTOMERS = 200;

const create: Show = async ({ c, ctx }) => {
  const asked = c.req.query("customer");
  const mayRead = ctx.scope.permissions.has("customers:read");
  const [products, customers, customer] = await Promise.all([
    productOptions(ctx),
    mayRead ? listCustomers({ ctx, input: { limit: MOST_CUSTOMERS, after: null } }) : [],
    asked ? readCustomer({ ctx, input: { id: asked } }) : null,
  ]);
  return {
    title: "New invoice",
    body: <DraftFormPage products={products} customers={customers} customer={customer} />,
  };
};

function invoiceOf({ clearing, invoices }: InvoicesDesk): Show {
  return async ({ c, ctx }) => {
    const invoice = await readInvoice(invoices, { ctx, input: pathOf(c) });
    const of = { invoiceId: invoice.id };
    const payments = ctx.scope.permissions.has("payments:read")
      ? await listShown(clearing, { ctx, input: { ...of, limit: 100, after: null } })
      : [];
    const customerId = await customerOf(ctx, invoice.buyer.email);
    const mails = await undeliveredOfInvoice({ ctx, input: { id: invoice.id } });
    const { baseUrl } = invoices;
    const refunds = await refundsOfInvoice({ ctx, input: { id: invoice.id } });
    const shown = { invoice, refunds, payments, customerId, mails, baseUrl, notice: c.req.query("notice") };
    return { title: `Invoice ${invoice.number ?? "draft"}`, body: <InvoicePage {...shown} /> };
  };
}

/** The customer that a buyer is, by their email. */
async function customerOf(ctx: MerchantCtx, email: string | null): Promise<string | null> {
  if (email === null || !ctx.scope.permissions.has("customers:read")) return null;
  const [found] = await listCustomers({ ctx, input: { email, limit: 1, after: null } });
  return found?.id ?? null;
}

function editOf({ invoices }: InvoicesDesk): Show {
  return async ({ c, ctx }) => {
    const invoice = await readInvoice(invoices, { ctx, input: pathOf(c) });
    if (invoice.state !== "draft")
      return { title: "Edit the invoice", body: <IssuedFormPage invoice={invoice} /> };
    const products = await productOptions(ctx);
    return { title: "Edit the draft", body: <DraftFormPage invoice={invoice} products={products} /> };
  };
}

function confirmOf({ invoices }: InvoicesDesk) {
  return (grave: Grave): Show =>
    async ({ c, ctx }) => {
      const invoice = await readInvoice(invoices, { ctx, input: pathOf(c) });
      return { title: asks[grave].title, body: <ConfirmPage invoice={invoice} grave={grave} /> };
    };
}

function pathOf(c: Context) {
  return pathAs(InvoicePath, c.req.param("id"));
}
