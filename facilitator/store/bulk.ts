import { type Column, getTableColumns, getTableName, SQL, StringChunk } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Hex } from "#kernel/bytes";
import { arrayOf, bytesArrayOf } from "./arrays.ts";

/** What an insert into some columns of a table looks like: the columns, and the text before, between and after their
 *  parameters. */
interface Shape {
  readonly columns: readonly (readonly [key: string, column: Column])[];
  readonly texts: readonly StringChunk[];
}
const shapes = new WeakMap<PgTable, Map<string, Shape>>();

/** `INSERT INTO … SELECT … FROM unnest(…)`: one array parameter per column, so that the statement's text and the number
 *  of its parts do not grow with the rows. Columns that no row fills are left to the table. The text is built once. */
export function insertMany<T extends PgTable>(table: T, rows: readonly T["$inferInsert"][]): SQL {
  const { columns, texts } = shapeOf(table, rows);
  const chunks: unknown[] = [texts[0]];
  for (const [i, [key, column]] of columns.entries())
    chunks.push(
      columnArray(
        column,
        rows.map((row) => (row as Record<string, unknown>)[key]),
      ),
      texts[i + 1],
    );
  return new SQL(chunks as SQL["queryChunks"]);
}

function shapeOf<T extends PgTable>(table: T, rows: readonly T["$inferInsert"][]): Shape {
  const columns = Object.entries(getTableColumns(table)).filter(([key, { hasDefault }]) =>
    rows.some((row) => {
      const value = (row as Record<string, unknown>)[key];
      return value !== undefined && (value !== null || hasDefault);
    }),
  );
  const known = shapes.get(table) ?? new Map<string, Shape>();
  shapes.set(table, known);
  const keys = columns.map(([key]) => key).join();
  const shape = known.get(keys) ?? { columns, texts: textsOf(getTableName(table), columns) };
  known.set(keys, shape);
  return shape;
}

function textsOf(table: string, columns: Shape["columns"]): readonly StringChunk[] {
  const names = columns.map(([, { name }]) => `"${name}"`).join(", ");
  const casts = columns.map(([, column]) => `::${column.getSQLType()}[]`);
  const texts = casts.map((cast, i) => (i < casts.length - 1 ? `${cast}, ` : `${cast})`));
  return [`INSERT INTO "${table}" (${names}) SELECT * FROM unnest(`, ...texts].map(
    (text) => new StringChunk(text),
  );
}

function columnArray(column: Column, values: readonly unknown[]): string | Buffer {
  if (column.getSQLType() === "bytea") return bytesArrayOf(values as readonly (Hex | null | undefined)[]);
  return arrayOf(
    values.map((value) => (value === null || value === undefined ? null : column.mapToDriverValue(value))),
    column.getSQLType(),
  );
}
