/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Invoice } from "../../invoice/schema.ts";
import { Listing } from "../view/listing.tsx";
import { Way } from "../view/needs.tsx";
import { Amount, Badge, Empty, Time } from "../view/shown.tsx";
import type { Column } from "../view/table.tsx";
import type { Asked } from "../view/tabs.tsx";
import { toneOfInvoice } from "./tones.ts";

const PATH = "/dashboard/invoices";
const tabs = [
  ["All", {}],
  ["Draft", { status: "draft" }],
  ["Open", { status: "open" }],
  ["Overdue", { status: "overdue" }],
  ["Partly paid", { status: "partially-paid" }],
  ["Paid", { status: "paid" }],
  ["Uncollectible", { status: "uncollectible" }],
  ["Void", { status: "void" }],
] as const;

interface InvoicesProps {
  readonly asked: Asked;
  readonly rows: readonly Invoice[];
  readonly next: string | null;
}

export function InvoicesPage(list: InvoicesProps) {
  return (
    <Listing
      title="Invoices"
      about="What you billed, and what of it is paid."
      path={PATH}
      tabs={tabs}
      find="Number, email or id"
      columns={columns}
      first={<FirstInvoice />}
      {...list}
    >
      <New />
    </Listing>
  );
}

/** Columns of an invoice, for every list of them. */
export const columns: readonly Column<Invoice>[] = [
  {
    name: "Invoice",
    isHead: true,
    show: ({ id, number }) => <a href={`${PATH}/${id}`}>{number ?? "Draft"}</a>,
  },
  { name: "Buyer", show: ({ buyer }) => buyer.name },
  { name: "Status", show: (invoice) => <InvoiceBadge of={invoice} /> },
  {
    name: "Due",
    show: ({ dueAt }) => (dueAt ? <Time at={dueAt} /> : <span class="muted">when issued</span>),
  },
  { name: "Total", isAmount: true, show: ({ total }) => <Amount of={total} /> },
  // Less what was refunded: an invoice stays paid whatever goes back of it.
  { name: "Paid", isAmount: true, show: ({ paid }) => <Amount of={paid} /> },
];

export function InvoiceBadge({ of: { status } }: { readonly of: Pick<Invoice, "status"> }) {
  return <Badge state={status} tone={toneOfInvoice[status]} />;
}

function New() {
  return (
    <Way to={`${PATH}/new`} permission="invoices:manage" isFirst={true}>
      New invoice
    </Way>
  );
}

function FirstInvoice() {
  return (
    <Empty title="No invoices yet">
      <p class="muted">
        Write a draft, look it over, then issue it: it gets its number, a page where it is paid, and a PDF.
      </p>
      <New />
    </Empty>
  );
}
