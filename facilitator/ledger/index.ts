export * as account from "./account.ts";
export {
  type AccountBalance,
  balanceAt,
  merchantBalances,
  treasuryBalances,
  trialBalance,
} from "./balance.ts";
export {
  assetOfEvent,
  type EntryFilter,
  type MerchantEntry,
  merchantEntries,
  postedEvents,
} from "./entries.ts";
export { foldOldTransfers } from "./fold.ts";
export { type Imbalance, imbalance, recentImbalance } from "./imbalance.ts";
export { type Posted, post } from "./post.ts";
export { resolvePending } from "./resolve.ts";
export { freeOf, hasPosted, holdAvailable, pendingCredits } from "./spendable.ts";
export type { Deposit, ReturnSource, X402Payment } from "./templates/index.ts";
export * as templates from "./templates/index.ts";
export type { Entry, Transfer } from "./transfer.ts";
