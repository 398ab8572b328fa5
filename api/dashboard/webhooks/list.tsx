/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { WebhookEndpoint } from "../../webhook/schema.ts";
import { Lines } from "../view/fields.tsx";
import { Field, Form } from "../view/form.tsx";
import { Heading } from "../view/heading.tsx";
import { Notice } from "../view/notice.tsx";
import { Badge, Empty, Time } from "../view/shown.tsx";
import { type Column, Table } from "../view/table.tsx";

const PATH = "/dashboard/webhooks";

export function WebhooksPage({
  rows,
  done,
}: {
  readonly rows: readonly WebhookEndpoint[];
  readonly done: string | undefined;
}) {
  const add = (
    <a class="button primary" href={`${PATH}/new`}>
      Add an endpoint
    </a>
  );
  return (
    <>
      <Heading title="Webhooks" about="Where your servers are told what happened.">
        {rows.length > 0 ? add : null}
      </Heading>
      <Notice code={done} words={{ deleted: "Deleted. Nothing is sent there any more." }} />
      {rows.length > 0 ? (
        <Table caption="Webhook endpoints, newest first" columns={columns} rows={rows} />
      ) : (
        <Empty title="Nobody listens yet">
          <p class="muted">
            Name a URL of yours. Each event is sent there, signed, and again until your server has taken it.
          </p>
          {add}
        </Empty>
      )}
    </>
  );
}

const columns: readonly Column<WebhookEndpoint>[] = [
  { name: "Endpoint", isHead: true, show: ({ id, url }) => <a href={`${PATH}/${id}`}>{url}</a> },
  { name: "Events", show: ({ events }) => events.join(", ") },
  { name: "State", show: (endpoint) => <EndpointBadge of={endpoint} /> },
  {
    name: "Last success",
    isAmount: true,
    show: ({ lastSuccessAt }) =>
      lastSuccessAt ? <Time at={lastSuccessAt} /> : <span class="muted">none</span>,
  },
];

export function EndpointBadge({ of }: { readonly of: WebhookEndpoint }) {
  if (!of.enabled) return <Badge state={`disabled: ${of.disabledReason}`} tone="quiet" />;
  if (of.failingSince !== null) return <Badge state="failing" tone="bad" />;
  return <Badge state="enabled" tone="good" />;
}

export function EndpointFormPage({
  of,
  types,
}: {
  readonly of: WebhookEndpoint | null;
  readonly types: readonly string[];
}) {
  const path = of ? `${PATH}/${of.id}` : PATH;
  return (
    <>
      <Heading
        title={of ? "Change the endpoint" : "Add a webhook endpoint"}
        above={[path, of ? "The endpoint" : "Webhooks"]}
      />
      <div class="card narrow">
        <Form action={of ? `${path}/edit` : PATH} submit={of ? "Save" : "Add the endpoint"}>
          <Field name="url" label="URL" type="url" isRequired maxLength={2_048} value={of?.url} />
          <Lines
            name="events"
            label="Events"
            hint="Types, families such as payment.*, or * for everything: one on each line."
            value={of?.events.join("\n") ?? "*"}
          />
          <Field
            name="description"
            label="Description"
            maxLength={140}
            hint="For you: what listens there."
            value={of?.description}
          />
          <details class="fold">
            <summary>All types of events</summary>
            <p class="muted">{types.join(", ")}</p>
          </details>
        </Form>
      </div>
    </>
  );
}
