import { and, eq, getTableColumns, isNull, sql } from "drizzle-orm";
import { type Database, decodeRows, fixed, toArray } from "#store";
import type { DeliveryRow, EndpointRow, EventRow } from "./present.ts";
import { QUICK_PAUSE_MS } from "./schedule.ts";
import { event, webhookDelivery, webhookEndpoint } from "./tables.ts";

/** A process that dies is noticed after so long; longer than any attempt takes. */
export const LEASE_SECONDS = 30;

const lease = sql`now() + make_interval(secs => ${LEASE_SECONDS})`;

/** Takes up to `limit` endpoints that something is due to, for this process alone, those first that were served longest
 *  ago. Walks from one endpoint with pending deliveries to the next, so that a long queue of one costs no more than a
 *  short one. */
export async function takeEndpoints(
  { pool }: Database,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<readonly EndpointRow[]> {
  const { rows } = await pool.execute(sql`
    WITH RECURSIVE waiting AS (
      (SELECT merchant_id, endpoint_id FROM webhook_delivery WHERE state = 'pending' ORDER BY merchant_id, endpoint_id LIMIT 1)
      UNION ALL SELECT next.merchant_id, next.endpoint_id FROM waiting CROSS JOIN LATERAL (
        SELECT merchant_id, endpoint_id FROM webhook_delivery
        WHERE state = 'pending' AND (merchant_id, endpoint_id) > (waiting.merchant_id, waiting.endpoint_id)
        ORDER BY merchant_id, endpoint_id LIMIT 1) AS next
    ), free AS (
      SELECT place.merchant_id, place.id FROM waiting JOIN webhook_endpoint AS place
        ON place.merchant_id = waiting.merchant_id AND place.id = waiting.endpoint_id
      WHERE place.enabled AND place.deleted_at IS NULL AND (place.leased_until IS NULL OR place.leased_until <= now())
        AND EXISTS (SELECT 1 FROM webhook_delivery AS due WHERE due.merchant_id = place.merchant_id
          AND due.endpoint_id = place.id AND due.state = 'pending' AND due.due_at <= ${now.toISOString()})
      ORDER BY place.leased_until NULLS FIRST LIMIT ${limit} FOR NO KEY UPDATE OF place SKIP LOCKED
    )
    UPDATE webhook_endpoint SET leased_until = ${lease}, lease = lease + 1 FROM free
    WHERE webhook_endpoint.merchant_id = free.merchant_id AND webhook_endpoint.id = free.id
    RETURNING webhook_endpoint.*`);
  return decodeRows(getTableColumns(webhookEndpoint), rows);
}

/** Holds an endpoint longer, and tells how it is now; null when it was lost, disabled or deleted. */
export async function keepEndpoint({ pool }: Database, held: EndpointRow): Promise<EndpointRow | null> {
  const [row] = await pool
    .update(webhookEndpoint)
    .set({ leasedUntil: lease })
    .where(
      and(isHeld(held), fixed(eq(webhookEndpoint.enabled, true)), sql`${webhookEndpoint.deletedAt} IS NULL`),
    )
    .returning();
  return row ?? null;
}

/** Lets go of it: it is free at once, and the last in turn. */
export async function leaveEndpoint({ pool }: Database, held: EndpointRow): Promise<void> {
  // Kept to the millisecond, a moment is rounded: half of them would be ahead.
  const now = sql`date_trunc('milliseconds', now())`;
  await pool.update(webhookEndpoint).set({ leasedUntil: now }).where(isHeld(held));
}

/** Where an endpoint is by now; null when it is deleted. */
export async function urlOf(
  { pool }: Database,
  { merchantId, id }: Pick<EndpointRow, "merchantId" | "id">,
): Promise<string | null> {
  const { url, deletedAt, merchantId: owner, id: own } = webhookEndpoint;
  const [row] = await pool
    .select({ url })
    .from(webhookEndpoint)
    .where(and(eq(owner, merchantId), eq(own, id), isNull(deletedAt)));
  return row?.url ?? null;
}

function isHeld({ merchantId, id, lease: count }: EndpointRow) {
  return and(
    eq(webhookEndpoint.merchantId, merchantId),
    eq(webhookEndpoint.id, id),
    eq(webhookEndpoint.lease, count),
  );
}

/** A delivery to make, with its event. */
export interface Due {
  readonly delivery: DeliveryRow;
  readonly event: EventRow;
}

/** How many of those that are due longest are looked through, for each one asked for: many may be of the same thing. */
const LOOKED_THROUGH = 8;

/** What is due to an endpoint, save what this process has in hand. Of one thing the first event goes first: a later one
 *  waits while an earlier one is due, or is tried again within seconds; not longer, or one that is refused, or that the
 *  endpoint wants later, would hold up all that follow. */
export async function readDue(
  { pool }: Database,
  { merchantId, id }: Pick<EndpointRow, "merchantId" | "id">,
  { now, inHand, limit }: { readonly now: Date; readonly inHand: readonly string[]; readonly limit: number },
): Promise<readonly Due[]> {
  const at = now.toISOString();
  const quick = sql`make_interval(secs => ${QUICK_PAUSE_MS / 1_000})`;
  const isNotInHand = sql`id <> ALL(${toArray([...inHand], "text")})`;
  const pending = sql`SELECT * FROM webhook_delivery WHERE merchant_id = ${merchantId} AND endpoint_id = ${id} AND state = 'pending'`;
  const early = sql`${pending} AND due_at <= ${at} AND ${isNotInHand} ORDER BY due_at, sequence LIMIT ${LOOKED_THROUGH * limit}`;
  // Each thing is asked once for its first event, however many of it wait. The order is that of the index which is meant.
  const page = sql`SELECT merchant_id, id FROM (
      SELECT subject, min(due_at) AS since, min(sequence) AS place FROM (${early}) AS early GROUP BY subject ORDER BY since, place
    ) AS thing CROSS JOIN LATERAL (
      ${pending} AND webhook_delivery.subject = thing.subject AND (due_at <= ${at} OR due_at - updated_at <= ${quick})
      ORDER BY sequence LIMIT 1
    ) AS first WHERE due_at <= ${at} AND ${isNotInHand} ORDER BY since, place LIMIT ${limit}`;
  return pool
    .select({ delivery: webhookDelivery, event })
    .from(webhookDelivery)
    .innerJoin(
      sql`(${page}) AS page`,
      sql`(${webhookDelivery.merchantId}, ${webhookDelivery.id}) = (page.merchant_id, page.id)`,
    )
    .innerJoin(
      event,
      and(eq(event.merchantId, webhookDelivery.merchantId), eq(event.id, webhookDelivery.eventId)),
    )
    .orderBy(webhookDelivery.dueAt, webhookDelivery.sequence);
}
