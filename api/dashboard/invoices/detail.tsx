/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { agentUrl } from "#facilitator";
import type { Invoice } from "../../invoice/schema.ts";
import { isPayable } from "../../invoice/state.ts";
import { lineTotal } from "../../invoice/verbs/line.ts";
import type { ShownRefunds } from "../../invoice/verbs/refunds.ts";
import type { Undelivered } from "../../mail/verbs/undelivered.ts";
import { columns as paymentColumns } from "../payments/list.tsx";
import type { ListedPayment } from "../payments/listed.ts";
import { Card, Heading } from "../view/heading.tsx";
import { MailsCard } from "../view/mails.tsx";
import { Needs, Way } from "../view/needs.tsx";
import { Notice } from "../view/notice.tsx";
import { Amount, Code, Facts, Time } from "../view/shown.tsx";
import { Table } from "../view/table.tsx";
import { Actions } from "./actions.tsx";
import { InvoiceBadge } from "./list.tsx";

/** What they are for is the page itself. */
const paymentsOfIt = paymentColumns.filter(({ name }) => name !== "For");
const PATH = "/dashboard/invoices";
const notices = {
  created: "The draft is made. Issue it when it is as it should be.",
  changed: "The invoice is saved.",
  issue: "The invoice is issued: it has its number, and can be paid.",
  send: "The invoice is on its way to its buyer.",
  list: "The invoice is shown in the public index while it can be paid.",
  unlist: "The invoice is out of the public index. Who holds its address can still pay it.",
  void: "The invoice is void. Nobody can pay it any more.",
  uncollectible: "The invoice is marked uncollectible.",
};

interface InvoiceProps {
  readonly invoice: Invoice;
  readonly refunds: ShownRefunds | null;
  readonly payments: readonly ListedPayment[];
  /** Of the customer that the buyer is. */
  readonly customerId: string | null;
  readonly mails: readonly Undelivered[];
  readonly baseUrl: string;
  readonly notice: string | undefined;
}

export function InvoicePage({
  invoice,
  refunds,
  payments,
  customerId,
  mails,
  baseUrl,
  notice,
}: InvoiceProps) {
  const at = `${PATH}/${invoice.id}`;
  const mayChange = invoice.state === "draft" || isPayable(invoice.state);
  return (
    <>
      <Heading
        above={[PATH, "Invoices"]}
        title={
          <>
            {invoice.number ?? "Draft"} <InvoiceBadge of={invoice} />
          </>
        }
        about={<Code>{invoice.id}</Code>}
      >
        {invoice.state === "draft" ? null : (
          <>
            <a class="button" href={invoice.url}>
              Open its page
            </a>
            <a class="button" href={`/invoices/${invoice.id}/invoice.pdf`}>
              PDF
            </a>
          </>
        )}
        {mayChange ? (
          <Way to={`${at}/edit`} permission="invoices:manage">
            Edit
          </Way>
        ) : null}
      </Heading>
      <Notice code={notice} words={notices} />
      <div class="columns">
        <div>
          <LinesCard invoice={invoice} refunds={refunds} />
          <Card title="Payments of it">
            <Needs permission="payments:read">
              {payments.length > 0 ? (
                <Table
                  caption="Payments of the invoice, newest first"
                  columns={paymentsOfIt}
                  rows={payments}
                />
              ) : (
                <p class="muted">Nobody has begun to pay it yet.</p>
              )}
            </Needs>
          </Card>
          {invoice.state === "draft" ? null : (
            <Card title="Where it is paid">
              <Facts of={addressesOf(invoice, baseUrl)} />
            </Card>
          )}
        </div>
        <div>
          <Actions invoice={invoice} at={at} />
          <MailsCard mails={mails}>
            {isPayable(invoice.state) ? (
              <p class="hint">
                Edit the invoice if the address is wrong; “Mail it again” above sends it anew.
              </p>
            ) : null}
          </MailsCard>
          <Card title="Buyer">
            <Facts of={buyerOf(invoice, customerId)} />
          </Card>
          {invoice.state === "draft" ? null : (
            <Card title="Billed by">
              <Facts of={sellerOf(invoice)} />
            </Card>
          )}
          <Card title="Invoice">
            <Facts of={factsOf(invoice)} />
          </Card>
        </div>
      </div>
    </>
  );
}

