/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Customer } from "../../customer/schema.ts";
import { Field, Form } from "../view/form.tsx";
import { Heading } from "../view/heading.tsx";
import { Needs } from "../view/needs.tsx";

const PATH = "/dashboard/customers";

/** The form of a new customer, or of one that is there. */
export function CustomerFormPage({ customer }: { readonly customer?: Customer }) {
  return (
    <>
      <Heading
        title={customer ? `Edit ${customer.name}` : "New customer"}
        above={customer ? [`${PATH}/${customer.id}`, customer.name] : [PATH, "Customers"]}
      />
      <div class="card narrow">
        <Needs permission="customers:manage">
          <Form
            action={customer ? `${PATH}/${customer.id}/edit` : PATH}
            submit={customer ? "Save the customer" : "Add the customer"}
          >
            <Field name="name" label="Name" value={customer?.name} isRequired={true} maxLength={140} />
            <Field
              name="email"
              label="Email"
              type="email"
              value={customer?.email}
              isRequired={true}
              maxLength={254}
            />
            <Field name="taxId" label="Tax id" value={customer?.taxId ?? ""} maxLength={64} />
            <Field
              name="address"
              label="Address"
              value={customer?.address ?? ""}
              hint="On one line, with commas."
              maxLength={500}
            />
          </Form>
        </Needs>
      </div>
    </>
  );
}
