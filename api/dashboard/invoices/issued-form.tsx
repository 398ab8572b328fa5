/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Invoice } from "../../invoice/schema.ts";
import { Field, Form, TextField } from "../view/form.tsx";
import { Heading } from "../view/heading.tsx";
import { Needs } from "../view/needs.tsx";

/** What may still change of an invoice that was issued: nothing that touches its money. */
export function IssuedFormPage({ invoice }: { readonly invoice: Invoice }) {
  const at = `/dashboard/invoices/${invoice.id}`;
  const { buyer, dueAt, notes, number, version } = invoice;
  return (
    <>
      <Heading
        title={`Edit ${number}`}
        above={[at, number ?? "Invoice"]}
        about="What it asks for was frozen when it was issued. To bill another amount, void it and issue another one."
      />
      <div class="card narrow">
        <Needs permission="invoices:manage">
          <Form action={`${at}/amend`} submit="Save the invoice">
            <input type="hidden" name="version" value={version} />
            <Field
              name="dueAt"
              label="Due on (UTC)"
              type="date"
              value={dueAt?.slice(0, 10) ?? ""}
              hint="Later than it is, never sooner."
            />
            <Field
              name="buyer.email"
              label="Email of the buyer"
              type="email"
              value={buyer.email ?? ""}
              maxLength={254}
            />
            <Field name="buyer.taxId" label="Tax id of the buyer" value={buyer.taxId ?? ""} maxLength={64} />
            <TextField
              name="buyer.address"
              label="Address of the buyer"
              value={buyer.address ?? ""}
              maxLength={500}
            />
            <TextField name="notes" label="Notes" value={notes ?? ""} maxLength={2000} />
          </Form>
        </Needs>
      </div>
    </>
  );
}
