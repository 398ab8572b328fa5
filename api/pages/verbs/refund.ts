export type { Refund } from "../../refund/schema.ts";
export { type ClaimRefusal, claimMessage, claimRefunds } from "../../refund/verbs/claim.ts";
export { type ClaimDesk, type OpenRefunds, openRefunds } from "../../refund/verbs/open.ts";
