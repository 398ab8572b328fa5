import { and, count, desc, eq, gte, inArray, sql } from "drizzle-orm";
import { leastIdOf } from "#kernel/id";
import { fixed } from "#store";
import { clearing } from "../../clearing/tables.ts";
import { listExcess } from "../../clearing/verbs/excess.ts";
import type { MerchantCtx } from "../../http/context.ts";
import { presentAmount } from "../../http/money.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";

const DAYS = 30;
const DAY_MS = 24 * 3_600_000;
/** The longest time in which a payment may be asked to be made. */
const LONGEST_MS = 30 * DAY_MS;
/** Payments that are looked at, newest first: a busy merchant's chart is of what these span. */
const MOST = 50_000;

/** What was completed in one currency on one day. */
export interface DayVolume {
  /** YYYY-MM-DD, in UTC. */
  readonly day: string;
  readonly amount: bigint;
}
export interface Volume {
  readonly currency: string;
  readonly total: ReturnType<typeof presentAmount>;
  /** Every day of the span, the oldest first. */
  readonly days: readonly (DayVolume & { readonly shown: ReturnType<typeof presentAmount> })[];
}
export interface Overview {
  readonly volumes: readonly Volume[];
  /** Of the payments that are over, in the same span. */
  readonly completed: number;
  readonly over: number;
  readonly reviews: number;
  /** Payments for which too much came that still lies here, newest first. */
  readonly excess: readonly string[];
  /** Whether there was ever a payment. */
  readonly isNew: boolean;
}

/** How the last thirty days went: what was completed by the day of its completion, and how payments ended that were made
 *  in them. */
export async function readOverview(ctx: MerchantCtx): Promise<Overview> {
  ctx.demand("payments:read");
  const today = Math.floor(ctx.now().getTime() / DAY_MS) * DAY_MS;
  const span = Array.from({ length: DAYS }, (_, i) => new Date(today - (DAYS - 1 - i) * DAY_MS));
  const since = span[0] ?? ctx.now();
  const [completions, endings, reviews, excess, isNew] = await Promise.all([
    readCompletions(ctx, since),
    readEndings(ctx, since),
    countReviews(ctx),
    listExcess(ctx),
    hasNoPayment(ctx),
  ]);
  const days = span.map((day) => day.toISOString().slice(0, 10));
  return { volumes: volumesOf(completions, days), ...endings, reviews, excess, isNew };
}

type Completion = DayVolume & { readonly currency: string };

/** Sums by day and currency. A payment may be completed long after it was made, yet hardly after its time and as much
 *  again: what is older than that is not looked at. */
async function readCompletions(ctx: MerchantCtx, since: Date): Promise<readonly Completion[]> {
  const { merchantId, id, completedAt, currency, amount, status } = paymentIntent;
  const oldest = leastIdOf("pi", new Date(since.getTime() - 2 * LONGEST_MS));
  const isOurs = and(eq(merchantId, ctx.merchantId), fixed(eq(status, "completed")));
  const { pool } = ctx.db;
  const recent = pool
    .select({ completedAt, currency, amount })
    .from(paymentIntent)
    .where(and(isOurs, gte(id, oldest), gte(completedAt, since)))
    .orderBy(desc(id))
    .limit(MOST)
    .as("recent");
  const day = sql<string>`to_char(${recent.completedAt} AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;
  const rows = await pool
    .select({ day, currency: recent.currency, amount: sql<string>`sum(${recent.amount})` })
    .from(recent)
    .groupBy(day, recent.currency);
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

const ended = ["completed", "failed", "expired"] as const;

/** Of the payments made since then: how many are over, and of these how many were completed. */
async function readEndings(ctx: MerchantCtx, since: Date): Promise<Pick<Overview, "completed" | "over">> {
  const { merchantId, id, status } = paymentIntent;
  const { pool } = ctx.db;
  const recent = pool
    .select({ status })
    .from(paymentIntent)
    .where(and(eq(merchantId, ctx.merchantId), gte(id, leastIdOf("pi", since)), inArray(status, ended)))
    .orderBy(desc(id))
    .limit(MOST)
    .as("recent");
  const rows = await pool
    .select({ status: recent.status, count: count() })
    .from(recent)
    .groupBy(recent.status);
  const completed = rows.find((row) => row.status === "completed")?.count ?? 0;
  return { completed, over: rows.reduce((sum, row) => sum + row.count, 0) };
}

async function countReviews(ctx: MerchantCtx): Promise<number> {
  const isOpen = and(eq(clearing.merchantId, ctx.merchantId), clearing.reviewRequired);
  const [found] = await ctx.db.pool.select({ count: count() }).from(clearing).where(isOpen);
  return found?.count ?? 0;
}

async function hasNoPayment(ctx: MerchantCtx): Promise<boolean> {
  const { merchantId, id } = paymentIntent;
  const first = ctx.db.pool.select({ id }).from(paymentIntent).where(eq(merchantId, ctx.merchantId));
  return (await first.limit(1)).length === 0;
}

function volumesOf(rows: readonly Completion[], span: readonly string[]): readonly Volume[] {
  const currencies = [...new Set(rows.map((row) => row.currency))].sort();
  return currencies.map((asset) => {
    const own = rows.filter((row) => row.currency === asset);
    const days = span.map((day) => {
      const amount = own.find((row) => row.day === day)?.amount ?? 0n;
      return { day, amount, shown: presentAmount({ amount, asset }) };
    });
    const total = own.reduce((sum, { amount }) => sum + amount, 0n);
    return { currency: asset, total: presentAmount({ amount: total, asset }), days };
  });
}
