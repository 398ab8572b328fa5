/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { PaymentPosition } from "../../clearing/schema.ts";
import type { Returned } from "../../clearing/verbs/returned.ts";
import { type Money, presentAmount } from "../../http/money.ts";
import type { Undelivered } from "../../mail/verbs/undelivered.ts";
import type { Refund } from "../../refund/schema.ts";
import type { Refunded } from "../../refund/verbs/refunded.ts";
import { Card, Heading } from "../view/heading.tsx";
import { MailsCard } from "../view/mails.tsx";
import { Notice } from "../view/notice.tsx";
import { Amount, Badge, Code, Facts, Time, Transaction } from "../view/shown.tsx";
import { Table } from "../view/table.tsx";
import { Actions, DECIDE, directPlace, isUndecided, useUndirected, waitsForOperator } from "./actions.tsx";
import { PaymentBadge, wayOf } from "./list.tsx";
import { toneOfRefund, toneOfReturn, toneOfState } from "./tones.ts";

interface DetailProps {
  readonly payment: PaymentPosition;
  readonly refunds: readonly Refund[];
  /** How much that makes; null where nothing is refunded, or nothing was paid. */
  readonly refunded: Refunded | null;
  /** What came beyond what was due, and still lies here. */
  readonly excess: readonly Money[];
  readonly returned: readonly Returned[];
  readonly mails: readonly Undelivered[];
  readonly notice: string | undefined;
}

const notices = {
  refunded: "The refund is made. It is on its way as soon as the payment is final.",
  undirected: "The refund is made, and waits: who paid cannot be told. Say below whom it pays.",
  directed: "The refund pays that address. It is on its way as soon as the payment is final.",
  "taken-back": "The refund is taken back. Its money stays with you.",
  retried: "The payment was taken up again.",
  accepted: "What came is the payment. It is settled with that.",
  returned: "What came is not yours: it goes back.",
  extended: "The payer has more time, for what is missing.",
  cancelled: "The payment is cancelled. Nobody can pay it any more.",
};

/** A payment whole: where it stands, how it came there, what can be done about it. */
export function PaymentPage({ payment, refunds, refunded, excess, returned, mails, notice }: DetailProps) {
  const { paymentIntent, clearing, deposit } = payment;
  const left = leftOf(clearing, refunded);
  const undirected = useUndirected(refunds);
  return (
    <>
      <Heading
        above={["/dashboard/payments", "Payments"]}
        title={
          <>
            <Amount of={paymentIntent.amount} /> <PaymentBadge of={payment} refunded={refunded} />
          </>
        }
        about={<Code>{paymentIntent.id}</Code>}
      >
        <a class="button" href={paymentIntent.checkoutUrl}>
          Checkout page
        </a>
        {clearing?.state === "settled" ? (
          <>
            <a class="button" href={`/checkout/${paymentIntent.id}/receipt.pdf`}>
              Receipt
            </a>
            <a class="button" href={`/dashboard/payments/${paymentIntent.id}/proof.json`}>
              Proof
            </a>
          </>
        ) : null}
      </Heading>
      <Notice code={notice} words={notices} />
      {waitsForOperator(payment) ? (
        <p class="warning">
          An agent's payment, <Code>{clearing?.providerReference ?? ""}</Code>, waits for the operator of this
          service, who decides about it.
        </p>
      ) : null}
      {isUndecided(payment) ? (
        <p class="warning">
          Money of this payment waits for your decision: <a href={`#${DECIDE}`}>decide about it</a>.
        </p>
      ) : null}
      {undirected ? (
        <p class="warning">
          A refund waits for an address: <a href={`#${directPlace(undirected)}`}>say whom it pays</a>.
        </p>
      ) : null}
      <div class="columns">
        <div>
          <Card title="Payment">
            <Facts of={factsOf(paymentIntent)} />
          </Card>
          {clearing ? (
            <Card title="Clearing">
              <Facts of={clearingFacts(clearing, paymentIntent.payment.chain)} />
            </Card>
          ) : null}
          {deposit ? <DepositCard deposit={deposit} excess={excess} /> : null}
          {returned.length > 0 ? <ReturnsCard returned={returned} /> : null}
          {refunds.length > 0 ? <RefundsCard refunds={refunds} left={left} /> : null}
        </div>
        <div>
          <Actions payment={payment} left={left} excess={excess} refunds={refunds} />
          <MailsCard mails={mails} />
          <TimelineCard timeline={payment.timeline} />
        </div>
      </div>
    </>
  );
}

/** What can still be refunded; null where nothing was credited. */
function leftOf(clearing: PaymentPosition["clearing"], refunded: Refunded | null): Money | null {
  if (clearing?.state !== "settled") return null;
  return refunded
    ? presentAmount({ amount: refunded.left, asset: refunded.asset })
    : clearing.settlementAmount;
}

function factsOf(intent: PaymentPosition["paymentIntent"]) {
  const { customer, metadata, merchantReference, failureReason, payment } = intent;
  return [
    ["Way", wayOf(payment)],
    ["Path", intent.executionPath],
    ["Payer", payment.payerAddress && <Code>{payment.payerAddress}</Code>],
    ["Customer", customer && [customer.name, customer.email].filter(Boolean).join(", ")],
    ["Reference", merchantReference],
    ["Made by", intent.source.replaceAll("-", " ")],
    ["Failed because", failureReason?.replaceAll("_", " ") ?? null],
    ["Created", <Time at={intent.createdAt} />],
    ["Completed", intent.completedAt && <Time at={intent.completedAt} />],
    ["Can be paid until", intent.status === "created" ? <Time at={intent.expiresAt} /> : null],
    ...Object.entries(metadata).map(([key, value]) => {
      const place = places[intent.source]?.[key];
      return [key, place ? <a href={`/dashboard/${place}/${value}`}>{value}</a> : value] as const;
    }),
  ] as const;
}

