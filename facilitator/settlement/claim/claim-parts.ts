import { claim } from "./tables.ts";

type Row = typeof claim.$inferSelect;

/** A claim is a wide row and is read several times by each payment: every reader names what it goes on with. */

/** What answers are made of. */
export const toldColumns = {
  claimKey: claim.claimKey,
  id: claim.id,
  payableId: claim.payableId,
  chainId: claim.chainId,
  payer: claim.payer,
  amount: claim.amount,
  fingerprint: claim.fingerprint,
  state: claim.state,
  creditState: claim.creditState,
  reason: claim.reason,
  message: claim.message,
  attempts: claim.attempts,
  includedTx: claim.includedTx,
  includedAt: claim.includedAt,
  settledBy: claim.settledBy,
  grantedTo: claim.grantedTo,
  grantedAt: claim.grantedAt,
};
export type ToldClaim = Pick<Row, keyof typeof toldColumns>;

/** What is sent, and judged before it is. */
export const sentColumns = {
  kind: claim.kind,
  claimKey: claim.claimKey,
  chainId: claim.chainId,
  method: claim.method,
  payer: claim.payer,
  nonce: claim.nonce,
  token: claim.token,
  payTo: claim.payTo,
  amount: claim.amount,
  validAfter: claim.validAfter,
  validBefore: claim.validBefore,
  signature: claim.signature,
  payerHasCode: claim.payerHasCode,
  attempts: claim.attempts,
  createdAt: claim.createdAt,
};
export type SentClaim = Pick<Row, keyof typeof sentColumns>;

/** What a credit books. */
export const matchedColumns = {
  claimKey: claim.claimKey,
  id: claim.id,
  kind: claim.kind,
  merchantId: claim.merchantId,
  payableId: claim.payableId,
  token: claim.token,
  amount: claim.amount,
  fee: claim.fee,
  state: claim.state,
  creditEpoch: claim.creditEpoch,
  version: claim.version,
};
export type MatchedClaim = Pick<Row, keyof typeof matchedColumns>;

/** What those who move claims go on with. */
export const movedColumns = {
  claimKey: claim.claimKey,
  id: claim.id,
  kind: claim.kind,
  merchantId: claim.merchantId,
  payableId: claim.payableId,
  token: claim.token,
  amount: claim.amount,
  reason: claim.reason,
  includedTx: claim.includedTx,
  holdsPayable: claim.holdsPayable,
  version: claim.version,
};
export type MovedClaim = Pick<Row, keyof typeof movedColumns>;

/** What a payment looks like to the feature that sold it. */
export const viewedColumns = {
  id: claim.id,
  payableId: claim.payableId,
  merchantId: claim.merchantId,
  chainId: claim.chainId,
  token: claim.token,
  state: claim.state,
  creditEpoch: claim.creditEpoch,
  amount: claim.amount,
  fee: claim.fee,
  payer: claim.payer,
  payTo: claim.payTo,
  includedBlock: claim.includedBlock,
  includedHash: claim.includedHash,
  includedTx: claim.includedTx,
  includedLog: claim.includedLog,
  includedAt: claim.includedAt,
  reason: claim.reason,
  message: claim.message,
  createdAt: claim.createdAt,
};
export type ViewedClaim = Pick<Row, keyof typeof viewedColumns>;
