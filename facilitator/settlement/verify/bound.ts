import type { FoundPayable } from "../../payable/row.ts";
import { payableUrl } from "../../payable/url.ts";
import type { ToldClaim } from "../claim/claim-parts.ts";
import type { PaymentRequest } from "./request.ts";

interface Sought {
  readonly target: PaymentRequest["target"];
  readonly found: FoundPayable | null;
  readonly claim: ToldClaim | null;
  readonly findPayable: (target: PaymentRequest["target"]) => Promise<FoundPayable | null>;
}

/** What a payment pays. Mostly that was found; of a resource that is gone, or was registered anew, its URL leads to none or
 *  to another, and a payment that was claimed before is still one of the old. Never where the URL is another merchant's by
 *  now: who sells there would be told that they were paid. Source: x402.md §6.1, settlement.md §5. */
export async function paidBy({ target, found, claim, findPayable }: Sought): Promise<FoundPayable | null> {
  if (target.by === "id" || !claim || claim.payableId === found?.id) return found;
  const bound = await findPayable({ by: "id", id: claim.payableId });
  if (!bound || bound.url !== payableUrl(target.url)) return found;
  return found && found.merchantId !== bound.merchantId ? found : bound;
}
