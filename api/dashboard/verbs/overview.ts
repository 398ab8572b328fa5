import { and, count, eq, gte, sql } from "drizzle-orm";
import { leastIdOf } from "#kernel/id";
import { clearing } from "../../clearing/tables.ts";
import type { MerchantCtx } from "../../http/context.ts";
import { presentAmount } from "../../http/money.ts";
import { paymentIntent } from "../../payment-intent/tables.ts";

const DAYS = 30;
const DAY_MS = 24 * 3_600_000;
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
  /** Whether there was ever a payment. */
  readonly isNew: boolean;
}

/** How the last thirty days went, by the day on which payments were made. */
export async function readOverview(ctx: MerchantCtx): Promise<Overview> {
  ctx.demand("payments:read");
  const { pool } = ctx.db;
  const { merchantId, id, createdAt, currency, amount, status } = paymentIntent;
  const today = Math.floor(ctx.now().getTime() / DAY_MS) * DAY_MS;
  const since = new Date(today - (DAYS - 1) * DAY_MS);
  const recent = pool
    .select({ createdAt, currency, amount, status })
    .from(paymentIntent)
    .where(and(eq(merchantId, ctx.merchantId), gte(id, leastIdOf("pi", since)), gte(createdAt, since)))
    .orderBy(sql`${id} DESC`)
    .limit(MOST)
    .as("recent");
  const day = sql<string>`to_char(${recent.createdAt} AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;
  const rows = await pool
    .select({
      day,
      currency: recent.currency,
      status: recent.status,
      amount: sql<string>`sum(${recent.amount})`,
      count: count(),
    })
    .from(recent)
    .groupBy(day, recent.currency, recent.status);
  const [reviews] = await pool
    .select({ count: count() })
    .from(clearing)
    .where(and(eq(clearing.merchantId, ctx.merchantId), clearing.reviewRequired));
  const [any] = await pool.select({ id }).from(paymentIntent).where(eq(merchantId, ctx.merchantId)).limit(1);
  const numberOf = (...wanted: readonly string[]) =>
    rows.filter((row) => wanted.includes(row.status)).reduce((sum, row) => sum + row.count, 0);
  const span = Array.from({ length: DAYS }, (_, i) =>
    new Date(since.getTime() + i * DAY_MS).toISOString().slice(0, 10),
  );
  return {
    volumes: volumesOf(
      rows.filter((row) => row.status === "completed").map((row) => ({ ...row, amount: BigInt(row.amount) })),
      span,
    ),
    completed: numberOf("completed"),
    over: numberOf("completed", "failed", "expired"),
    reviews: reviews?.count ?? 0,
    isNew: any === undefined,
  };
}

function volumesOf(
  rows: readonly (DayVolume & { readonly currency: string })[],
  span: readonly string[],
): readonly Volume[] {
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
