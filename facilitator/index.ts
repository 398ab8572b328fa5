/** The door of the centre. */
export { addressOf, localSigner, type OnRpc, openEvmChain } from "./chain/evm/index.ts";
export type { Chain, Rail, Signer } from "./chain/port.ts";
export { checkRails } from "./chain/rails.ts";
export { type ChainConfig, type ChainRow, chainRow } from "./chain/registry.ts";
export { createFacilitator, type Running } from "./create.ts";
export type { DiscoverQuery, Facilitator, Quote, RailFacts, RefusedRail, Supported } from "./door.ts";
export { checkExtensions, type ExtensionFinding } from "./payable/extensions.ts";
export type { Payable, PayableKind, PayableRail, PaymentOption } from "./payable/payable.ts";
export { payableUrl } from "./payable/url.ts";
export { curveIsNative } from "./scheme/index.ts";
export { type Reason, type Refusal, reasons } from "./scheme/reasons.ts";
export {
  type Checkpoint,
  defaultSettings,
  type Engine,
  type Meter,
  type OpenChain,
  type Settings,
} from "./settlement/engine.ts";
export { health, type SettlementHealth } from "./settlement/health.ts";
export type {
  OptionSelection,
  PaymentRequest,
  SettleAnswer,
  SettlementStatus,
  SettlementStatusName,
  SettleOutcome,
  VerifyAnswer,
} from "./settlement/request.ts";
