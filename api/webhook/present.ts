import type { Event, WebhookDelivery, WebhookEndpoint } from "./schema.ts";
import type { event, webhookDelivery, webhookEndpoint } from "./tables.ts";

export type EventRow = typeof event.$inferSelect;
export type EndpointRow = typeof webhookEndpoint.$inferSelect;
export type DeliveryRow = typeof webhookDelivery.$inferSelect;

/** As it is listed and delivered. */
export function presentEvent(
  row: Pick<EventRow, "id" | "type" | "occurredAt" | "apiVersion" | "sequence" | "data">,
): Event {
  const { object, previous } = row.data;
  return {
    id: row.id,
    type: row.type,
    timestamp: row.occurredAt.toISOString(),
    apiVersion: row.apiVersion,
    sequence: row.sequence,
    data: { object: { ...object }, previous: previous && { ...previous } },
  };
}

/** Without its secrets. */
export function presentEndpoint(row: EndpointRow): WebhookEndpoint {
  return {
    id: row.id,
    url: row.url,
    events: [...row.events],
    description: row.description,
    enabled: row.enabled,
    disabledReason: row.disabledReason,
    disabledAt: row.disabledAt?.toISOString() ?? null,
    apiVersion: row.apiVersion,
    failingSince: row.failingSince?.toISOString() ?? null,
    lastSuccessAt: row.lastSuccessAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

export function presentDelivery(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    webhookEndpointId: row.endpointId,
    eventId: row.eventId,
    type: row.type,
    sequence: row.sequence,
    state: row.state,
    attempts: [...row.attempts],
    response: row.response,
    nextAttemptAt: row.dueAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
