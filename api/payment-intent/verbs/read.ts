import { and, desc, eq, gte, lt, type SQL } from "drizzle-orm";
import { isId, leastIdOf } from "#kernel/id";
import type { Executor } from "#store";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import type { WriteKey } from "../../http/idempotency.ts";
import type { Page } from "../../http/page.ts";
import { type IntentRow, presentIntent } from "../present.ts";
import type { PaymentIntent, PaymentIntentFilter, PaymentIntentPath } from "../schema.ts";
import { paymentIntent } from "../tables.ts";

export { checkoutUrl, type IntentRow, presentIntent } from "../present.ts";

interface Shown {
  readonly baseUrl: string;
}

/** Fault: `not_found`, also for another merchant's. */
export async function findIntent(db: Executor, merchantId: string, id: string): Promise<IntentRow> {
  const [row] = isId("pi", id) ? await db.select().from(paymentIntent).where(isIntent(merchantId, id)) : [];
  if (!row) throw fault("not_found");
  return row;
}

/** The intent that an id opens to whoever holds it: the id is the capability of its page, and says nothing of the
 *  merchant. For keyless routes only. Fault: `not_found`. */
export async function openIntent(db: Executor, id: string): Promise<IntentRow> {
  const [row] = isId("pi", id) ? await db.select().from(paymentIntent).where(eq(paymentIntent.id, id)) : [];
  if (!row) throw fault("not_found");
  return row;
}

/** One of a merchant's, held until the transaction ends: what changes an intent or its clearing takes this lock first. */
export async function lockIntent(tx: Executor, merchantId: string, id: string): Promise<IntentRow> {
  const [row] = isId("pi", id)
    ? await tx.select().from(paymentIntent).where(isIntent(merchantId, id)).for("update")
    : [];
  if (!row) throw fault("not_found");
  return row;
}

/** Which row is a merchant's intent of that id. */
export function isIntent(merchantId: string, id: string): SQL | undefined {
  return and(eq(paymentIntent.merchantId, merchantId), eq(paymentIntent.id, id as `pi_${string}`));
}

/** The intent that a request with this key made. */
export async function findByWrite(
  db: Executor,
  merchantId: string,
  { scope, key }: Pick<WriteKey, "scope" | "key">,
): Promise<IntentRow | null> {
  const [row] = await db
    .select()
    .from(paymentIntent)
    .where(
      and(
        eq(paymentIntent.merchantId, merchantId),
        eq(paymentIntent.idempotencyScope, scope),
        eq(paymentIntent.idempotencyKey, key),
      ),
    );
  return row ?? null;
}

/** Fault: `not_found`. */
export async function readIntent(
  shown: Shown,
  { ctx, input }: Call<PaymentIntentPath>,
): Promise<PaymentIntent> {
  ctx.demand("payments:read");
  return presentIntent(await findIntent(ctx.db.pool, ctx.merchantId, input.id), shown);
}

/** The merchant's intents, newest first; one more than the page holds when there are more. */
export async function listIntents(
  shown: Shown,
  { ctx, input }: Call<Page & PaymentIntentFilter>,
): Promise<readonly PaymentIntent[]> {
  ctx.demand("payments:read");
  const rows = await ctx.db.pool
    .select()
    .from(paymentIntent)
    .where(
      and(eq(paymentIntent.merchantId, ctx.merchantId), ...intentConditions(input), isBefore(input.after)),
    )
    .orderBy(desc(paymentIntent.id))
    .limit(input.limit + 1);
  return rows.map((row) => presentIntent(row, shown));
}

/** An id is made this much after the instant that its row tells, at most. */
const ID_LAG_MS = 10_000;

/** What a filter of intents comes to. Ids carry the time, so a span of time is read off the index of ids. */
export function intentConditions({
  status,
  source,
  merchantReference,
  createdFrom,
  createdTo,
}: PaymentIntentFilter): readonly SQL[] {
  const [from, to] = [createdFrom, createdTo].map((text) => (text === undefined ? null : new Date(text)));
  const { id, createdAt } = paymentIntent;
  return [
    status && eq(paymentIntent.status, status),
    source && eq(paymentIntent.source, source),
    merchantReference === undefined ? undefined : eq(paymentIntent.merchantReference, merchantReference),
    from && and(gte(id, leastIdOf("pi", from)), gte(createdAt, from)),
    to && and(lt(id, leastIdOf("pi", new Date(to.getTime() + ID_LAG_MS))), lt(createdAt, to)),
  ].filter((condition) => condition !== undefined && condition !== null);
}

function isBefore(after: string | null): SQL | undefined {
  return after === null ? undefined : lt(paymentIntent.id, after as `pi_${string}`);
}
