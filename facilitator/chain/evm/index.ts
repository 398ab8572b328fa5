export { openEvmChain } from "./chain.ts";
export type { OnRpc } from "./client.ts";
export { localCustodian } from "./custodian.ts";
export { depositAccountOf } from "./deposit-account.ts";
export { localOperator } from "./operator.ts";
export { addressOf, localSigner } from "./signer.ts";
