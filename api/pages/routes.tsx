/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { fault } from "../http/faults.ts";
import { openAssets } from "./assets.ts";
import { brandAsset } from "./routes/brand.ts";
import { mountCheckout, showCheckout } from "./routes/checkout.tsx";
import { mountInvoice } from "./routes/invoice.tsx";
import { isLink, mountLink, showLink } from "./routes/link.tsx";
import { mountRefund } from "./routes/refund.tsx";
import { type Counter, forPeople, type PageDesk, page, whole } from "./serve.tsx";
import { createStreams } from "./streams.ts";
import { marksOf, openStatus } from "./verbs/checkout.ts";
import { LandingPage } from "./view/landing.tsx";
import { speechOf } from "./words/index.ts";

/** Pages for people, at addresses that never move. `drain` ends the streams. Source: interface §9.6, merchant-api.md §7. */
export function mountPages(app: OpenAPIHono, desk: PageDesk): { readonly drain: () => void } {
  const { clearing, clock } = desk;
  const streams = createStreams({
    marks: (named) => marksOf(clearing.db.pool, named),
    read: (id) => openStatus(clearing, id),
    clock,
    log: clearing.log,
  });
  const leaving = new AbortController();
  const counter: Counter = { ...desk, assets: openAssets(), streams, leaving: leaving.signal };
  app.get(
    "/assets/:name",
    async (c) => (await counter.assets.answer(c)) ?? (await brandAsset(c, clearing.db.pool)) ?? notFound(),
  );
  app.get(
    "/",
    page(counter, (c) => showLanding(c, counter)),
  );
  app.get(
    "/checkout/:id",
    forPeople(counter, (c) => (isLink(c) ? showLink(c, counter) : showCheckout(c, counter))),
  );
  mountCheckout(app, counter);
  mountLink(app, counter);
  mountRefund(app, counter);
  mountInvoice(app, counter);
  return { drain: () => leaving.abort() };
}

function notFound(): never {
  throw fault("not_found");
}

async function showLanding(c: Context, { assets, edge }: Counter): Promise<Response> {
  const speech = speechOf(c.req.header("accept-language"));
  const shown = { speech, assets: await assets.addresses(), isSandbox: edge.isSandbox };
  return whole(c, <LandingPage {...shown} />);
}
