/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Subscription, SubscriptionRead } from "../../subscription/schema.ts";
import { InvoiceBadge } from "../invoices/list.tsx";
import { Field, Form } from "../view/form.tsx";
import { Card, Heading } from "../view/heading.tsx";
import { Needs, Way } from "../view/needs.tsx";
import { Notice } from "../view/notice.tsx";
import { Amount, Code, Facts, Time } from "../view/shown.tsx";
import { Table } from "../view/table.tsx";
import { Price, SubscriptionBadge } from "./list.tsx";

const PATH = "/dashboard/subscriptions";
const notices = {
  created: "The subscription is made. Its invoices are issued by themselves.",
  changed: "The subscription is saved. It counts from the next cycle on.",
  paused: "The subscription is paused. What is open can still be paid.",
  resumed: "The subscription goes on. Cycles of the pause are left out.",
  cancelled: "The subscription is cancelled.",
  ends: "The subscription ends with the period that runs now.",
};

interface SubscriptionProps extends SubscriptionRead {
  readonly notice: string | undefined;
}

export function SubscriptionPage({ subscription, cycles, notice }: SubscriptionProps) {
  const at = `${PATH}/${subscription.id}`;
  const isOver = subscription.state === "cancelled";
  return (
    <>
      <Heading
        above={[PATH, "Subscriptions"]}
        title={
          <>
            {subscription.description} <SubscriptionBadge of={subscription} />
          </>
        }
        about={<Code>{subscription.id}</Code>}
      >
        {isOver ? null : (
          <>
            <Way to={`${at}/edit`} permission="catalog:manage">
              Edit
            </Way>
            <Way to={`${at}/cancel`} permission="catalog:manage">
              Cancel
            </Way>
          </>
        )}
      </Heading>
      <Notice code={notice} words={notices} />
      <div class="columns">
        <div>
          <CyclesCard cycles={cycles} />
        </div>
        <div>
          {isOver ? null : (
            <Card title={subscription.state === "paused" ? "Go on" : "Pause"}>
              <Needs permission="catalog:manage">
                <PauseForm subscription={subscription} at={at} />
              </Needs>
            </Card>
          )}
          <Card title="Subscription">
            <Facts of={factsOf(subscription)} />
          </Card>
        </div>
      </div>
    </>
  );
}

function CyclesCard({ cycles }: Pick<SubscriptionProps, "cycles">) {
  return (
    <Card title="Cycles">
      {cycles.length === 0 ? (
        <p class="muted">The first cycle has not begun.</p>
      ) : (
        <Table
          caption="Cycles as their invoices, newest first"
          rows={cycles}
          columns={[
            {
              name: "Invoice",
              isHead: true,
              show: ({ id, number }) => <a href={`/dashboard/invoices/${id}`}>{number ?? "Draft"}</a>,
            },
            { name: "Period from", show: ({ cycle }) => (cycle ? <Time at={cycle.startsAt} /> : "") },
            { name: "Status", show: (invoice) => <InvoiceBadge of={invoice} /> },
            { name: "Total", isAmount: true, show: ({ total }) => <Amount of={total} /> },
          ]}
        />
      )}
    </Card>
  );
}

function PauseForm({ subscription, at }: { readonly subscription: Subscription; readonly at: string }) {
  if (subscription.state === "paused")
    return (
      <>
        <p class="muted">
          It goes on with the next cycle. Those that fell into the pause are left out for good.
        </p>
        <Form action={`${at}/resume`} submit="Resume" />
      </>
    );
  return (
    <>
      <p class="muted">Nothing is issued until you resume it. What is open can still be paid.</p>
      <Form action={`${at}/pause`} submit="Pause" isPlain={true}>
        <Field name="reason" label="Reason" hint="For you; the customer does not see it." maxLength={500} />
      </Form>
    </>
  );
}

function factsOf(subscription: Subscription) {
  const { subscriber, metadata } = subscription;
  return [
    ["Customer", <a href={`/dashboard/customers/${subscriber.customerId}`}>{subscriber.name}</a>],
    ["Email", subscriber.email],
    ["Amount", <Price of={subscription} />],
    ["Billed", `${subscription.billedCycles} of ${subscription.maxCycles ?? "any number of"} cycles`],
    ["Next bill", subscription.nextBillingAt && <Time at={subscription.nextBillingAt} />],
    ["Days to pay", String(subscription.daysUntilDue)],
    ["Mailed", subscription.sendEmail ? "yes, with reminders" : "no"],
    ["Paused", subscription.pausedAt && <Time at={subscription.pausedAt} />],
    ["Because", subscription.pauseReason],
    ["Ends", subscription.cancelAt && <Time at={subscription.cancelAt} />],
    ["Cancelled", subscription.cancelledAt && <Time at={subscription.cancelledAt} />],
    ["Started", <Time at={subscription.anchorAt} />],
    ["Created", <Time at={subscription.createdAt} />],
    ...Object.entries(metadata),
  ] as const;
}
