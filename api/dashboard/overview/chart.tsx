/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Volume } from "../verbs/overview.ts";

const HEIGHT = 120;
const STEP = 20;
const BAR = 12;

/** Volume per day: bars for the eye, the same figures as a table for who does not see them. */
export function Chart({ volume: { currency, days, total } }: { readonly volume: Volume }) {
  const most = largest(days.map(({ amount }) => amount));
  return (
    <figure class="chart">
      <figcaption>
        <span class="muted">
          {currency}, last {days.length} days
        </span>
        <strong class="figure">{total.display}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ day, amount, shown }, i) => {
          const height = heightOf(amount, most);
          return (
            <rect
              class={amount === 0n ? "none" : "bar"}
              x={i * STEP + (STEP - BAR) / 2}
              y={HEIGHT - height}
              width={BAR}
              height={height}
              rx="2"
            >
              <title>{`${day}: ${shown.display}`}</title>
            </rect>
          );
        })}
      </svg>
      <p class="ends muted" aria-hidden="true">
        <span>{days[0]?.day}</span>
        <span>{days.at(-1)?.day}</span>
      </p>
      <Figures currency={currency} days={days} />
    </figure>
  );
}

/** Hidden inside a block of its own: a table is as high as its rows, whatever its style sheet says. */
function Figures({ currency, days }: Pick<Volume, "currency" | "days">) {
  return (
    <div class="visually-hidden">
      <table>
        <caption>Completed payments in {currency} by day</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Volume</th>
          </tr>
        </thead>
        <tbody>
          {days.map(({ day, shown }) => (
            <tr>
              <th scope="row">{day}</th>
              <td>{shown.display}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** At least one, to divide by. */
function largest(amounts: readonly bigint[]): bigint {
  let most = 1n;
  for (const amount of amounts) if (amount > most) most = amount;
  return most;
}

/** In whole units of the drawing; a day without anything keeps a line to stand on. */
function heightOf(amount: bigint, most: bigint): number {
  return amount === 0n ? 2 : Math.max(4, Number((amount * BigInt(HEIGHT)) / most));
}
