import { stableHash } from "#kernel/codec";
import type { Members } from "./deps.ts";
import { failure, type ToolResult } from "./result.ts";

const MAX_OFFSET = 1_000_000;

/** Where the next page begins; of use with this filter only. */
export function cursorAt(offset: number, filter: Members): string {
  return Buffer.from(`${offset}.${sealOf(filter)}`).toString("base64url");
}

/** The offset in a cursor of ours, 0 without one; null for a cursor of another filter, or none of ours. */
export function readCursor(cursor: string | undefined, filter: Members): number | null {
  if (cursor === undefined) return 0;
  const [, at = "", seal] =
    /^(\d{1,7})\.(\w+)$/.exec(Buffer.from(cursor, "base64url").toString("utf8")) ?? [];
  return seal === sealOf(filter) ? Math.min(Number(at), MAX_OFFSET) : null;
}

export const badCursor: ToolResult = failure(
  "invalid_cursor",
  "The cursor does not belong to this filter. Drop cursor and repeat.",
);

function sealOf(filter: Members): string {
  return stableHash(filter).slice(2, 14);
}
