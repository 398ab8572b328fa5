import { isDeepStrictEqual } from "node:util";

/** Whether all that is to be changed is so already: then nothing is written and told, and the version stays. */
export function changesNothing<Row extends object>(row: Row, changes: Partial<Row>): boolean {
  return Object.entries(changes).every(([name, value]) => isDeepStrictEqual(row[name as keyof Row], value));
}
