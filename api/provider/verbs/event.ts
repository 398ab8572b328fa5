import { and, eq, isNull, sql } from "drizzle-orm";
import { errorFields } from "#kernel/log";
import { providerEvent } from "../tables.ts";
import { attend } from "./attend.ts";
import type { ProviderDesk } from "./desk.ts";
import { makeDueByReference, takeOne } from "./order.ts";

/** Looks at what an event is about, at its provider, and moves what follows from it; or leaves it due, where somebody
 *  looks already. An event of something that we have no order for fails: our order's number may still be on its way to us,
 *  so it is tried again, and at last left in sight. Throws when it could not be handled. */
export async function handleEvent(
  desk: ProviderDesk,
  named: { readonly provider: string; readonly eventId: string },
): Promise<void> {
  const { db, clock } = desk;
  const isIt = and(eq(providerEvent.provider, named.provider), eq(providerEvent.eventId, named.eventId));
  const [event] = await db.pool
    .select()
    .from(providerEvent)
    .where(and(isIt, isNull(providerEvent.handledAt)));
  if (!event) return;
  try {
    const name = await makeDueByReference(db.pool, { ...event, now: clock.now() });
    if (!name) throw new Error("nothing here is known by this reference");
    const order = await takeOne(db, name, clock.now());
    if (order) await attend(desk, order);
  } catch (error) {
    const { code, message, error: name } = errorFields(error);
    const failure = String(code ?? message ?? name);
    await db.pool
      .update(providerEvent)
      .set({ attempts: sql`${providerEvent.attempts} + 1`, failure })
      .where(isIt);
    throw error;
  }
  await db.pool
    .update(providerEvent)
    .set({ attempts: sql`${providerEvent.attempts} + 1`, failure: null, handledAt: clock.now() })
    .where(isIt);
}
