/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Customer } from "../../customer/schema.ts";
import { Listing } from "../view/listing.tsx";
import { Way } from "../view/needs.tsx";
import { Empty, Time } from "../view/shown.tsx";
import type { Column } from "../view/table.tsx";
import type { Asked } from "../view/tabs.tsx";

const PATH = "/dashboard/customers";

interface CustomersProps {
  readonly asked: Asked;
  readonly rows: readonly Customer[];
  readonly next: string | null;
}

export function CustomersPage(list: CustomersProps) {
  return (
    <Listing
      title="Customers"
      about="Who buys from you: each email is one customer."
      path={PATH}
      find="Email or id"
      columns={columns}
      first={<FirstCustomer />}
      {...list}
    >
      <New />
    </Listing>
  );
}

const columns: readonly Column<Customer>[] = [
  { name: "Customer", isHead: true, show: ({ id, name }) => <a href={`${PATH}/${id}`}>{name}</a> },
  { name: "Email", show: ({ email }) => email },
  { name: "Created", isAmount: true, show: ({ createdAt }) => <Time at={createdAt} /> },
];

function New() {
  return (
    <Way to={`${PATH}/new`} permission="customers:manage" isFirst={true}>
      New customer
    </Way>
  );
}

function FirstCustomer() {
  return (
    <Empty title="No customers yet">
      <p class="muted">
        A customer is kept by email, with what stands on invoices. A new subscription adds its customer by
        itself.
      </p>
      <New />
    </Empty>
  );
}
