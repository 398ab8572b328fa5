/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { readBalances } from "../../payout/verbs.ts";
import { columns } from "../payments/list.tsx";
import type { ListedPayment } from "../payments/listed.ts";
import type { Overview } from "../verbs/overview.ts";
import { Card, Heading } from "../view/heading.tsx";
import { Amount } from "../view/shown.tsx";
import { Table } from "../view/table.tsx";
import { useViewer } from "../view/visit.ts";
import { Chart } from "./chart.tsx";

type Balances = Awaited<ReturnType<typeof readBalances>>;
interface OverviewProps {
  /** Null where the key may not read payments. */
  readonly overview: Overview | null;
  readonly payments: readonly ListedPayment[];
  /** Null where the key may not read the ledger. */
  readonly balances: Balances | null;
  readonly baseUrl: string;
}

export function OverviewPage({ overview, payments, balances, baseUrl }: OverviewProps) {
  const { merchantName } = useViewer();
  return (
    <>
      <Heading title="Overview" about={merchantName} />
      {overview && overview.reviews > 0 ? (
        <p class="warning">
          <a href="/dashboard/payments?reviewRequired=true">
            {overview.reviews === 1 ? "One payment waits" : `${overview.reviews} payments wait`} for your
            decision
          </a>
        </p>
      ) : null}
      {overview && overview.excess.length > 0 ? <TooMuch of={overview.excess} /> : null}
      <div class="columns">
        <div>
          {overview && overview.volumes.length > 0 ? (
            <Card title="Completed payments">
              {overview.volumes.map((volume) => (
                <Chart volume={volume} />
              ))}
            </Card>
          ) : null}
          {overview?.isNew ? <FirstSteps baseUrl={baseUrl} /> : null}
        </div>
        <div>
          {overview ? <Success overview={overview} /> : null}
          <BalancesCard balances={balances} />
        </div>
      </div>
      {payments.length > 0 ? (
        <>
          <h2>Latest payments</h2>
          <Table caption="The latest payments" columns={columns} rows={payments} />
        </>
      ) : null}
    </>
  );
}

const MOST_NAMED = 5;

/** It is not in the way of its payment, so nothing else would say that it waits. */
function TooMuch({ of }: { readonly of: readonly string[] }) {
  const more = of.length - MOST_NAMED;
  return (
    <p class="warning">
      Too much came for {of.length === 1 ? "one payment" : `${of.length} payments`}. What was too much is the
      payer's, and waits for you to return it:{" "}
      {of.slice(0, MOST_NAMED).map((id, i) => (
        <>
          {i === 0 ? "" : ", "}
          <a href={`/dashboard/payments/${id}`}>{id}</a>
        </>
      ))}
      {more > 0 ? ` and ${more} more` : ""}
    </p>
  );
}

function Success({ overview: { completed, over } }: { readonly overview: Overview }) {
  return (
    <Card title="Success rate">
      <p class="figure">{over === 0 ? "–" : `${Math.round((completed * 100) / over)} %`}</p>
      <p class="muted">
        {over === 0
          ? "No payment has ended in the last 30 days."
          : `${completed} of ${over} that ended were completed, in the last 30 days.`}
      </p>
    </Card>
  );
}

function BalancesCard({ balances }: { readonly balances: Balances | null }) {
  if (balances === null) return null;
  return (
    <Card title="Balances">
      {balances.length === 0 ? (
        <p class="muted">Nothing yet. What payers pay is yours once its block is final.</p>
      ) : (
        <ul class="balances">
          {balances.map(({ asset, chain, available, pending, reserved }) => (
            <li>
              <span class="muted">
                {asset} on {chain}
              </span>
              <strong class="figure">
                <Amount of={available} />
              </strong>
              <span class="muted">
                <Amount of={pending} /> pending, <Amount of={reserved} /> reserved
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const steps = [
  ["links", "Make a payment link", "One page that anybody can pay, person or agent.", "payment-links"],
  ["resources", "Register a resource", "Let agents pay per call for an endpoint of yours.", "x402/resources"],
  ["webhooks", "Add a webhook", "Hear of every payment the moment it moves.", "webhook-endpoints"],
] as const;

/** For who has just arrived. */
function FirstSteps({ baseUrl }: { readonly baseUrl: string }) {
  const { places } = useViewer();
  return (
    <Card title="First steps">
      <ol class="steps">
        {steps.map(([place, title, about, api]) => (
          <li class="step">
            <strong>{places.includes(place) ? <a href={`/dashboard/${place}`}>{title}</a> : title}</strong>
            <p class="muted">
              {about} <code>POST /v1/{api}</code>
            </p>
          </li>
        ))}
      </ol>
      <p class="muted">
        Every call is described in <a href={`${baseUrl}/docs`}>the API reference</a>.
      </p>
    </Card>
  );
}
