/** The door of everything HTTP. */
export { areCaughtUp } from "./caught-up.ts";
export type { MoneyLoop } from "./clearing/loop.ts";
export { createApi } from "./create.ts";
export type { ApiConfig, ApiDeps } from "./deps.ts";
export { type ProofProblem, problemOf as problemOfProof } from "./documents/proof.ts";
export { eventReference, eventSchemas } from "./event-reference.ts";
export type { Readiness } from "./health.ts";
export { errorReference } from "./http/errors.ts";
export type { Job } from "./http/job.ts";
export { type Permission, permissions } from "./http/permissions.ts";
export { createSafeFetch } from "./http/safe-fetch.ts";
export { intentDeriver, quoter } from "./lent.ts";
export { fileMailer } from "./mail/file.ts";
export type { Mailer } from "./mail/port.ts";
export { smtpMailer } from "./mail/smtp.ts";
export { type MailBacklog, mailBacklog } from "./mail/verbs/backlog.ts";
export { deriveKey, type KeyKind, type Secret } from "./merchant/key.ts";
export type { MerchantInput } from "./merchant/schema.ts";
export type { KeyInput } from "./merchant/verbs/key-row.ts";
export type { MerchantRow } from "./merchant/verbs/merchant.ts";
export {
  type CreatedKey,
  changeFee,
  createKey,
  createMerchant,
  type ListedMerchant,
  listEveryKey,
  listMerchants,
  type Operator,
  replaceKey,
  resumeMerchant,
  revokeKey,
  suspendMerchant,
} from "./merchant/verbs/operator.ts";
export { stateReference } from "./payment-states.ts";
export { type SandboxAccess, sandboxAccess, sandboxProvider } from "./provider/adapters/sandbox.ts";
export { openMovableClock } from "./provider/clock.ts";
export type { Sandbox, SandboxChain } from "./provider/sandbox.ts";
export { fixedRates, liveRates, type Rates } from "./rate/rates.ts";
export { paymentCodec } from "./x402/codec.ts";
