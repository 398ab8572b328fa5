import { and, desc, eq, gt, sql } from "drizzle-orm";
import { stableHash } from "#kernel/codec";
import { type Executor, fixed } from "#store";
import { findMerchant } from "../../merchant/verbs/merchant.ts";
import { takenRails } from "../../merchant/verbs/rails.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";
import { demandPrice } from "../../payment-intent/verbs/create.ts";
import { isOfferedOn, TIME_TO_SIGN_MS } from "../../payment-intent/verbs/offer.ts";
import type { LinkRow, Standing } from "../present.ts";
import { obstacleOf } from "../state.ts";
import { paymentLinkCheckout } from "../tables.ts";
import {
  amountFor,
  type CheckoutDesk,
  checkOutLink,
  checkVisit,
  pointingToQuery,
  readAmount,
  type Visit,
} from "./checkout.ts";
import { findLinkById } from "./standing.ts";

/** A link, and what a payment of it is meant for. */
export interface MeantLink {
  readonly id: string;
  /** The intent that it names. */
  readonly named: string | null;
  /** What its authorization was claimed for. */
  readonly bound: string | null;
}
/** An agent who pays a link. */
export interface AgentVisit extends Pick<Visit, "ctx" | "address">, MeantLink {
  /** Decimal, in the link's currency. */
  readonly amount: string | undefined;
}

/** The intent by which an agent pays a link that it is not offered directly: the one that its payment names; the one that
 *  its authorization is bound to, or a repeated payment would look like one of something else; or a new one.
 *  Null for what is not there. Faults: those of a checkout; `validation_failed` for an amount that is missing;
 *  `rate_unavailable`. */
export async function deriveIntent(
  desk: CheckoutDesk,
  { ctx, id, named, bound, amount, address }: AgentVisit,
): Promise<string | null> {
  const { pool } = desk.db;
  const standing = await findLinkById(pool, ctx.now(), id);
  const { link } = standing;
  if (named !== null) return (await isOfLink(pool, link, named)) ? named : null;
  if (bound !== null && (await isOfLink(pool, link, bound))) return bound;
  const input = { executionPath: "x402" as const, ...readAmount(link, amount) };
  const visit = { ctx, id, input, address };
  const waiting = await pointingToQuery(() => waitingIntent(desk, visit, standing));
  if (waiting !== null) return waiting;
  const found = await pointingToQuery(() => checkVisit(desk, visit));
  demandPrice(found.checked);
  const made = await desk.db.tx((tx) => checkOutLink(desk, tx, visit, { found, write: null }));
  return made.intent.id;
}

/** The intent that waits for an agent of this address already: of a link with few places each visit would take another.
 *  None whose rails its merchant takes no more. */
async function waitingIntent(
  { db, facilitator }: CheckoutDesk,
  { ctx, address, input }: Visit,
  standing: Standing,
): Promise<string | null> {
  const { link } = standing;
  const obstacle = obstacleOf(standing, ctx.now());
  if (link.maxPayments === null || (obstacle !== null && obstacle !== "pending")) return null;
  const { amount } = amountFor(standing, input);
  const from = stableHash([link.id, address]);
  const until = new Date(ctx.now().getTime() + TIME_TO_SIGN_MS);
  const waiting = await db.pool
    .select({ id: paymentIntent.id, offerRails: paymentIntent.offerRails })
    .from(paymentLinkCheckout)
    .innerJoin(
      paymentIntent,
      and(
        eq(paymentIntent.merchantId, paymentLinkCheckout.merchantId),
        eq(paymentIntent.id, paymentLinkCheckout.intentId),
      ),
    )
    .where(
      and(
        eq(paymentLinkCheckout.merchantId, link.merchantId),
        eq(paymentLinkCheckout.linkId, link.id),
        sql`${paymentLinkCheckout.address} = ${sql.param(from, paymentLinkCheckout.address)}`,
        fixed(eq(paymentIntent.status, "created")),
        sql`${paymentIntent.asked}->>'executionPath' = 'x402'`,
        eq(paymentIntent.amount, amount),
        gt(sql`least(${paymentIntent.expiresAt}, ${paymentIntent.offerExpiresAt})`, until.toISOString()),
      ),
    )
    .orderBy(desc(paymentLinkCheckout.createdAt));
  if (waiting.length === 0) return null;
  const rails = takenRails(await findMerchant(db.pool, link.merchantId), facilitator.rails());
  return waiting.find((each) => isOfferedOn(each, rails))?.id ?? null;
}

async function isOfLink(db: Executor, { merchantId, id }: LinkRow, intentId: string): Promise<boolean> {
  const [made] = await db
    .select({ linkId: paymentLinkCheckout.linkId })
    .from(paymentLinkCheckout)
    .where(
      and(
        eq(paymentLinkCheckout.merchantId, merchantId),
        eq(paymentLinkCheckout.intentId, intentId as `pi_${string}`),
      ),
    );
  return made?.linkId === id;
}
