/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import type { MerchantCtx } from "../../http/context.ts";
import { readPage, shownPage } from "../../http/page.ts";
import { EventFilter } from "../../webhook/schema.ts";
import { listDeliveries } from "../../webhook/verbs/delivery.ts";
import { listEndpoints } from "../../webhook/verbs/endpoint.ts";
import { listEvents, readEvent } from "../../webhook/verbs/event.ts";
import { instantsOf } from "../days.ts";
import { parseQuery } from "../form.ts";
import type { Show } from "../room.tsx";
import type { Desk, Section } from "../section.ts";
import { EventPage, EventsPage, type Sent } from "./view.tsx";

const PATH = "/dashboard/events";
const PAGE = 25;

/** All that the merchant was told. */
export function eventsSection({ post }: Pick<Desk, "post">): Section {
  return {
    place: "events",
    furnish(room) {
      room.page(PATH, listOf(post.allTypes));
      room.page(`${PATH}/:id`, show);
    },
  };
}

function listOf(types: readonly string[]): Show {
  return async ({ c, ctx }) => {
    const asked = asksFor(c);
    const { from: createdFrom, to: createdTo } = instantsOf(asked);
    const filter = parseQuery(EventFilter, {
      types: asked.types?.replaceAll(" ", ""),
      createdFrom,
      createdTo,
    });
    const page = readPage(c, { limit: PAGE, cursor: c.req.query("cursor") }, asked);
    const found = await listEvents(types, { ctx, input: { ...page, ...filter } });
    const { rows, next } = shownPage(c, page, found, asked);
    return { title: "Events", body: <EventsPage filter={asked} rows={rows} next={next} /> };
  };
}

function asksFor(c: Context) {
  const given = (name: string) => c.req.query(name)?.trim() || undefined;
  return { types: given("types"), from: given("from"), to: given("to") };
}

const show: Show = async ({ c, ctx }) => {
  const event = await readEvent({ ctx, input: { id: c.req.param("id") ?? "" } });
  const sent = ctx.scope.permissions.has("webhooks:manage") ? await sentTo(ctx, event.id) : [];
  return { title: event.type, body: <EventPage of={event} sent={sent} /> };
};

/** Where it went: a merchant has few endpoints. */
async function sentTo(ctx: MerchantCtx, eventId: string): Promise<readonly Sent[]> {
  const endpoints = await listEndpoints({ ctx, input: {} });
  const found = await Promise.all(
    endpoints.map(async (endpoint) => {
      const input = { id: endpoint.id, eventId, limit: 1, after: null };
      const [delivery] = await listDeliveries({ ctx, input });
      return delivery ? [{ endpoint, delivery }] : [];
    }),
  );
  return found.flat();
}
