import type { Hex } from "#kernel/bytes";

/** Arrays as PostgreSQL reads them. Statements over many rows carry thousands of elements, and the driver's own way
 *  takes several times as long. */

const SPECIAL = /["\\]/;
/** Control characters and halves of surrogate pairs: JSON has ways to write them that PostgreSQL does not read so. */
const OF_JSON_ALONE = /[\p{Cc}\p{Cs}]/u;

/** One parameter for `…::type[]`. Elements are text, numbers, booleans or null; anything else is a bug. */
export function arrayOf(values: readonly unknown[]): string {
  let text = "{";
  for (const value of values) {
    if (text.length > 1) text += ",";
    text += element(value);
  }
  return `${text}}`;
}

/** One parameter for `…::bytea[]`. */
export function bytesArrayOf(values: readonly (Hex | null | undefined)[]): string {
  let text = "{";
  for (const value of values) {
    if (text.length > 1) text += ",";
    text += value ? `\\\\x${value.slice(2)}` : "NULL";
  }
  return `${text}}`;
}

function element(value: unknown): string {
  switch (typeof value) {
    case "string":
      return SPECIAL.test(value) ? quoted(value) : `"${value}"`;
    case "number":
    case "bigint":
    case "boolean":
      return String(value);
    default:
      if (value === null || value === undefined) return "NULL";
      throw new TypeError(`an array of ${typeof value} cannot be sent to the database`);
  }
}

/** Documents are full of quotation marks: the engine's own quoting leaves a tenth of the garbage of a replacement. */
function quoted(text: string): string {
  return OF_JSON_ALONE.test(text) ? `"${text.replace(/["\\]/g, "\\$&")}"` : JSON.stringify(text);
}
