import { and, desc, eq, isNotNull, or, type SQL, sql } from "drizzle-orm";
import { type Executor, fixed } from "#store";
import { clearingReturn } from "../../clearing/tables.ts";
import { findPayment } from "../../clearing/verbs/payment.ts";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { invoice } from "../../invoice/tables.ts";
import { refund } from "../../refund/tables.ts";
import { type Obstacle, obstacleIn } from "../obstacle.ts";
import type { MailState } from "../state.ts";
import { mail } from "../tables.ts";

/** A mail that nobody has taken: it was given up, or a try came to nothing and another follows. */
export interface Undelivered {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly state: Exclude<MailState, "sent">;
  readonly createdAt: string;
  readonly obstacle: Obstacle;
  /** What the mail server said, or what kept it from saying anything. */
  readonly said: string;
}

/** Of the mails about a payment, its refunds and returns: those that did not arrive, newest first. Fault: `not_found`. */
export async function undeliveredOfPayment({
  ctx,
  input,
}: Call<{ readonly id: string }>): Promise<readonly Undelivered[]> {
  ctx.demand("payments:read");
  const { clearing } = await findPayment(ctx.db.pool, ctx.merchantId, input.id);
  if (!clearing) return [];
  const { merchantId, id } = clearing;
  const of = (table: typeof refund | typeof clearingReturn) => sql`${mail.cause} IN (
    SELECT about.id FROM ${table} about WHERE about.merchant_id = ${merchantId} AND about.clearing_id = ${id})`;
  return find(ctx, or(eq(mail.cause, id), of(refund), of(clearingReturn)));
}

/** Of the mails that hold an invoice, alone or with others: those that did not arrive, newest first. */
export async function undeliveredOfInvoice({
  ctx,
  input,
}: Call<{ readonly id: string }>): Promise<readonly Undelivered[]> {
  ctx.demand("invoices:read");
  const number = await numberOf(ctx.db.pool, ctx, input.id);
  if (number === null) return [];
  const named = { number };
  // Sent once more it has another cause, but the same number; what did not arrive still has its data.
  return find(ctx, or(holds({ invoice: named }), holds({ invoices: [named] })));
}

const holds = (part: object) => sql`${mail.data} @> ${JSON.stringify(part)}::jsonb`;

async function numberOf(db: Executor, { merchantId }: MerchantCtx, id: string): Promise<string | null> {
  const [row] = await db
    .select({ number: invoice.number })
    .from(invoice)
    .where(and(eq(invoice.merchantId, merchantId), sql`${invoice.id} = ${id}`));
  return row?.number ?? null;
}

const MOST = 20;

async function find(
  { db, merchantId }: MerchantCtx,
  about: SQL | undefined,
): Promise<readonly Undelivered[]> {
  const rows = await db.pool
    .select()
    .from(mail)
    .where(
      and(
        eq(mail.merchantId, merchantId),
        fixed(sql`${mail.state} <> 'sent'`),
        isNotNull(mail.lastError),
        about,
      ),
    )
    .orderBy(desc(mail.createdAt), desc(mail.id))
    .limit(MOST);
  return rows.map(({ id, toAddress, subject, state, createdAt, lastError }) => ({
    id,
    to: toAddress,
    subject,
    state: state === "queued" ? "queued" : "failed",
    createdAt: createdAt.toISOString(),
    obstacle: obstacleIn(lastError ?? ""),
    said: lastError ?? "",
  }));
}
