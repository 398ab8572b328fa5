/** For features that sell by an agent URL of their own: their agents' payments become payments here. */
export { type Recorded, recordPayments } from "../bulk.ts";
export type { ClearingDesk } from "../desk.ts";
export { payableOf } from "../hear.ts";
