export type { Refund } from "../../refund/schema.ts";
export {
  type ClaimDesk,
  type ClaimRefusal,
  claimMessage,
  claimRefunds,
  type OpenRefunds,
  openRefunds,
} from "../../refund/verbs/claim.ts";
