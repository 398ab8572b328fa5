/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Event, WebhookDelivery } from "../../webhook/schema.ts";
import { Act } from "../view/act.tsx";
import { Card, Heading } from "../view/heading.tsx";
import { Notice } from "../view/notice.tsx";
import { Json, ObjectLink } from "../view/object.tsx";
import { Code, Facts, Time } from "../view/shown.tsx";
import { type Column, Table } from "../view/table.tsx";
import { answerOf, DeliveryBadge } from "./detail.tsx";

interface DeliveryProps {
  readonly of: WebhookDelivery;
  readonly isEnabled: boolean;
  /** What was sent; null for a key that may not see events, or when it is gone. */
  readonly event: Event | null;
  readonly done: string | undefined;
}

export function DeliveryPage({ of, isEnabled, event, done }: DeliveryProps) {
  const above = `/dashboard/webhooks/${of.webhookEndpointId}`;
  return (
    <>
      <Heading
        title={
          <>
            {of.type} <DeliveryBadge state={of.state} />
          </>
        }
        above={[above, "The endpoint"]}
      >
        {isEnabled ? (
          <Act action={`${above}/deliveries/${of.eventId}/redeliver`} name="Send it again" />
        ) : null}
      </Heading>
      <Notice code={done} words={{ queued: "It is sent again now." }} />
      <Card title="Delivery">
        <Facts
          of={[
            ["Id", <Code>{of.id}</Code>],
            ["Event", <ObjectLink id={of.eventId} />],
            ["Endpoint", <ObjectLink id={of.webhookEndpointId} />],
            ["Next attempt", of.nextAttemptAt && <Time at={of.nextAttemptAt} />],
          ]}
        />
      </Card>
      <Card title="Attempts">
        {of.attempts.length > 0 ? (
          <Table caption="Attempts, oldest first" columns={columns} rows={of.attempts} />
        ) : (
          <p class="muted">None yet.</p>
        )}
      </Card>
      {of.response === null ? null : (
        <Card title="Response">
          <pre tabindex={0}>{of.response === "" ? "(empty)" : of.response}</pre>
        </Card>
      )}
      {event ? (
        <Card title="Request">
          <Json of={event} />
        </Card>
      ) : null}
    </>
  );
}

const columns: readonly Column<WebhookDelivery["attempts"][number]>[] = [
  { name: "At", isHead: true, show: ({ at }) => <Time at={at} /> },
  { name: "Answer", show: answerOf },
  { name: "Took", isAmount: true, show: ({ durationMs }) => `${durationMs} ms` },
];
