/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Product } from "../../catalog/schema.ts";
import type { Invoice } from "../../invoice/schema.ts";
import { choicesOf } from "../products/options.ts";
import { Choice, Field, Group, useRows } from "../view/form.tsx";

type Line = Invoice["lines"][number];

/** What is billed: a product each, or something named and priced here. */
export function Lines({
  products,
  lines,
}: {
  readonly products: readonly Product[];
  readonly lines: readonly Line[];
}) {
  const count = useRows("lines", { given: lines.length, spare: 3 });
  const known = products.map(({ id }) => id);
  return (
    <Group name="lines" legend="Lines">
      <p class="hint">
        Choose a product, or name what it is and what one of it costs. A row that says neither is left out.
      </p>
      <div class="rows-of-lines">
        {Array.from({ length: count }, (_, i) => (
          <LineRow at={`lines.${i}`} place={i + 1} line={lines[i]} products={products} known={known} />
        ))}
      </div>
    </Group>
  );
}

interface LineRowProps {
  readonly at: string;
  readonly place: number;
  readonly line: Line | undefined;
  readonly products: readonly Product[];
  readonly known: readonly string[];
}

/** A product takes its name and its price from the catalog. One that is not for sale any more is a line of its own. */
function LineRow({ at, place, line, products, known }: LineRowProps) {
  const isProduct = line !== undefined && line.productId !== null && known.includes(line.productId);
  const own = isProduct ? undefined : line;
  return (
    <Group name={at} legend={`Line ${place}`} class="row">
      <Choice
        name={`${at}.productId`}
        label="Product"
        options={choicesOf(products, "None")}
        value={isProduct ? (line.productId ?? "") : ""}
      />
      <Field name={`${at}.name`} label="Or its name" value={own?.name} maxLength={200} />
      <Field
        name={`${at}.unitPrice.amount`}
        label="Unit price"
        value={own?.unitPrice.amount}
        inputmode="decimal"
      />
      <Field
        name={`${at}.quantity`}
        label="Quantity"
        value={line?.quantity.toString()}
        valueOfNewRow="1"
        inputmode="numeric"
      />
    </Group>
  );
}
