/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import { findProducts } from "../../catalog/verbs/find.ts";
import type { MerchantCtx } from "../../http/context.ts";
import { readPage, shownPage } from "../../http/page.ts";
import { PaymentLinkFilter, PaymentLinkPath } from "../../payment-link/schema.ts";
import { linkKinds } from "../../payment-link/state.ts";
import { listLinks, readLink } from "../../payment-link/verbs/read.ts";
import { askedOf, fieldOf, parseQuery, pathAs } from "../form.ts";
import { listShown } from "../payments/listed.ts";
import { productOptions } from "../products/options.ts";
import type { Show } from "../room.tsx";
import type { Desk, Section } from "../section.ts";
import { furnishActs, type LinksDesk } from "./acts.ts";
import { LinkPage } from "./detail.tsx";
import { EditLinkPage, NewLinkPage } from "./form.tsx";
import { LinksPage } from "./list.tsx";

export function linksSection(desk: LinksDesk): Section {
  return {
    place: "links",
    furnish(room) {
      const [link, edit] = [linkOf(desk), editOf(desk)];
      room.page("/dashboard/links", listOf(desk));
      room.page("/dashboard/links/new", create);
      room.page("/dashboard/links/:id", link);
      room.page("/dashboard/links/:id/edit", edit);
      furnishActs(room, desk, { create, link, edit });
    },
  };
}

const PAGE = 25;

function listOf({ links }: LinksDesk): Show {
  return async ({ c, ctx }) => {
    const asked = askedOf(c, ["payable", "listed", "kind"]);
    const filter = parseQuery(PaymentLinkFilter, asked);
    const page = readPage(c, { limit: PAGE, cursor: c.req.query("cursor") }, filter);
    const found = await listLinks(links, { ctx, input: { ...page, ...filter } });
    const list = { asked, now: ctx.now(), ...shownPage(c, page, found, filter) };
    return { title: "Links", body: <LinksPage {...list} /> };
  };
}

/** The kind stands in the address, and in the form when that comes back. */
const create: Show = async ({ c, ctx, refused }) => {
  const asked = (refused && fieldOf(refused.fields, "kind")) ?? c.req.query("kind");
  const kind = linkKinds.find((each) => each === asked) ?? "fixed";
  const products = kind === "cart" ? await productOptions(ctx) : [];
  return {
    title: "New payment link",
    body: <NewLinkPage kind={kind} products={products} product={c.req.query("product")} />,
  };
};

function linkOf({ clearing, links }: LinksDesk): Show {
  return async ({ c, ctx }) => {
    const link = await readLink(links, { ctx, input: pathOf(c) });
    const payments = ctx.scope.permissions.has("payments:read") ? await paymentsOf(c, ctx, clearing) : null;
    const ids = link.lines.map(({ productId }) => productId);
    const products = await findProducts(ctx.db.pool, ctx.merchantId, ids);
    const shown = { link, payments, products, now: ctx.now(), baseUrl: links.baseUrl };
    return {
      title: link.title ?? "Payment link",
      body: <LinkPage {...shown} notice={c.req.query("notice")} />,
    };
  };
}

function paymentsOf(c: Context, ctx: MerchantCtx, clearing: Desk["clearing"]) {
  const { id } = pathOf(c);
  const filter = { paymentLinkId: id };
  const path = `/dashboard/links/${id}`;
  const page = readPage(c, { limit: PAGE, cursor: c.req.query("cursor") }, filter, path);
  return listShown(clearing, { ctx, input: { ...page, ...filter } }).then((found) =>
    shownPage(c, page, found, filter, path),
  );
}

function editOf({ links }: LinksDesk): Show {
  return async ({ c, ctx }) => {
    const link = await readLink(links, { ctx, input: pathOf(c) });
    return { title: "Edit the payment link", body: <EditLinkPage link={link} /> };
  };
}

function pathOf(c: Context) {
  return pathAs(PaymentLinkPath, c.req.param("id"));
}
