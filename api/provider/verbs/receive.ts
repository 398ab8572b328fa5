import { fromBytes } from "#kernel/bytes";
import type { NewId } from "#kernel/id";
import { type Database, outbox } from "#store";
import type { VerifiedEvent } from "../port.ts";
import { providerEvent } from "../tables.ts";

/** What the inbox tells of a new event; its subject is `provider event-id`. */
export const EVENT_RECEIVED = "provider.event_received";

/** Keeps events that have not come before and tells of them, in one transaction: who answers 200 afterwards does not
 *  lose any. Returns how many were new. */
export async function receive(
  { db, newId, now }: { readonly db: Database; readonly newId: NewId; readonly now: () => Date },
  {
    provider,
    raw,
    events,
  }: { readonly provider: string; readonly raw: Uint8Array; readonly events: readonly VerifiedEvent[] },
): Promise<number> {
  if (events.length === 0) return 0;
  const common = { provider, body: fromBytes(raw), receivedAt: now() };
  return db.tx(async (tx) => {
    const kept = await tx
      .insert(providerEvent)
      .values(events.map(({ id, type, reference }) => ({ ...common, eventId: id, type, reference })))
      .onConflictDoNothing()
      .returning({ eventId: providerEvent.eventId });
    await outbox.append(
      tx,
      kept.map(({ eventId }) => ({
        id: newId("evt"),
        type: EVENT_RECEIVED,
        subject: eventId,
        // Whose it is, is not known before the provider was read.
        merchantId: "",
        payload: { provider, eventId },
      })),
    );
    return kept.length;
  });
}
