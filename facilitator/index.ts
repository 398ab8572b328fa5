/** The door of the centre. */
export {
  addressOf,
  depositAccountOf,
  localCustodian,
  localOperator,
  localSigner,
  type OnRpc,
  openEvmChain,
} from "./chain/evm/index.ts";
export type { Chain, Custodian, DepositAccount, Operator, Rail, Signer } from "./chain/port.ts";
export { checkRails, checkRouter, isTaken, recheckRails } from "./chain/rails.ts";
export { type ChainConfig, type ChainRow, chainRow, chainRows } from "./chain/registry.ts";
export { isUnavailable } from "./chain/unavailable.ts";
export { createFacilitator, type Running } from "./create.ts";
export type {
  ChainFacts,
  Discovered,
  DiscoverQuery,
  Facilitator,
  Offer,
  Quote,
  RailFacts,
  RefusedRail,
  Supported,
} from "./door.ts";
export { agentUrl, hasAgentUrl, namesItsPrice } from "./payable/agent-url.ts";
export { type Challenge, readChallenge, readRequired } from "./payable/challenge.ts";
export { isDefaultAsset } from "./payable/default-assets.ts";
export { registrableDomain } from "./payable/domain.ts";
export { checkExtensions, type ExtensionFinding, shapeProblem } from "./payable/extensions.ts";
export { payableKey } from "./payable/find.ts";
export { clientNotes } from "./payable/notes.ts";
export type { Payable, PayableKind, PayableRail, PaymentOption } from "./payable/payable.ts";
export type { OwnWallet } from "./payable/popularity.ts";
export { projectPayable } from "./payable/project.ts";
export { type ResourceType, resourceType } from "./payable/resource-type.ts";
export type { ListingWarning } from "./payable/tables.ts";
export type { Assessment, Probe, Trust } from "./payable/trust.ts";
export { payableUrl } from "./payable/url.ts";
export { curveIsNative } from "./scheme/index.ts";
export { type Reason, type Refusal, reasons } from "./scheme/reasons.ts";
export { type BudgetUse, budgetUse } from "./settlement/budget/burn.ts";
export type { PaymentView } from "./settlement/claim/payments.ts";
export {
  acceptReviewed,
  type ReviewedPayment,
  type ReviewProblem,
  returnReviewed,
  reviewedPayments,
} from "./settlement/claim/review.ts";
export type { Arrival } from "./settlement/deposit/arrivals.ts";
export type { DepositOrder, OpenedOrder } from "./settlement/deposit/order.ts";
export {
  type Checkpoint,
  defaultSettings,
  type Engine,
  type Meter,
  type OpenChain,
  type Settings,
} from "./settlement/engine.ts";
export { health, type SettlementHealth } from "./settlement/lookup/health.ts";
export { type InspectedClaim, inspectClaims, type SignedTransaction } from "./settlement/lookup/inspect.ts";
export type { PaymentLookup, PaymentRef, SignedRef } from "./settlement/lookup/lookup.ts";
export { type ChainOutlook, outlook } from "./settlement/lookup/outlook.ts";
export { type Loop, loop } from "./settlement/loops/loop.ts";
export {
  afterRestore,
  type LaneRef,
  quarantineLane,
  type Restored,
  type ResumedLane,
  resumeChain,
  resumeLane,
} from "./settlement/operate.ts";
export { adoptSlugs } from "./settlement/slug.ts";
export {
  approveOrder,
  holdPayouts,
  type UnapprovedOrder,
  unapprovedOrders,
} from "./settlement/treasury/approval.ts";
export {
  bookOutflow,
  type OutflowProblem,
  type OutflowRef,
  type OutflowWord,
  type StrayOutflow,
  strayOutflows,
} from "./settlement/treasury/outflows.ts";
export type { OutgoingOrder, OutgoingStatus } from "./settlement/treasury/outgoing.ts";
export { type Reconciled, reconcileAll } from "./settlement/treasury/reconcile.ts";
export { adoptTreasury } from "./settlement/treasury/treasury.ts";
export type { PayableState } from "./settlement/verify/offer.ts";
export type {
  OptionSelection,
  PaymentRequest,
  SettleAnswer,
  SettlementStatus,
  SettlementStatusName,
  SettleOutcome,
  VerifyAnswer,
} from "./settlement/verify/request.ts";
