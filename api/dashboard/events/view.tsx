/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Event, WebhookDelivery, WebhookEndpoint } from "../../webhook/schema.ts";
import { Days } from "../view/days.tsx";
import { Card, Heading } from "../view/heading.tsx";
import { Json, ObjectLink } from "../view/object.tsx";
import { Code, Empty, Facts, Time } from "../view/shown.tsx";
import { type Column, Table } from "../view/table.tsx";
import { DeliveryBadge } from "../webhooks/detail.tsx";

const PATH = "/dashboard/events";

export interface EventsFilter {
  readonly types?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}
interface EventsProps {
  readonly filter: EventsFilter;
  readonly rows: readonly Event[];
  readonly next: string | null;
}

export function EventsPage({ filter, rows, next }: EventsProps) {
  const isNarrowed = Object.values(filter).some((value) => value !== undefined);
  return (
    <>
      <Heading
        title="Events"
        about="All that you were told in the last 90 days, whether or not a webhook listened."
      />
      <search>
        <form class="filter" method="get" action={PATH}>
          <div class="field">
            <label for="types">Types</label>
            <input
              id="types"
              name="types"
              type="search"
              value={filter.types ?? ""}
              placeholder="payment.*, payout.succeeded"
            />
          </div>
          <Days from={filter.from} to={filter.to} />
          <button type="submit">Filter</button>
        </form>
      </search>
      {rows.length > 0 ? (
        <Table caption="Events, newest first" columns={columns} rows={rows} next={next} />
      ) : (
        <Empty title={isNarrowed ? "No event is like this" : "Nothing has happened yet"}>
          <p class="muted">
            {isNarrowed ? (
              <>
                Take something out of the filter, or look at <a href={PATH}>all events</a>.
              </>
            ) : (
              <>
                Events follow what you do and what payers do.{" "}
                <a href="/dashboard/webhooks/new">Add a webhook</a> to have them sent to you.
              </>
            )}
          </p>
        </Empty>
      )}
    </>
  );
}

const columns: readonly Column<Event>[] = [
  { name: "Type", isHead: true, show: ({ id, type }) => <a href={`${PATH}/${id}`}>{type}</a> },
  { name: "About", show: (event) => <About of={event} /> },
  { name: "Sequence", isAmount: true, show: ({ sequence }) => sequence },
  { name: "Happened", isAmount: true, show: ({ timestamp }) => <Time at={timestamp} /> },
];

/** Payments are told as a pair, everything else as the object itself. */
function subjectOf({ data: { object } }: Event): string | null {
  const intent = object.paymentIntent as { readonly id?: unknown } | undefined;
  const id = object.id ?? intent?.id;
  return typeof id === "string" ? id : null;
}

function About({ of }: { readonly of: Event }) {
  const id = subjectOf(of);
  return id === null ? null : <ObjectLink id={id} />;
}

export interface Sent {
  readonly endpoint: WebhookEndpoint;
  readonly delivery: WebhookDelivery;
}

export function EventPage({ of, sent }: { readonly of: Event; readonly sent: readonly Sent[] }) {
  return (
    <>
      <Heading title={of.type} above={[PATH, "Events"]} />
      <div class="columns">
        <div>
          <Card title="Event">
            <Json of={of} />
          </Card>
        </div>
        <div>
          <Card title="About">
            <Facts
              of={[
                ["Id", <Code>{of.id}</Code>],
                ["Object", subjectOf(of) && <About of={of} />],
                ["Happened", <Time at={of.timestamp} />],
                ["Sequence", String(of.sequence)],
                ["Revision", of.apiVersion],
              ]}
            />
          </Card>
          <Card title="Deliveries">
            <Deliveries of={sent} />
          </Card>
        </div>
      </div>
    </>
  );
}

function Deliveries({ of }: { readonly of: readonly Sent[] }) {
  if (of.length === 0) return <p class="muted">It was sent to no endpoint that you can see.</p>;
  return (
    <ul class="findings">
      {of.map(({ endpoint, delivery }) => (
        <li>
          <a href={`/dashboard/webhooks/${endpoint.id}/deliveries/${delivery.eventId}`}>{endpoint.url}</a>{" "}
          <DeliveryBadge state={delivery.state} />
        </li>
      ))}
    </ul>
  );
}
