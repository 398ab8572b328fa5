import { type Column, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Hex } from "#kernel/bytes";
import { arrayOf, bytesArrayOf } from "./arrays.ts";

/** `INSERT INTO … SELECT … FROM unnest(…)`: one array parameter per column, so that the statement's text and the number
 *  of its parts do not grow with the rows. Every row names the same columns. */
export function insertMany<T extends PgTable>(table: T, rows: readonly T["$inferInsert"][]): SQL {
  const columns = getTableColumns(table);
  const named = Object.entries(columns).filter(([key]) =>
    rows.some((row) => (row as Record<string, unknown>)[key] !== undefined),
  );
  const names = sql.join(
    named.map(([, column]) => sql.identifier(column.name)),
    sql.raw(", "),
  );
  const arrays = named.map(([key, column]) =>
    columnArray(
      column,
      rows.map((row) => (row as Record<string, unknown>)[key]),
    ),
  );
  return sql`INSERT INTO ${table} (${names}) SELECT * FROM unnest(${sql.join(arrays, sql.raw(", "))})`;
}

function columnArray(column: Column, values: readonly unknown[]): SQL {
  const type = column.getSQLType();
  const text =
    type === "bytea"
      ? bytesArrayOf(values as readonly (Hex | null | undefined)[])
      : arrayOf(
          values.map((value) =>
            value === null || value === undefined ? null : column.mapToDriverValue(value),
          ),
        );
  return sql`${text}::${sql.raw(type)}[]`;
}
