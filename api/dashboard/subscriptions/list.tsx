/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Subscription } from "../../subscription/schema.ts";
import type { SubscriptionState } from "../../subscription/state.ts";
import { Listing } from "../view/listing.tsx";
import { Way } from "../view/needs.tsx";
import { Amount, Badge, Empty, Time, type Tone } from "../view/shown.tsx";
import type { Column } from "../view/table.tsx";
import type { Asked } from "../view/tabs.tsx";

const PATH = "/dashboard/subscriptions";
const tabs = [
  ["All", {}],
  ["Active", { state: "active" }],
  ["Past due", { state: "past-due" }],
  ["Paused", { state: "paused" }],
  ["Cancelled", { state: "cancelled" }],
] as const;

const tones: Readonly<Record<SubscriptionState, Tone>> = {
  active: "good",
  "past-due": "warn",
  paused: "quiet",
  cancelled: "quiet",
};

interface SubscriptionsProps {
  readonly asked: Asked;
  readonly rows: readonly Subscription[];
  readonly next: string | null;
}

export function SubscriptionsPage(list: SubscriptionsProps) {
  return (
    <Listing
      title="Subscriptions"
      about="Customers who are billed again and again: each cycle is an invoice."
      path={PATH}
      tabs={tabs}
      find="Email or id"
      columns={columns}
      first={<FirstSubscription />}
      {...list}
    >
      <New />
    </Listing>
  );
}

/** Columns of a subscription, for every list of them. */
export const columns: readonly Column<Subscription>[] = [
  {
    name: "Subscription",
    isHead: true,
    show: ({ id, description }) => <a href={`${PATH}/${id}`}>{description}</a>,
  },
  { name: "Customer", show: ({ subscriber }) => subscriber.name },
  { name: "State", show: (subscription) => <SubscriptionBadge of={subscription} /> },
  {
    name: "Next bill",
    show: ({ nextBillingAt }) =>
      nextBillingAt ? <Time at={nextBillingAt} /> : <span class="muted">none</span>,
  },
  { name: "Amount", isAmount: true, show: (subscription) => <Price of={subscription} /> },
];

export function SubscriptionBadge({ of: { state } }: { readonly of: Subscription }) {
  return <Badge state={state} tone={tones[state]} />;
}

/** What is billed, and how often. */
export function Price({ of: { amount, interval, intervalCount } }: { readonly of: Subscription }) {
  const often = intervalCount === 1 ? `a ${interval}` : `every ${intervalCount} ${interval}s`;
  return (
    <span>
      <Amount of={amount} /> <span class="muted">{often}</span>
    </span>
  );
}

function New() {
  return (
    <Way to={`${PATH}/new`} permission="catalog:manage" isFirst={true}>
      New subscription
    </Way>
  );
}

function FirstSubscription() {
  return (
    <Empty title="No subscriptions yet">
      <p class="muted">
        Say who is billed, what, and how often. Each cycle issues an invoice by itself; its buyer pays it on
        its page.
      </p>
      <New />
    </Empty>
  );
}