function LinesCard({ invoice, refunds }: Pick<InvoiceProps, "invoice" | "refunds">) {
  const { lines, paid, state } = invoice;
  return (
    <Card title="What it is for">
      <Table
        caption="Lines of the invoice"
        rows={lines}
        columns={[
          {
            name: "Line",
            isHead: true,
            show: ({ productId, name }) =>
              productId ? <a href={`/dashboard/products/${productId}`}>{name}</a> : name,
          },
          { name: "Quantity", isAmount: true, show: ({ quantity }) => String(quantity) },
          { name: "Unit price", isAmount: true, show: ({ unitPrice }) => <Amount of={unitPrice} /> },
          { name: "Amount", isAmount: true, show: (line) => <Amount of={lineTotal(line)} /> },
        ]}
      />
      <dl class="sums">
        <Sum name="Total" of={invoice.total} />
        {state === "draft" ? null : (
          <>
            <Sum name="Paid" of={refunds?.collected ?? paid} />
            {refunds?.arrived ? <Sum name="Refunded" of={refunds.arrived} /> : null}
            {refunds?.underWay ? <Sum name="Refund under way" of={refunds.underWay} /> : null}
            <Sum name="Outstanding" of={invoice.outstanding} />
          </>
        )}
      </dl>
    </Card>
  );
}

function Sum({ name, of }: { readonly name: string; readonly of: Invoice["total"] }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Amount of={of} />
      </dd>
    </div>
  );
}

function addressesOf({ id, url, listed }: Invoice, baseUrl: string) {
  return [
    ["For people", <Code>{url}</Code>],
    ["For agents", <Code>{agentUrl(baseUrl, id)}</Code>],
    ["Agents find it", listed ? "in the public index, while it can be paid" : "only by its URL"],
  ] as const;
}

/** As it stands on the invoice, whatever the settings say by now. */
function sellerOf({ merchant: { name, city, countryCode, taxId, address } }: Invoice) {
  return [
    ["Name", name],
    ["Place", `${city}, ${countryCode}`],
    ["Tax id", taxId],
    ["Address", address && <span class="lines">{address}</span>],
  ] as const;
}

function buyerOf({ buyer }: Invoice, customerId: string | null) {
  const { name, email, taxId, address } = buyer;
  return [
    ["Name", customerId ? <a href={`/dashboard/customers/${customerId}`}>{name}</a> : name],
    ["Email", email],
    ["Tax id", taxId],
    ["Address", address && <span class="lines">{address}</span>],
  ] as const;
}

function factsOf(invoice: Invoice) {
  const { subscriptionId, cycle, metadata } = invoice;
  return [
    ["Due", invoice.dueAt && <Time at={invoice.dueAt} />],
    ["Issued", invoice.issuedAt && <Time at={invoice.issuedAt} />],
    ["Paid", invoice.paidAt && <Time at={invoice.paidAt} />],
    ["Voided", invoice.voidedAt && <Time at={invoice.voidedAt} />],
    ["Mailed", invoice.sendEmail ? "yes, with reminders" : "no"],
    [
      "Subscription",
      subscriptionId && <a href={`/dashboard/subscriptions/${subscriptionId}`}>{subscriptionId}</a>,
    ],
    ["Period from", cycle && <Time at={cycle.startsAt} />],
    ["Period until", cycle && <Time at={cycle.endsAt} />],
    ["Notes", invoice.notes && <span class="lines">{invoice.notes}</span>],
    ["Created", <Time at={invoice.createdAt} />],
    ...Object.entries(metadata),
  ] as const;
}
