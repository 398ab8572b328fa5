import { and, eq } from "drizzle-orm";
import type { Address } from "#kernel/bytes";
import type { Tx } from "#store";
import { type ClearingRow, lockPayment } from "../../clearing/verbs/payment.ts";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault, invalid } from "../../http/faults.ts";
import type { WriteKey } from "../../http/idempotency.ts";
import { findMerchant } from "../../merchant/verbs/merchant.ts";
import { presentRefund, type RefundRow } from "../present.ts";
import type { Refund, RefundInput } from "../schema.ts";
import { refund } from "../tables.ts";
import { checkDestination } from "./destination.ts";
import { tellOfNew } from "./move.ts";
import { leavePromises } from "./promise.ts";
import { isOurs, isPosted, netOf, type RefundDesk, reserve } from "./reserve.ts";
import { shareOf } from "./share.ts";

interface Asked extends RefundInput {
  readonly intentId: string;
  /** Whom it goes to where the merchant does not say, as `payerOf` found out. */
  readonly payer: Address | null;
  readonly write: WriteKey;
}

/** Gives money of a payment back to its payer. Asked again with the same key, the refund that was made comes back,
 *  whatever else is asked. Refunds of one payment wait for each other, so of two that race for the last money one is
 *  refused. Faults: `not_found`, `payment_not_refundable`, `refund_exceeds_refundable`, `insufficient_balance`,
 *  `asset_mismatch`, `amount_too_small`, `too_many_decimals`, `idempotency_key_reused`, `rail_unsupported`,
 *  `recipient_is_ours`. Source: merchant-api.md §1.5. */
export async function createRefund(
  desk: RefundDesk,
  { ctx, input }: Call<Asked>,
): Promise<{ readonly refund: Refund; readonly isRepeated: boolean }> {
  ctx.demand("refunds:write");
  return ctx.tx(async (tx) => {
    const { clearing } = await lockPayment(tx, ctx.merchantId, input.intentId);
    const made = await earlier(tx, ctx.merchantId, input.write);
    if (made) return { refund: presentRefund(made), isRepeated: true };
    const paid = refundable(clearing);
    const row = await insert(tx, { desk, ctx, input, paid });
    await tellOfNew(tx, ctx, row);
    return { refund: presentRefund(await bindMoney(desk, tx, { ctx, row, paid })), isRepeated: false };
  });
}

/** The refund that this key made, also after the record of the key was pruned. */
async function earlier(tx: Tx, merchantId: string, write: WriteKey): Promise<RefundRow | null> {
  const [row] = await tx
    .select()
    .from(refund)
    .where(
      and(
        eq(refund.merchantId, merchantId),
        eq(refund.idempotencyScope, write.scope),
        eq(refund.idempotencyKey, write.key),
      ),
    );
  if (row && row.fingerprint !== write.fingerprint) throw fault("idempotency_key_reused");
  return row ?? null;
}

/** Only what the merchant was credited with can be given back. */
function refundable(clearing: ClearingRow | null): ClearingRow {
  if (clearing?.state === "settled") return clearing;
  const why = clearing ? `its clearing is ${clearing.state}` : "nobody has paid it";
  throw fault("payment_not_refundable", { why });
}

/** Each refund is a transaction that we pay for. A provider has its own. */
function leastOf({ facilitator }: RefundDesk, { chain, asset }: ClearingRow): bigint {
  return facilitator.rails().find((rail) => rail.chain === chain && rail.asset === asset)?.minimum ?? 1n;
}

interface Making {
  readonly desk: RefundDesk;
  readonly ctx: MerchantCtx;
  readonly input: Asked;
  readonly paid: ClearingRow;
}

async function insert(tx: Tx, { desk, ctx, input, paid }: Making): Promise<RefundRow> {
  const { amount, fee } = await shareOf(tx, paid, { asked: input.amount, least: leastOf(desk, paid) });
  const { refundFees } = await findMerchant(tx, ctx.merchantId);
  const { destination: named, payer } = input;
  const at = { chain: paid.chain, asset: paid.asset, pointer: "/destination" };
  // A provider knows whom it was paid by, and pays nobody else.
  if (named !== undefined && !isOurs(paid))
    throw invalid(at.pointer, "none: the provider that was paid pays back to its payer. Leave it out");
  const destination = named === undefined ? payer : await checkDestination(desk, tx, named, at);
  const canGo = destination !== null || !isOurs(paid);
  const now = ctx.now();
  const [row] = await tx
    .insert(refund)
    .values({
      merchantId: ctx.merchantId,
      id: ctx.newId("re"),
      clearingId: paid.id,
      intentId: paid.intentId,
      state: canGo ? "pending" : "requires-destination",
      provider: paid.provider,
      chain: paid.chain,
      asset: paid.asset,
      amount,
      fee,
      returnsFee: refundFees,
      reason: input.reason ?? "requested-by-customer",
      destination,
      metadata: input.metadata ?? {},
      dueAt: canGo ? now : null,
      idempotencyScope: input.write.scope,
      idempotencyKey: input.write.key,
      fingerprint: input.write.fingerprint,
      createdAt: now,
      updatedAt: now,
    })
    .returning();
  if (!row) throw new Error("a refund that was just made is not there");
  return row;
}

/** Reserves what can be spent now; else it stays a promise that payouts leave alone. */
async function bindMoney(
  desk: RefundDesk,
  tx: Tx,
  { ctx, row, paid }: { readonly ctx: MerchantCtx; readonly row: RefundRow; readonly paid: ClearingRow },
): Promise<RefundRow> {
  const bound =
    row.state === "pending" && (await isPosted(tx, paid)) ? await reserve(desk, tx, row, ctx.now()) : row;
  await leavePromises(tx, row, netOf(row));
  return bound;
}
