/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { FoundPayment } from "../../payment/verbs.ts";
import type { Refunded } from "../../refund/verbs/refunded.ts";
import { Days } from "../view/days.tsx";
import { Heading } from "../view/heading.tsx";
import { Amount, Badge, Empty, Time } from "../view/shown.tsx";
import { type Column, Table } from "../view/table.tsx";
import { Tabs } from "../view/tabs.tsx";
import type { ListedPayment } from "./listed.ts";
import { toneOfState, toneOfStatus } from "./tones.ts";

/** What the list is narrowed by, as its address says it. */
export interface Filter {
  readonly status?: string | undefined;
  readonly reviewRequired?: string | undefined;
  readonly find?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}
interface ListProps {
  readonly filter: Filter;
  readonly rows: readonly ListedPayment[];
  readonly next: string | null;
  readonly baseUrl: string;
}

const PATH = "/dashboard/payments";
const tabs = [
  ["All", {}],
  ["Needs review", { reviewRequired: "true" }],
  ["Clearing", { status: "clearing" }],
  ["Completed", { status: "completed" }],
  ["Failed", { status: "failed" }],
  ["Expired", { status: "expired" }],
  ["Cancelled", { status: "cancelled" }],
] as const;

export function PaymentsPage({ filter, rows, next, baseUrl }: ListProps) {
  const isNarrowed = Object.values(filter).some((value) => value !== undefined);
  return (
    <>
      <Heading title="Payments" about="What payers were asked for, and where each payment stands." />
      <Tabs
        label="Kinds of payments"
        path={PATH}
        tabs={tabs}
        asked={{ status: filter.status, reviewRequired: filter.reviewRequired }}
      />
      <search>
        <form class="filter" method="get" action={PATH}>
          {hidden("status", filter.status)}
          {hidden("reviewRequired", filter.reviewRequired)}
          <div class="field">
            <label for="find">Find</label>
            <input
              id="find"
              name="find"
              type="search"
              value={filter.find ?? ""}
              placeholder="Id, reference, email or transaction"
            />
          </div>
          <Days from={filter.from} to={filter.to} />
          <button type="submit">Filter</button>
        </form>
      </search>
      {rows.length > 0 ? (
        <Table caption="Payments, newest first" columns={columns} rows={rows} next={next} />
      ) : isNarrowed ? (
        <Empty title="No payment is like this">
          <p class="muted">
            Take something out of the filter, or look at <a href={PATH}>all payments</a>.
          </p>
        </Empty>
      ) : (
        <FirstPayment baseUrl={baseUrl} />
      )}
    </>
  );
}

/** Columns of a payment, for every list of them. */
export const columns: readonly Column<ListedPayment>[] = [
  {
    name: "Amount",
    isHead: true,
    show: ({ paymentIntent: { id, amount } }) => (
      <a href={`${PATH}/${id}`}>
        <Amount of={amount} />
      </a>
    ),
  },
  { name: "Status", show: (payment) => <PaymentBadge of={payment} refunded={payment.refunded} /> },
  { name: "Paid with", show: ({ paymentIntent: { payment } }) => wayOf(payment) },
  { name: "For", show: ({ paymentIntent }) => purposeOf(paymentIntent) },
  { name: "Created", isAmount: true, show: ({ paymentIntent: { createdAt } }) => <Time at={createdAt} /> },
];

/** The status, or where the money stands while that says more: also when it has gone back. */
export function PaymentBadge({
  of: { paymentIntent, clearing },
  refunded,
}: {
  readonly of: Pick<FoundPayment, "paymentIntent" | "clearing">;
  readonly refunded: Refunded | null;
}) {
  if (clearing && clearing.state !== "settled")
    return <Badge state={clearing.state} tone={toneOfState[clearing.state]} />;
  if (clearing && refunded) return <Badge {...badgeOf(refunded)} />;
  return <Badge state={paymentIntent.status} tone={toneOfStatus[paymentIntent.status]} />;
}

function badgeOf({ left, isDone }: Refunded) {
  if (!isDone) return { state: "refund under way", tone: "busy" } as const;
  return left === 0n
    ? ({ state: "refunded", tone: "quiet" } as const)
    : ({ state: "partly refunded", tone: "good" } as const);
}

export function wayOf({ asset, chain }: { readonly asset: string | null; readonly chain: string | null }) {
  if (asset === null) return <span class="muted">open</span>;
  return chain === null ? asset : `${asset} on ${chain}`;
}

function purposeOf({ merchantReference, customer, source }: FoundPayment["paymentIntent"]) {
  return merchantReference ?? customer?.email ?? <span class="muted">{source.replaceAll("-", " ")}</span>;
}

function hidden(name: string, value: string | undefined) {
  return value === undefined ? null : <input type="hidden" name={name} value={value} />;
}

function FirstPayment({ baseUrl }: { readonly baseUrl: string }) {
  return (
    <Empty title="No payments yet">
      <p class="muted">
        A payment begins when somebody is asked to pay. Ask with one call; its answer holds{" "}
        <code>checkoutUrl</code>, the page where a person or an agent pays.
      </p>
      <pre tabindex={0}>{`curl ${baseUrl}/v1/payment-intents \\
  -H "Authorization: Bearer $FAREBOX_KEY" -H "Idempotency-Key: first" \\
  -H "Content-Type: application/json" \\
  -d '{"amount":{"amount":"10.00","asset":"USD"}}'`}</pre>
    </Empty>
  );
}
