import { sql } from "drizzle-orm";
import type { Facilitator, Payable } from "#facilitator";
import { unreachable } from "#kernel/fault";
import type { Tx } from "#store";
import { findMerchant } from "../../merchant/verbs/merchant.ts";
import { offeredOn } from "../../merchant/verbs/rails.ts";
import { atAgentUrl } from "../../payment-intent/verbs/payable.ts";
import { priceOf } from "../../payment-intent/verbs/rails.ts";
import { type LinkRow, linkUrl, type Standing } from "../present.ts";
import { type LinkObstacle, obstacleOf, placesLeft } from "../state.ts";
import { paymentLink } from "../tables.ts";
import { isIt } from "./standing.ts";

export interface Publishing {
  readonly facilitator: Pick<Facilitator, "project" | "readmit" | "once">;
  readonly baseUrl: string;
}

/** Tells the facilitator what a link can be paid with by agents, in the transaction that made it so. A link that is bounded
 *  in number is paid by one agent after the other, so that no two take its last place. An open link is
 *  not told of: its payer names the amount at checkout. It is paid by the intent of one, which a visit of its agent URL
 *  makes, as is a link in a currency without a coin at parity, whose price moves. */
export async function publishLink(
  publishing: Publishing,
  tx: Tx,
  standing: Standing,
  now: Date,
): Promise<void> {
  const kept = await keepCost(tx, standing);
  const { link } = kept;
  if (link.amount === null) return;
  // One that was kept at nothing is closed, and nothing is no price.
  const price = priceOf({ amount: link.amount || 1n, asset: link.currency });
  const closing = closingOf(kept, now);
  const merchant = await findMerchant(tx, link.merchantId);
  const { feeBps } = merchant;
  const rails = offeredOn(merchant, []);
  await publishing.facilitator.project(tx, payableOf(publishing, kept, { price, closing, feeBps, rails }));
  if (link.maxPayments !== null && closing === null && (await isHolderCounted(publishing, tx, link)))
    await publishing.facilitator.readmit(tx, link.id);
}

/** What a cart costs by now stays with it: one that has lost its price is closed at its last one. */
async function keepCost(tx: Tx, standing: Standing): Promise<Standing> {
  const { link, total } = standing;
  if (link.kind !== "cart" || !total || total === link.amount) return standing;
  await tx.update(paymentLink).set({ amount: total }).where(isIt(link.merchantId, link.id));
  return { ...standing, link: { ...link, amount: total } };
}

interface Terms {
  readonly price: Payable["price"];
  readonly closing: string | null;
  readonly feeBps: number;
  readonly rails: Payable["rails"];
}

function payableOf(
  { baseUrl }: Publishing,
  { link }: Standing,
  { price, closing, feeBps, rails }: Terms,
): Payable {
  return {
    ...atAgentUrl(baseUrl, link),
    kind: "payment-link",
    title: link.title,
    description: `A payment to ${link.merchantName}`,
    price,
    rails,
    feeBps,
    once: link.maxPayments !== null,
    listed: link.listed,
    closedAt: closing === null ? null : link.updatedAt,
    closedAs: closing,
    expiresAt: link.expiresAt,
    number: link.merchantReference,
    pageUrl: linkUrl(baseUrl, link),
    createdAt: link.createdAt,
    updatedAt: link.updatedAt,
  };
}

function closingOf(standing: Standing, now: Date): string | null {
  const obstacle = obstacleOf(standing, now);
  if (obstacle !== null) return wordOf(obstacle);
  return placesLeft(standing) === 0 ? "pending" : null;
}

function wordOf(obstacle: LinkObstacle): string {
  switch (obstacle) {
    case "unpriced":
      return "disabled";
    case "disabled":
    case "expired":
    case "paid":
    case "pending":
      return obstacle;
    default:
      return unreachable(obstacle);
  }
}

/** Whether the agent's payment that holds the link stands among those that were counted. */
async function isHolderCounted({ facilitator }: Publishing, tx: Tx, link: LinkRow): Promise<boolean> {
  const holder = await facilitator.once.lock(tx, link.id);
  return holder?.by === "authorization" && isRecorded(tx, link, holder.paymentId);
}

/** How many agents are paying the link who were not counted: none or one, since one after the other may. */
export async function uncountedAgents({ facilitator }: Publishing, tx: Tx, link: LinkRow): Promise<number> {
  const holder = await facilitator.once.lock(tx, link.id);
  if (holder?.by !== "authorization") return 0;
  return holder.isCredited && (await isRecorded(tx, link, holder.paymentId)) ? 0 : 1;
}

async function isRecorded(tx: Tx, { merchantId }: LinkRow, paymentId: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    SELECT 1 FROM clearing WHERE merchant_id = ${merchantId} AND provider_reference = ${paymentId}
      AND execution_path = 'x402'`);
  return rows.length > 0;
}
