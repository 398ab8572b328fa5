/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { currencies } from "../../http/currency.ts";
import { Choice } from "./form.tsx";

const options = currencies.map(({ code, name }) => [code, `${code} · ${name}`] as const);

/** One of the units that an amount may be written in. */
export function CurrencyChoice({
  name,
  label,
  value = "USD",
}: {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
}) {
  return <Choice name={name} label={label} value={value} options={options} />;
}
