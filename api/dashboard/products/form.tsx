/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Product } from "../../catalog/schema.ts";
import { CurrencyChoice } from "../view/currency.tsx";
import { Field, Form, Group, TextField, useRows } from "../view/form.tsx";
import { Heading } from "../view/heading.tsx";
import { Needs } from "../view/needs.tsx";

const PATH = "/dashboard/products";

/** The form of a new product, or of one that is there. */
export function ProductFormPage({ product }: { readonly product?: Product }) {
  const action = product ? `${PATH}/${product.id}/edit` : PATH;
  return (
    <>
      <Heading
        title={product ? `Edit ${product.name}` : "New product"}
        above={product ? [`${PATH}/${product.id}`, product.name] : [PATH, "Products"]}
      />
      <div class="card narrow">
        <Needs permission="catalog:manage">
          <Form
            action={action}
            submit={product ? "Save the product" : "Add the product"}
            more={["prices", "More prices"]}
          >
            {product ? <input type="hidden" name="version" value={product.version} /> : null}
            <Field name="name" label="Name" value={product?.name} isRequired={true} maxLength={140} />
            <Field
              name="sku"
              label="SKU"
              value={product?.sku}
              hint="Your own number for it, each once."
              isRequired={true}
              maxLength={64}
            />
            <TextField
              name="description"
              label="Description"
              value={product?.description ?? ""}
              maxLength={1000}
            />
            <Prices of={product?.prices ?? []} />
          </Form>
        </Needs>
      </div>
    </>
  );
}

function Prices({ of: prices }: { readonly of: Product["prices"] }) {
  const count = useRows("prices", { given: prices.length, spare: 2 });
  return (
    <Group name="prices" legend="Prices">
      <p class="hint">One for each currency that it is sold in. A row without an amount is left out.</p>
      <div class="rows-of-prices">
        {Array.from({ length: count }, (_, i) => (
          <Group name={`prices.${i}`} legend={`Price ${i + 1}`} class="row">
            <Field name={`prices.${i}.amount`} label="Amount" value={prices[i]?.amount} inputmode="decimal" />
            <CurrencyChoice name={`prices.${i}.asset`} label="Currency" value={prices[i]?.asset} />
          </Group>
        ))}
      </div>
    </Group>
  );
}