/** Where keys lead that we noted: by the source, since a merchant may note such keys too. */
const places: Partial<Record<PaymentPosition["paymentIntent"]["source"], Readonly<Record<string, string>>>> =
  {
    invoice: { invoiceId: "invoices" },
    subscription: { invoiceId: "invoices", subscriptionId: "subscriptions" },
    "payment-link": { paymentLinkId: "links" },
    x402: { resourceId: "resources" },
  };

function clearingFacts(clearing: NonNullable<PaymentPosition["clearing"]>, chain: string | null) {
  return [
    ["Id", <Code>{clearing.id}</Code>],
    ["State", <Badge state={clearing.state} tone={toneOfState[clearing.state]} />],
    ["Due", <Amount of={clearing.sourceAmount} />],
    ["Fee", <Amount of={clearing.fee} />],
    ["You get", <Amount of={clearing.netAmount} />],
    [
      "Transaction",
      clearing.transactionHash && <Transaction hash={clearing.transactionHash} chain={chain} />,
    ],
    ["Provider reference", clearing.providerReference && <Code>{clearing.providerReference}</Code>],
    ["Failure", clearing.failure?.reason ?? null],
  ] as const;
}

interface DepositProps {
  readonly deposit: NonNullable<PaymentPosition["deposit"]>;
  readonly excess: readonly Money[];
}

function DepositCard({ deposit, excess }: DepositProps) {
  return (
    <Card title="Money that came">
      <Facts
        of={[
          ["Address", <Code>{deposit.address}</Code>],
          ["Received", <Amount of={deposit.received} />],
          ...excess.map((each) => ["Too much", <Amount of={each} />] as const),
        ]}
      />
      {deposit.deposits.length === 0 ? null : (
        <Table
          caption="Transfers to the address"
          rows={deposit.deposits}
          columns={[
            {
              name: "Transaction",
              isHead: true,
              show: ({ txHash }) => <Transaction hash={txHash} chain={deposit.chain} />,
            },
            { name: "Status", show: ({ status }) => status.replaceAll("-", " ") },
            { name: "Seen", show: ({ firstSeenAt }) => <Time at={firstSeenAt} /> },
            { name: "Amount", isAmount: true, show: ({ amount }) => <Amount of={amount} /> },
          ]}
        />
      )}
    </Card>
  );
}

function ReturnsCard({ returned }: Pick<DetailProps, "returned">) {
  return (
    <Card title="Returns">
      <Table
        caption="Returns of this payment, oldest first"
        rows={returned}
        columns={[
          { name: "Return", isHead: true, show: ({ id }) => <Code>{id}</Code> },
          { name: "State", show: ({ state }) => <Badge state={state} tone={toneOfReturn[state]} /> },
          { name: "Amount", isAmount: true, show: ({ amount }) => <Amount of={amount} /> },
        ]}
      />
      {returned.map((each) => (
        <Facts of={returnFacts(each)} />
      ))}
    </Card>
  );
}

/** What the table has no room for. */
function returnFacts({ id, chain, destination, transactionHash, note }: Returned) {
  return [
    ["Return", <Code>{id}</Code>],
    ["To", <Code>{destination}</Code>],
    ["Network", chain],
    ["Transaction", transactionHash && <Transaction hash={transactionHash} chain={chain} />],
    ["Note", note],
  ] as const;
}

interface RefundsProps {
  readonly refunds: readonly Refund[];
  readonly left: Money | null;
}

function RefundsCard({ refunds, left }: RefundsProps) {
  return (
    <Card title="Refunds">
      {left ? <Facts of={[["Still refundable", <Amount of={left} />]]} /> : null}
      <Table
        caption="Refunds of this payment, newest first"
        rows={refunds}
        columns={[
          { name: "Refund", isHead: true, show: ({ id }) => <Code>{id}</Code> },
          { name: "State", show: ({ state }) => <Badge state={state} tone={toneOfRefund[state]} /> },
          { name: "Reason", show: ({ reason }) => reason.replaceAll("-", " ") },
          { name: "Amount", isAmount: true, show: ({ amount }) => <Amount of={amount} /> },
        ]}
      />
      {refunds.filter(isDirected).map((refund) => (
        <Facts of={wayFacts(refund)} />
      ))}
    </Card>
  );
}

const isDirected = ({ destination }: Refund) => destination !== null;

/** What the table has no room for. */
function wayFacts({ id, chain, destination, providerReference, failureReason }: Refund) {
  return [
    ["Refund", <Code>{id}</Code>],
    ["To", destination && <Code>{destination}</Code>],
    ["Transaction", providerReference && <Transaction hash={providerReference} chain={chain} />],
    ["Failed because", failureReason],
  ] as const;
}

function TimelineCard({ timeline }: Pick<PaymentPosition, "timeline">) {
  return (
    <Card title="Timeline">
      {timeline.length === 0 ? (
        <p class="muted">It begins when the payer chooses how to pay.</p>
      ) : (
        <ol class="timeline">
          {timeline.toReversed().map(({ state, from, occurredAt }) => (
            <li>
              <span>
                {state === from ? `${state.replaceAll("-", " ")}, noted` : state.replaceAll("-", " ")}
              </span>
              <Time at={occurredAt} />
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
