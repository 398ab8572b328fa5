import { type Column, type SQL, sql } from "drizzle-orm";
import { bigint, customType, numeric, timestamp } from "drizzle-orm/pg-core";
import pg from "pg";
import type { Address, Hash, Hex } from "#kernel/bytes";
import { arrayOf, bytesArrayOf } from "./arrays.ts";

// Bytes come as hex after another mark, and a payment's rows have forty of them: an array of bytes for each, which
// became hex again at once, was a twentieth of what a settle left to the old heap.
pg.types.setTypeParser(pg.types.builtins.BYTEA, (text): Hex => `0x${text.slice(2)}`);

function hexColumn<T extends Hex>() {
  return customType<{ data: T; driverData: string }>({
    dataType: () => "bytea",
    toDriver: (value) => `\\x${value.slice(2)}`,
    fromDriver: (value) => value as T,
  });
}
/** `bytea` that code sees as lower-case hex. */
export const hexBytes = hexColumn<Hex>();
export const addressBytes = hexColumn<Address>();
export const hashBytes = hexColumn<Hash>();

/** Atomic units below 2^128: `numeric(39,0)`, bigint in code. */
export const atomic = (name: string) => numeric(name, { precision: 39, scale: 0, mode: "bigint" });

/** An instant. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

/** A chain's number, or a block's: whole, and far below 2^53. */
export const height = (name: string) => bigint(name, { mode: "number" });

/** For a check of a column that holds one of a few words. */
export const oneOf = (column: SQL, values: readonly string[]): SQL =>
  sql`${column} IN (${sql.raw(values.map((value) => `'${value}'`).join(","))})`;

/** Amounts as one array parameter, for statements over many rows at once. */
export function toNumericArray(amounts: readonly bigint[]): SQL {
  return sql`${arrayOf(amounts, "numeric")}::numeric[]`;
}

/** Byte strings as one array parameter. */
export function toBytesArray(values: readonly Hex[]): SQL {
  return sql`${bytesArrayOf(values)}::bytea[]`;
}

/** Values as one array parameter of a built-in type. Instants as ISO text. */
export function toArray(
  values: readonly (string | number | null)[],
  type: "text" | "int" | "bigint" | "timestamptz",
): SQL {
  return sql`${arrayOf(values, type)}::${sql.raw(type)}[]`;
}

/** `IN` for a list whose length differs from call to call: the statement's text does not, so it stays prepared. */
export function isAnyOf(column: Column, values: readonly string[]): SQL {
  return sql`${column} = ANY(${toArray(values, "text")})`;
}
