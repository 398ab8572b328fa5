/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import type { MerchantCtx } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { Replay } from "../../webhook/schema.ts";
import { listDeliveries, redeliver, replay } from "../../webhook/verbs/delivery.ts";
import { type Post, readEndpoint } from "../../webhook/verbs/endpoint.ts";
import { readEvent } from "../../webhook/verbs/event.ts";
import { parseFields } from "../form.ts";
import { asInstant, asSomeLines } from "../readings.ts";
import type { Room, Show } from "../room.tsx";
import { DeliveryPage } from "./delivery.tsx";

const PATH = "/dashboard/webhooks";
const namesOf = (c: Context) => ({ id: c.req.param("id") ?? "", eventId: c.req.param("eventId") ?? "" });

/** What was sent to an endpoint: one of it, again, and all of a time. */
export function deliveries(
  room: Room,
  { post, endpoint }: { readonly post: Post; readonly endpoint: Show },
): void {
  const path = `${PATH}/:id/deliveries/:eventId`;
  room.page(path, show);
  room.action({
    path: `${path}/redeliver`,
    read: namesOf,
    beforehand: findDelivery,
    async act(ctx, { id, eventId }, delivery) {
      await redeliver({ ctx, input: { id: delivery.id } });
      return `${PATH}/${id}/deliveries/${eventId}?done=queued`;
    },
    again: show,
  });
  room.action({
    path: `${PATH}/:id/replay`,
    read: (c, fields) => ({
      id: namesOf(c).id,
      ...parseFields(Replay, fields, {}, { from: asInstant, to: asInstant, types: asSomeLines }),
    }),
    async act(ctx, input) {
      const { events } = await replay(post.types, { ctx, input });
      return `${PATH}/${input.id}?done=${events > 0 ? "replayed" : "replayed-none"}`;
    },
    again: endpoint,
  });
}

const show: Show = async ({ c, ctx }) => {
  const names = namesOf(c);
  const delivery = await findDelivery(ctx, names);
  const { enabled } = await readEndpoint({ ctx, input: { id: names.id } });
  // Deliveries are kept for less long than events, so it is there.
  const maySee = ctx.scope.permissions.has("events:read");
  const event = maySee ? await readEvent({ ctx, input: { id: delivery.eventId } }) : null;
  const body = <DeliveryPage of={delivery} isEnabled={enabled} event={event} done={c.req.query("done")} />;
  return { title: delivery.type, body };
};

/** The delivery of an event to an endpoint. Fault: `not_found`. */
async function findDelivery(ctx: MerchantCtx, input: ReturnType<typeof namesOf>) {
  const [found] = await listDeliveries({ ctx, input: { ...input, limit: 1, after: null } });
  if (!found) throw fault("not_found");
  return found;
}
