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
  const options = optionsOf(products, lines);
  const isBilled = lines.some(({ productId }) => productId !== null);
  return (
    <Group name="lines" legend="Lines">
      <p class="hint">
        Choose a product, or name what it is and what one of it costs. A row that says neither is left out.
        {isBilled ? " A product that is billed already keeps the name and price it was added with." : null}
      </p>
      <div class="rows-of-lines">
        {Array.from({ length: count }, (_, i) => (
          <LineRow at={`lines.${i}`} place={i + 1} line={lines[i]} options={options} />
        ))}
      </div>
    </Group>
  );
}

interface LineRowProps {
  readonly at: string;
  readonly place: number;
  readonly line: Line | undefined;
  readonly options: ReturnType<typeof choicesOf>;
}

/** Products for sale, and those that are billed already though they are not for sale any more. */
function optionsOf(products: readonly Product[], lines: readonly Line[]) {
  const options = new Map(choicesOf(products, "None"));
  for (const { productId, name, unitPrice } of lines)
    if (productId !== null && !options.has(productId))
      options.set(productId, `${name} (${unitPrice.display})`);
  return [...options];
}

/** A product takes its name and its price from the catalog as it is added. */
function LineRow({ at, place, line, options }: LineRowProps) {
  const own = line?.productId === null ? line : undefined;
  return (
    <Group name={at} legend={`Line ${place}`} class="row">
      <Choice name={`${at}.productId`} label="Product" options={options} value={line?.productId ?? ""} />
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
