import { and, eq, type SQL, sql } from "drizzle-orm";
import { isId, leastIdOf } from "#kernel/id";
import { toArray } from "#store";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import type { Page } from "../../http/page.ts";
import { isMeant } from "../pattern.ts";
import { type EventRow, presentEvent } from "../present.ts";
import type { Event, EventFilter, EventPath } from "../schema.ts";
import { event } from "../tables.ts";

/** Fault: `not_found`, also for another merchant's and for what is older than 90 days. */
export async function readEvent({ ctx, input }: Call<EventPath>): Promise<Event> {
  ctx.demand("events:read");
  const [row] = isId("evt", input.id)
    ? await ctx.db.pool
        .select()
        .from(event)
        .where(and(eq(event.merchantId, ctx.merchantId), eq(event.id, input.id)))
    : [];
  if (!row) throw fault("not_found");
  return presentEvent(row);
}

/** What the merchant was told, in the order in which it became true; one more than the page holds when there are more. */
export async function listEvents(
  types: readonly string[],
  { ctx, input }: Call<Page & EventFilter>,
): Promise<readonly Event[]> {
  ctx.demand("events:read");
  const { types: asked } = input;
  const wanted = asked && types.filter((type) => isMeant(type, asked));
  const conditions = conditionsOf(ctx.merchantId, input);
  const order = input.order === "asc" ? sql`ASC` : sql`DESC`;
  const most = input.limit + 1;
  const ids = wanted
    ? // A page of each type, read off an index: those of a rare one are found among millions of others.
      sql`SELECT found.id, found.sequence FROM unnest(${toArray([...wanted], "text")}) AS wanted(type) CROSS JOIN LATERAL (
        SELECT id, sequence FROM event WHERE ${conditions} AND event.type = wanted.type ORDER BY sequence ${order} LIMIT ${most}) AS found`
    : sql`SELECT id, sequence FROM event WHERE ${conditions}`;
  const rows = await ctx.db.pool
    .select()
    .from(event)
    .where(
      and(
        eq(event.merchantId, ctx.merchantId),
        sql`${event.id} IN (SELECT id FROM (${ids} ORDER BY sequence ${order} LIMIT ${most}) AS page)`,
      ),
    )
    .orderBy(sql`${event.sequence} ${order}`);
  return rows.map((row: EventRow) => presentEvent(row));
}

function conditionsOf(merchantId: string, { after, createdFrom, createdTo, order }: Page & EventFilter): SQL {
  // A cursor whose event was pruned meanwhile was the oldest there was.
  const place = sql`coalesce((SELECT sequence FROM event WHERE merchant_id = ${merchantId} AND id = ${after}), 0)`;
  return sql.join(
    [
      sql`event.merchant_id = ${merchantId}`,
      ...(after === null
        ? []
        : [order === "asc" ? sql`event.sequence > ${place}` : sql`event.sequence < ${place}`]),
      ...(createdFrom === undefined ? [] : [sql`event.id >= ${leastIdOf("evt", new Date(createdFrom))}`]),
      ...(createdTo === undefined ? [] : [sql`event.id < ${leastIdOf("evt", new Date(createdTo))}`]),
    ],
    sql` AND `,
  );
}
