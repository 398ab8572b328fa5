import { and, eq, isNull, sql } from "drizzle-orm";
import { assert } from "#kernel/fault";
import { type NewId, timeOf } from "#kernel/id";
import { fixed, insertMany, isAnyOf, type outbox, type Tx } from "#store";
import type { EventFamily, Telling, TellMerchants } from "../http/event.ts";
import { PING } from "./events.ts";
import { isMeant } from "./pattern.ts";
import type { EndpointRow } from "./present.ts";
import { type EventData, event, webhookDelivery, webhookEndpoint } from "./tables.ts";

interface Writing {
  readonly newId: NewId;
  /** By the merchants' clock. */
  readonly now: () => Date;
  /** The current revision: what families present is in its shape. */
  readonly apiVersion: string;
}
interface Hearing extends Writing {
  readonly families: readonly EventFamily[];
}
type Written = Pick<typeof event.$inferSelect, "merchantId" | "id" | "type" | "subject" | "sequence">;

/** Writes down what merchants are told, and queues it for those who listen, in the transaction that delivers the facts.
 *  Hundreds of facts cost as many statements as one. Told twice, written once. */
export function webhookHearer(hearing: Hearing) {
  const familyOf = new Map(hearing.families.flatMap((each) => each.types.map((type) => [type, each])));
  const tell = merchantTeller(hearing);
  return async (tx: Tx, facts: readonly outbox.ToldFact[]): Promise<void> => {
    const told = facts.filter(({ type }) => familyOf.has(type));
    if (told.length > 0) await tell(tx, await present(tx, hearing, told));
  };
}

/** Writes down what merchants are told, for those who have at hand what it is about. */
export function merchantTeller(writing: Writing): TellMerchants {
  return async (tx, tellings) => {
    const written = await writeEvents(tx, writing, tellings);
    if (written.length > 0) await fanOut(tx, writing, written);
  };
}

/** One call for each family. What is gone is not told of. */
async function present(
  tx: Tx,
  { families }: Hearing,
  facts: readonly outbox.ToldFact[],
): Promise<readonly Telling[]> {
  const all: Telling[] = [];
  for (const family of families) {
    const mine = facts.filter(({ type }) => family.types.includes(type));
    if (mine.length === 0) continue;
    const objects = await family.present(tx, mine);
    assert(objects.length === mine.length, "a family presents as many objects as it was given facts");
    for (const [i, fact] of mine.entries()) {
      const object = objects[i];
      if (object) all.push({ fact, object });
    }
  }
  return all;
}

async function writeEvents(
  tx: Tx,
  { now, apiVersion }: Writing,
  tellings: readonly Telling[],
): Promise<readonly Written[]> {
  if (tellings.length === 0) return [];
  const createdAt = now();
  const rows = tellings.map(({ fact, object }) => {
    const { id, merchantId, type, subject, sequence, payload } = fact;
    const data: EventData = { object, previous: previousIn(payload) };
    return { merchantId, id, type, subject, sequence, data, apiVersion, occurredAt: timeOf(id), createdAt };
  });
  const { rows: fresh } = await tx.execute<{ id: string }>(
    sql`${insertMany(event, rows)} ON CONFLICT DO NOTHING RETURNING id`,
  );
  const isFresh = new Set(fresh.map(({ id }) => id));
  return rows.filter(({ id }) => isFresh.has(id)).sort((a, b) => a.sequence - b.sequence);
}

function previousIn({ previous }: outbox.Fact["payload"]): object | null {
  return typeof previous === "object" ? previous : null;
}

type Listener = Pick<EndpointRow, "merchantId" | "id" | "events">;

/** A row for each event and endpoint that listens to it. */
async function fanOut(tx: Tx, { newId, now }: Writing, events: readonly Written[]): Promise<void> {
  const listeners = await listenersOf(tx, [...new Set(events.map(({ merchantId }) => merchantId))]);
  const at = now();
  const rows = events.flatMap(({ merchantId, id: eventId, type, subject, sequence }) =>
    (listeners.get(merchantId) ?? [])
      .filter((listener) => (type === PING ? listener.id === subject : isMeant(type, listener.events)))
      .map(({ id: endpointId }) => ({
        ...{ merchantId, id: newId("whd"), endpointId, eventId, type, subject, sequence },
        ...{ state: "pending" as const, tries: 0, attempts: [], dueAt: at, version: 1 },
        ...{ createdAt: at, updatedAt: at },
      })),
  );
  if (rows.length > 0) await tx.execute(sql`${insertMany(webhookDelivery, rows)} ON CONFLICT DO NOTHING`);
}

async function listenersOf(
  tx: Tx,
  merchants: readonly string[],
): Promise<ReadonlyMap<string, readonly Listener[]>> {
  const { merchantId, id, events, enabled, deletedAt } = webhookEndpoint;
  const found = await tx
    .select({ merchantId, id, events })
    .from(webhookEndpoint)
    .where(and(isAnyOf(merchantId, merchants), fixed(eq(enabled, true)), isNull(deletedAt)));
  const byMerchant = new Map<string, Listener[]>();
  for (const listener of found)
    byMerchant.set(listener.merchantId, [...(byMerchant.get(listener.merchantId) ?? []), listener]);
  return byMerchant;
}
