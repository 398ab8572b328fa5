import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import { isId, leastIdOf } from "#kernel/id";
import { insertMany, type Tx, toArray } from "#store";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault, invalid } from "../../http/faults.ts";
import type { Page } from "../../http/page.ts";
import { isMeant, mustBeKnown } from "../pattern.ts";
import { type EndpointRow, type EventRow, presentDelivery } from "../present.ts";
import type {
  DeliveryFilter,
  Replay,
  Replayed,
  WebhookDelivery,
  WebhookDeliveryPath,
  WebhookEndpointPath,
} from "../schema.ts";
import { advance } from "../state.ts";
import { event, webhookDelivery } from "../tables.ts";
import { findEndpoint, mustBeEnabled } from "./endpoint.ts";

/** What was sent to an endpoint, and is to be, newest first; one more than the page holds when there are more. Fault:
 *  `not_found`. */
export async function listDeliveries({
  ctx,
  input,
}: Call<WebhookEndpointPath & DeliveryFilter & Page>): Promise<readonly WebhookDelivery[]> {
  ctx.demand("webhooks:manage");
  const { pool } = ctx.db;
  const { id: endpointId } = await findEndpoint(pool, ctx, input.id);
  const { merchantId, id, state, eventId } = webhookDelivery;
  const rows = await pool
    .select()
    .from(webhookDelivery)
    .where(
      and(
        eq(merchantId, ctx.merchantId),
        eq(webhookDelivery.endpointId, endpointId),
        input.state && eq(state, input.state),
        input.eventId === undefined ? undefined : eq(eventId, input.eventId as EventRow["id"]),
        input.after === null ? undefined : lt(id, input.after as `whd_${string}`),
      ),
    )
    .orderBy(desc(id))
    .limit(input.limit + 1);
  return rows.map(presentDelivery);
}

/** Has an event sent to an endpoint once more, with all its attempts before it. Faults: `not_found`,
 *  `webhook_endpoint_disabled`. */
export async function redeliver({ ctx, input }: Call<WebhookDeliveryPath>): Promise<WebhookDelivery> {
  ctx.demand("webhooks:manage");
  return ctx.tx(async (tx) => {
    const isIt = and(
      eq(webhookDelivery.merchantId, ctx.merchantId),
      eq(webhookDelivery.id, input.id as `whd_${string}`),
    );
    const [row] = isId("whd", input.id)
      ? await tx.select().from(webhookDelivery).where(isIt).for("update")
      : [];
    if (!row) throw fault("not_found");
    mustBeEnabled(await findEndpoint(tx, ctx, row.endpointId));
    const now = ctx.now();
    const state = advance(row.state, "send-again");
    const [again] = await tx
      .update(webhookDelivery)
      .set({ state, tries: 0, dueAt: now, version: row.version + 1, updatedAt: now })
      .where(isIt)
      .returning();
    if (!again) throw new Error("a delivery that is held is not there");
    return presentDelivery(again);
  });
}

const DAY_MS = 24 * 3_600_000;
const LONGEST_MS = 30 * DAY_MS;
const MOST = 10_000;

/** Has all events of a time sent to an endpoint again, those included that it never was to get but listens to now.
 *  Faults: `not_found`, `validation_failed`, `webhook_endpoint_disabled`, `replay_too_large`. */
export async function replay(
  types: readonly string[],
  { ctx, input }: Call<WebhookEndpointPath & Replay>,
): Promise<Replayed> {
  ctx.demand("webhooks:manage");
  const [from, to] = [new Date(input.from), new Date(input.to)];
  if (ctx.now().getTime() - from.getTime() > LONGEST_MS)
    throw invalid("/from", `at most ${LONGEST_MS / DAY_MS} days ago`);
  if (to <= from) throw invalid("/to", "later than `from`");
  if (input.types) mustBeKnown(input.types, types, "/types");
  return ctx.tx(async (tx) => {
    const endpoint = await findEndpoint(tx, ctx, input.id);
    mustBeEnabled(endpoint);
    const wanted = meantBy(types, endpoint, input.types);
    const events = await eventsOf(tx, ctx, { from, to, types: wanted });
    if (events.length > MOST) throw fault("replay_too_large", { most: MOST });
    if (events.length > 0) await queueAgain(tx, ctx, endpoint, events);
    return { events: events.length };
  });
}

/** Types that the endpoint listens to, and of them those that were asked for. */
function meantBy(
  types: readonly string[],
  { events }: EndpointRow,
  asked: readonly string[] | undefined,
): readonly string[] {
  return types.filter((type) => isMeant(type, events) && (asked === undefined || isMeant(type, asked)));
}

type Again = Pick<EventRow, "id" | "type" | "subject" | "sequence">;

function eventsOf(
  tx: Tx,
  { merchantId }: MerchantCtx,
  { from, to, types }: { readonly from: Date; readonly to: Date; readonly types: readonly string[] },
): Promise<Again[]> {
  const { id, type, subject, sequence } = event;
  return tx
    .select({ id, type, subject, sequence })
    .from(event)
    .where(
      and(
        eq(event.merchantId, merchantId),
        sql`${event.type} = ANY(${toArray([...types], "text")})`,
        gte(event.id, leastIdOf("evt", from)),
        lt(event.id, leastIdOf("evt", to)),
      ),
    )
    .orderBy(sequence)
    .limit(MOST + 1);
}

async function queueAgain(
  tx: Tx,
  ctx: MerchantCtx,
  { merchantId, id: endpointId }: EndpointRow,
  events: readonly Again[],
): Promise<void> {
  const at = ctx.now();
  const rows = events.map(({ id: eventId, type, subject, sequence }) => ({
    ...{ merchantId, id: ctx.newId("whd"), endpointId, eventId, type, subject, sequence },
    ...{ state: "pending" as const, tries: 0, attempts: [], dueAt: at, version: 1 },
    ...{ createdAt: at, updatedAt: at },
  }));
  // Every state may be sent again; see `deliveryTransitions`. Taken in the order of the events, as where attempts are written.
  await tx.execute(sql`${insertMany(webhookDelivery, rows)}
    ON CONFLICT (merchant_id, endpoint_id, event_id) DO UPDATE
    SET state = 'pending', tries = 0, due_at = excluded.due_at, version = webhook_delivery.version + 1, updated_at = excluded.updated_at`);
}
