import type { Column, GetColumnData } from "drizzle-orm";

type Columns = Readonly<Record<string, Column>>;
type Decoded<C extends Columns> = { [K in keyof C]: GetColumnData<C[K]> };

/** What a statement of our own text returned, as the columns would be selected. It names them as the table does. */
export function decodeRows<C extends Columns>(
  columns: C,
  rows: readonly Readonly<Record<string, unknown>>[],
): readonly Decoded<C>[] {
  const named = Object.entries(columns);
  return rows.map((row) => {
    const decoded: Record<string, unknown> = {};
    for (const [key, column] of named) {
      const value = row[column.name];
      decoded[key] = value === null ? null : column.mapFromDriverValue(value);
    }
    return decoded as Decoded<C>;
  });
}
