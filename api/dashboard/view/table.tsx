/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";

export interface Column<Row> {
  readonly name: string;
  readonly show: (row: Row) => Child;
  /** Amounts stand at the right. */
  readonly isAmount?: boolean;
  /** The one that the others are about: it leads the row. */
  readonly isHead?: boolean;
}

interface TableProps<Row> {
  /** What the rows are, for who hears the table. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Where the next page is. */
  readonly next?: string | null;
}

/** A list. On a phone each row is a card of its own, which names its columns. */
export function Table<Row>({ caption, columns, rows, next }: TableProps<Row>) {
  return (
    <>
      <table class="list">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isAmount }) => (
              <th scope="col" class={isAmount ? "amount" : ""}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column) => (
                <Cell column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {next ? (
        <nav class="pages" aria-label="Pages">
          <a class="button" href={next} rel="next">
            Older
          </a>
        </nav>
      ) : null}
    </>
  );
}

function Cell<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }) {
  const { name, show, isAmount, isHead } = column;
  const manner = { class: isAmount ? "amount" : "", "data-name": name };
  return isHead ? (
    <th scope="row" {...manner}>
      {show(row)}
    </th>
  ) : (
    <td {...manner}>{show(row)}</td>
  );
}
