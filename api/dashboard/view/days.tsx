/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */

interface DaysProps {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The first and the last day of what a list is narrowed to. */
export function Days({ from, to }: DaysProps) {
  return (
    <>
      <div class="field">
        <label for="from">From</label>
        <input id="from" name="from" type="date" value={from ?? ""} />
      </div>
      <div class="field">
        <label for="to">Until</label>
        <input id="to" name="to" type="date" value={to ?? ""} />
      </div>
    </>
  );
}
