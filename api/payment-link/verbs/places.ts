import type { Tx } from "#store";
import type { IntentRow } from "../../payment-intent/verbs/offer.ts";
import { placesLeft } from "../state.ts";
import { findLink, lockLink } from "./standing.ts";

/** Whether an intent was made of a link whose places are all taken by others. Of two that come late at once the second sees
 *  the first. */
export async function isLinkFull(
  tx: Tx,
  now: Date,
  { merchantId, source, metadata }: IntentRow,
): Promise<boolean> {
  if (source !== "payment-link") return false;
  const named = { merchantId, id: metadata.paymentLinkId ?? "" };
  const { link } = await findLink(tx, now, named);
  return link.maxPayments !== null && placesLeft(await lockLink(tx, now, named)) === 0;
}
