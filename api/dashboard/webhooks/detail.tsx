/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { WebhookDelivery, WebhookEndpoint } from "../../webhook/schema.ts";
import { type DeliveryState, deliveryStates } from "../../webhook/state.ts";
import { Act } from "../view/act.tsx";
import { Lines } from "../view/fields.tsx";
import { Field, Form } from "../view/form.tsx";
import { Card, Heading } from "../view/heading.tsx";
import { Notice } from "../view/notice.tsx";
import { Badge, Code, Facts, Time, type Tone, Words } from "../view/shown.tsx";
import { type Column, Table } from "../view/table.tsx";
import { EndpointBadge } from "./list.tsx";

const PATH = "/dashboard/webhooks";
const words = {
  added: "The endpoint was added. Its secret was shown once, in the answer to its form.",
  rotated: "The secret was replaced. The new one was shown once, in the answer to its form.",
  changed: "Saved.",
  enabled: "Enabled: what waits is sent now.",
  disabled: "Disabled: what happens meanwhile can be replayed.",
  pinged: "A ping is on its way. The deliveries below show how it went.",
  replayed: "The events are on their way again, oldest first.",
  "replayed-none": "There was no event of that kind in that time.",
};

interface EndpointProps {
  readonly of: WebhookEndpoint;
  readonly rows: readonly WebhookDelivery[];
  readonly next: string | null;
  readonly state: string | undefined;
  readonly done: string | undefined;
}

export function EndpointPage({ of, rows, next, state, done }: EndpointProps) {
  const path = `${PATH}/${of.id}`;
  return (
    <>
      <Heading title={of.url} about={<EndpointBadge of={of} />} above={[PATH, "Webhooks"]}>
        {of.enabled ? <Act action={`${path}/test`} name="Send a ping" /> : null}
        <Act
          action={`${path}/${of.enabled ? "disable" : "enable"}`}
          name={of.enabled ? "Disable" : "Enable"}
        />
        <a class="button" href={`${path}/edit`}>
          Change
        </a>
        <a class="button" href={`${path}/rotate`}>
          Rotate secret
        </a>
        <a class="button grave" href={`${path}/delete`}>
          Delete
        </a>
      </Heading>
      <Notice code={done} words={words} />
      <div class="columns">
        <div>
          <Card title="Deliveries">
            <Deliveries path={path} rows={rows} next={next} state={state} />
          </Card>
        </div>
        <div>
          <Card title="Endpoint">
            <EndpointFacts of={of} />
          </Card>
          {of.enabled ? (
            <Card title="Replay">
              <Replay path={path} />
            </Card>
          ) : null}
        </div>
      </div>
    </>
  );
}

function EndpointFacts({ of }: { readonly of: WebhookEndpoint }) {
  return (
    <Facts
      of={[
        ["Id", <Code>{of.id}</Code>],
        ["Events", of.events.join(", ")],
        ["Description", of.description || null],
        ["Revision", of.apiVersion],
        ["Last success", of.lastSuccessAt && <Time at={of.lastSuccessAt} />],
        ["Failing since", of.failingSince && <Time at={of.failingSince} />],
        ["Disabled", of.disabledAt && <Time at={of.disabledAt} />],
        ["Added", <Time at={of.createdAt} />],
      ]}
    />
  );
}

function Replay({ path }: { readonly path: string }) {
  return (
    <>
      <p class="muted lead">
        Sends all events of a time again, those included that it did not listen to then.
      </p>
      <Form action={`${path}/replay`} submit="Replay">
        <Field name="from" label="From (UTC)" type="datetime-local" isRequired hint="At most 30 days ago." />
        <Field name="to" label="Until (UTC)" type="datetime-local" isRequired />
        <Lines
          name="types"
          label="Only"
          hint="Types or families, one on each line. None: all of its events."
        />
      </Form>
    </>
  );
}

function Deliveries({
  path,
  rows,
  next,
  state,
}: Omit<EndpointProps, "of" | "done"> & { readonly path: string }) {
  const tabs = [[undefined, "All"], ...deliveryStates.map((each) => [each, each] as const)] as const;
  return (
    <>
      <nav class="tabs lead" aria-label="Kinds of deliveries">
        {tabs.map(([value, name]) => (
          <a
            href={value === undefined ? path : `${path}?state=${value}`}
            {...(value === state ? { "aria-current": "page" } : {})}
          >
            {name}
          </a>
        ))}
      </nav>
      {rows.length > 0 ? (
        <Table caption="Deliveries, newest first" columns={columns} rows={rows} next={next} />
      ) : (
        <p class="muted">None. A ping shows whether your server listens.</p>
      )}
    </>
  );
}

const columns: readonly Column<WebhookDelivery>[] = [
  {
    name: "Event",
    isHead: true,
    show: ({ type, eventId, webhookEndpointId }) => (
      <a href={`${PATH}/${webhookEndpointId}/deliveries/${eventId}`}>
        <Words of={type} />
      </a>
    ),
  },
  { name: "State", show: ({ state }) => <DeliveryBadge state={state} /> },
  { name: "Answer", show: ({ attempts }) => <Words of={answerOf(attempts.at(-1))} /> },
  { name: "Queued", isAmount: true, show: ({ createdAt }) => <Time at={createdAt} /> },
];

type Attempt = WebhookDelivery["attempts"][number];

export function answerOf(attempt: Attempt | undefined): string {
  if (!attempt) return "not tried yet";
  return attempt.status === null ? (attempt.problem ?? "none") : String(attempt.status);
}

const tones: Readonly<Record<DeliveryState, Tone>> = { pending: "busy", succeeded: "good", failed: "bad" };

export function DeliveryBadge({ state }: { readonly state: DeliveryState }) {
  return <Badge state={state} tone={tones[state]} />;
}
