export { insertMany } from "./bulk.ts";
export {
  addressBytes,
  atomic,
  hashBytes,
  height,
  hexBytes,
  instant,
  isAnyOf,
  oneOf,
  toArray,
  toBytesArray,
  toNumericArray,
} from "./columns.ts";
export {
  type Database,
  type DbOptions,
  type Executor,
  openDatabase,
  outageOf,
  type Tx,
  withTx,
} from "./db.ts";
export { decodeRows, readRows } from "./decode.ts";
export { fixed } from "./fixed.ts";
export { inTurn, MigrationProblem, migrate } from "./migrate.ts";
export * as outbox from "./outbox.ts";
export { isGone, openPresence, type Presence } from "./presence.ts";
export { isCheckViolation, isUniqueViolation, sqlState } from "./sql-error.ts";
export { together } from "./together.ts";
export { WaitingPool } from "./waiting-pool.ts";
