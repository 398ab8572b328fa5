/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Customer } from "../../customer/schema.ts";
import { columns as invoiceColumns } from "../invoices/list.tsx";
import { columns as paymentColumns } from "../payments/list.tsx";
import { columns as subscriptionColumns } from "../subscriptions/list.tsx";
import { Card, Heading } from "../view/heading.tsx";
import { Needs, Way } from "../view/needs.tsx";
import { Notice } from "../view/notice.tsx";
import { Amount, Code, Facts, Time } from "../view/shown.tsx";
import { Table } from "../view/table.tsx";
import type { History } from "./history.ts";
import { totalsOf } from "./totals.ts";

const PATH = "/dashboard/customers";
const notices = { created: "The customer is added.", changed: "The customer is saved." };

interface CustomerProps {
  readonly customer: Customer;
  readonly history: History;
  readonly notice: string | undefined;
}

export function CustomerPage({ customer, history, notice }: CustomerProps) {
  const { id } = customer;
  return (
    <>
      <Heading above={[PATH, "Customers"]} title={customer.name} about={<Code>{id}</Code>}>
        <Way to={`${PATH}/${id}/edit`} permission="customers:manage">
          Edit
        </Way>
        <Way to={`/dashboard/subscriptions/new?customer=${id}`} permission="catalog:manage">
          New subscription
        </Way>
        <Way to={`/dashboard/invoices/new?customer=${id}`} permission="invoices:manage" isFirst={true}>
          New invoice
        </Way>
      </Heading>
      <Notice code={notice} words={notices} />
      <div class="columns">
        <div>
          <Card title="Paid and owed">
            <Needs permission="invoices:read">
              <Totals history={history} />
            </Needs>
          </Card>
        </div>
        <div>
          <Card title="Customer">
            <Facts of={factsOf(customer)} />
          </Card>
        </div>
      </div>
      <Card title="Invoices">
        <Needs permission="invoices:read">
          <Rows caption="Invoices of the customer" columns={invoiceColumns} rows={history.invoices ?? []} />
        </Needs>
      </Card>
      <Card title="Subscriptions">
        <Needs permission="catalog:read">
          <Rows
            caption="Subscriptions of the customer"
            columns={subscriptionColumns}
            rows={history.subscriptions ?? []}
          />
        </Needs>
      </Card>
      <Card title="Payments">
        <Needs permission="payments:read">
          <Rows
            caption="Payments that name the customer"
            columns={paymentColumns}
            rows={history.payments ?? []}
          />
        </Needs>
      </Card>
    </>
  );
}

function Rows<Row>(table: Parameters<typeof Table<Row>>[0]) {
  return table.rows.length === 0 ? <p class="muted">None yet.</p> : <Table {...table} />;
}

function Totals({ history: { invoices, isEveryInvoice } }: { readonly history: History }) {
  const totals = totalsOf(invoices ?? []);
  if (totals.length === 0) return <p class="muted">Nothing was invoiced yet.</p>;
  return (
    <>
      <Table
        caption="What was paid and is owed, by currency"
        rows={totals}
        columns={[
          { name: "Currency", isHead: true, show: ({ currency }) => currency },
          { name: "Paid", isAmount: true, show: ({ paid }) => <Amount of={paid} /> },
          { name: "Owed", isAmount: true, show: ({ owed }) => <Amount of={owed} /> },
        ]}
      />
      {isEveryInvoice ? null : <p class="muted">Of the newest {invoices?.length} invoices.</p>}
    </>
  );
}

function factsOf({ email, taxId, address, metadata, createdAt, updatedAt }: Customer) {
  return [
    ["Email", email],
    ["Tax id", taxId],
    ["Address", address],
    ["Created", <Time at={createdAt} />],
    ["Changed", <Time at={updatedAt} />],
    ...Object.entries(metadata),
  ] as const;
}
