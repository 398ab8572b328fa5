/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Product } from "../../catalog/schema.ts";
import type { Customer } from "../../customer/schema.ts";
import type { Invoice } from "../../invoice/schema.ts";
import { CurrencyChoice } from "../view/currency.tsx";
import { Check, Field, Form, Group, TextField } from "../view/form.tsx";
import { Heading } from "../view/heading.tsx";
import { Needs } from "../view/needs.tsx";
import { Lines } from "./lines.tsx";

const PATH = "/dashboard/invoices";

interface DraftProps {
  readonly products: readonly Product[];
  /** The draft to change; a new one when left out. */
  readonly invoice?: Invoice;
  /** To take a buyer from. */
  readonly customers?: readonly Customer[];
  readonly customer?: Customer | null;
}

/** The form of a new invoice, or of a draft. */
export function DraftFormPage({ products, invoice, customers = [], customer }: DraftProps) {
  const at = invoice ? `${PATH}/${invoice.id}` : PATH;
  return (
    <>
      <Heading
        title={invoice ? "Edit the draft" : "New invoice"}
        above={invoice ? [at, "Draft"] : [PATH, "Invoices"]}
        about={invoice ? undefined : "A draft can be changed until it is issued."}
      />
      <Needs permission="invoices:manage">
        {customers.length > 0 ? <TakeBuyer customers={customers} customer={customer ?? null} /> : null}
        <div class="card">
          <Form
            action={invoice ? `${at}/edit` : PATH}
            submit={invoice ? "Save the draft" : "Make the invoice"}
            more={["lines", "More lines"]}
          >
            {invoice ? <input type="hidden" name="version" value={invoice.version} /> : null}
            <BuyerFields of={invoice?.buyer ?? customer ?? null} />
            <Terms invoice={invoice} />
            <Lines products={products} lines={invoice?.lines ?? []} />
          </Form>
        </div>
      </Needs>
    </>
  );
}

/** Fills the buyer in from a customer: a form of its own, so that it works without a script. */
function TakeBuyer({
  customers,
  customer,
}: {
  readonly customers: readonly Customer[];
  readonly customer: Customer | null;
}) {
  return (
    <form class="filter" method="get" action={`${PATH}/new`}>
      <div class="field">
        <label for="customer">Bill a customer</label>
        <select id="customer" name="customer">
          {customers.map(({ id, name, email }) => (
            <option value={id} {...(id === customer?.id ? { selected: true } : {})}>
              {`${name} (${email})`}
            </option>
          ))}
        </select>
      </div>
      <button type="submit">Fill in the buyer</button>
    </form>
  );
}

type BuyerText = Omit<Invoice["buyer"], "name"> & { readonly name: string };

function BuyerFields({ of: buyer }: { readonly of: BuyerText | null }) {
  return (
    <Group name="buyer" legend="Buyer" class="plain">
      <div class="pair">
        <Field name="buyer.name" label="Name" value={buyer?.name} isRequired={true} maxLength={140} />
        <Field name="buyer.email" label="Email" type="email" value={buyer?.email ?? ""} maxLength={254} />
      </div>
      <div class="pair">
        <TextField name="buyer.address" label="Address" value={buyer?.address ?? ""} maxLength={500} />
        <Field name="buyer.taxId" label="Tax id" value={buyer?.taxId ?? ""} maxLength={64} />
      </div>
    </Group>
  );
}

function Terms({ invoice }: { readonly invoice: Invoice | undefined }) {
  return (
    <Group name="terms" legend="Terms">
      <CurrencyChoice name="currency" label="Currency" value={invoice?.currency} />
      <div class="pair">
        <Field name="dueAt" label="Due on (UTC)" type="date" value={invoice?.dueAt?.slice(0, 10) ?? ""} />
        <Field
          name="daysUntilDue"
          label="Or days to pay"
          inputmode="numeric"
          hint={invoice ? "Empty: as it is." : "Empty: 30 days."}
        />
      </div>
      <TextField
        name="notes"
        label="Notes"
        value={invoice?.notes ?? ""}
        hint="Printed on it."
        maxLength={2000}
      />
      <Check
        name="sendEmail"
        label="Mail it to the buyer when it is issued, with reminders until it is paid"
        isOn={invoice?.sendEmail ?? false}
      />
      {invoice ? null : <Check name="issue" label="Issue it at once" />}
    </Group>
  );
}
