import { and, desc, eq, isNull, lt, sql } from "drizzle-orm";
import type { Facilitator, RailFacts } from "#facilitator";
import { isStablecoin } from "#kernel/asset";
import { type Address, address as addressOf, checksum, parseAddress } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { formatDecimal, type Money } from "#kernel/money";
import { cleanText } from "#kernel/text";
import { type EntryFilter, merchantBalances, merchantEntries } from "#ledger";
import { type Executor, isCheckViolation, outbox, type Tx } from "#store";
import { checkRecipient } from "../clearing/verbs/recipient.ts";
import type { Call, MerchantCtx } from "../http/context.ts";
import { fault, invalid } from "../http/faults.ts";
import { parseAmount } from "../http/money.ts";
import type { Page } from "../http/page.ts";
import { merchant } from "../merchant/tables.ts";
import { demandActive } from "../merchant/verbs/rails.ts";
import { leavePromises } from "../refund/verbs/promise.ts";
import { presentAccount, presentAddress, presentBalances, presentPayout } from "./present.ts";
import type { Payout, PayoutAddress, PayoutAddressInput, PayoutInput } from "./schema.ts";
import { subjectsOf } from "./subjects.ts";
import { payout, payoutAddress } from "./tables.ts";

type PayoutRow = typeof payout.$inferSelect;

/** What paying a merchant needs besides the request. */
export interface Till {
  readonly facilitator: Pick<Facilitator, "rails" | "chains" | "outgoing">;
  /** How long a new address must wait; 0 on a sandbox. */
  readonly coolingMs: number;
}

/** What the merchant holds, by asset and chain. */
export async function readBalances({ ctx }: Call<unknown>) {
  ctx.demand("ledger:read");
  return presentBalances(await merchantBalances(ctx.db.pool, ctx.merchantId));
}

export async function readAccounts({ ctx }: Call<unknown>) {
  ctx.demand("ledger:read");
  return (await merchantBalances(ctx.db.pool, ctx.merchantId)).map(presentAccount);
}

/** The merchant's own side of the books, newest first; of a payment, all that is about it. */
export async function readEntries({
  ctx,
  input,
}: Call<EntryFilter & { readonly subject?: string | undefined }>) {
  ctx.demand("ledger:read");
  const { db, merchantId } = ctx;
  const { subject: named } = input;
  const subject = named === undefined ? undefined : await subjectsOf(db.pool, merchantId, named);
  return merchantEntries(db.pool, merchantId, { ...input, subject });
}

/** Adds an address to the book; one that is there comes back as it is. Faults: `validation_failed`, `rail_unsupported`,
 *  `recipient_is_ours`, `payout_address_limit`. */
export async function addAddress(
  { facilitator, coolingMs }: Till,
  { ctx, input }: Call<PayoutAddressInput>,
): Promise<PayoutAddress> {
  ctx.demand("payouts:write");
  const chain = chainNamed(facilitator.rails(), input.chain);
  const address = addressOf(input.address);
  const createdAt = ctx.now();
  const id = ctx.newId("pad");
  return ctx.tx(async (tx) => {
    await checkRecipient({ facilitator }, tx, { chain, recipient: address, pointer: "/address" });
    // One statement: between two of them it could be removed.
    const [row] = await tx
      .insert(payoutAddress)
      .values({
        merchantId: ctx.merchantId,
        id,
        chain,
        address,
        label: cleanText(input.label),
        usableFrom: new Date(createdAt.getTime() + coolingMs),
        createdAt,
      })
      .onConflictDoUpdate({
        target: [payoutAddress.merchantId, payoutAddress.chain, payoutAddress.address],
        targetWhere: isNull(payoutAddress.removedAt),
        set: { label: sql`${payoutAddress.label}` },
      })
      .returning();
    assert(row, "an address was neither added nor found");
    if (row.id === id) {
      await demandRoom(tx, ctx);
      await tellOfAddress(tx, ctx, id);
    }
    return presentAddress(row);
  });
}

/** The book is read whole wherever it is shown. */
const MOST = 1_000;

/** Two that are added at once wait for each other: their merchant's row is held. */
async function demandRoom(tx: Tx, { merchantId }: MerchantCtx): Promise<void> {
  await tx.select({ id: merchant.id }).from(merchant).where(eq(merchant.id, merchantId)).for("no key update");
  const isInBook = and(eq(payoutAddress.merchantId, merchantId), isNull(payoutAddress.removedAt));
  if ((await tx.$count(payoutAddress, isInBook)) > MOST) throw fault("payout_address_limit", { most: MOST });
}

/** The merchant hears of it by mail: a key that was taken over could send its money anywhere. */
async function tellOfAddress(tx: Tx, { merchantId, newId }: MerchantCtx, id: string): Promise<void> {
  await outbox.append(tx, [
    { id: newId("evt"), type: "payout_address.added", subject: id, merchantId, payload: {} },
  ]);
}

function live(ctx: MerchantCtx, chain: string, address: Address) {
  return and(
    eq(payoutAddress.merchantId, ctx.merchantId),
    eq(payoutAddress.chain, chain),
    eq(payoutAddress.address, address),
    isNull(payoutAddress.removedAt),
  );
}

export async function listAddresses({ ctx }: Call<unknown>): Promise<readonly PayoutAddress[]> {
  ctx.demand("payouts:write");
  const rows = await ctx.db.pool
    .select()
    .from(payoutAddress)
    .where(and(eq(payoutAddress.merchantId, ctx.merchantId), isNull(payoutAddress.removedAt)))
    .orderBy(desc(payoutAddress.id));
  return rows.map(presentAddress);
}

/** Takes an address out of the book; payouts under way are not touched. Fault: `not_found`. */
export async function removeAddress({ ctx, input }: Call<{ readonly id: string }>): Promise<void> {
  ctx.demand("payouts:write");
  const removed = await ctx.tx((tx) =>
    tx
      .update(payoutAddress)
      .set({ removedAt: ctx.now() })
      .where(
        and(
          eq(payoutAddress.merchantId, ctx.merchantId),
          eq(payoutAddress.id, input.id),
          isNull(payoutAddress.removedAt),
        ),
      )
      .returning({ id: payoutAddress.id }),
  );
  if (removed.length === 0) throw fault("not_found");
}

/** Pays a merchant out. The money is reserved at once and leaves through the settlement lanes; what refunds were promised
 *  stays. Faults: `merchant_suspended`, `insufficient_balance`, `payout_address_unknown`, `payout_address_cooling`,
 *  `recipient_is_ours`, `validation_failed`, `rail_unsupported`, `too_many_decimals`, `currency_unsupported`. */
export async function createPayout(
  { facilitator }: Till,
  { ctx, input }: Call<PayoutInput>,
): Promise<Payout> {
  ctx.demand("payouts:write");
  const rail = railFor(facilitator.rails(), input);
  const money = parseAmount(input.amount, "/amount");
  if (money.amount === 0n) throw invalid("/amount/amount", "more than nothing");
  demandWorth(money, rail);
  try {
    return await ctx.tx(async (tx) => {
      await demandUnsuspended(tx, ctx);
      const destination = await usableAddress(tx, ctx, rail.chain, input.destination);
      // The book may be older than the rule, or than the token.
      await checkRecipient({ facilitator }, tx, {
        chain: rail.chain,
        recipient: destination,
        pointer: "/destination",
      });
      const row = {
        merchantId: ctx.merchantId,
        id: ctx.newId("po"),
        chain: rail.chain,
        asset: rail.asset,
        amount: money.amount,
        destination,
        createdAt: ctx.now(),
      };
      await tx.insert(payout).values(row);
      await facilitator.outgoing.queue(tx, orderOf(row, rail));
      await leavePromises(tx, row, row.amount);
      const about = { subject: row.id, merchantId: row.merchantId };
      const payload = { payoutId: row.id, previous: null };
      await outbox.append(tx, [{ ...about, id: ctx.newId("evt"), type: "payout.created", payload }]);
      return presentPayout(row, undefined);
    });
  } catch (error) {
    if (!isCheckViolation(error, "ledger_balance_bounded")) throw error;
    throw fault(
      "insufficient_balance",
      { amount: input.amount.amount, asset: rail.asset, chain: rail.chain, pointer: "/amount/amount" },
      error,
    );
  }
}

/** A key is known for some seconds by what its merchant was. Whoever suspends one holds its row against this, and then finds
 *  the payouts that were faster. Fault: `merchant_suspended`. */
async function demandUnsuspended(tx: Tx, { merchantId }: MerchantCtx): Promise<void> {
  const [row] = await tx
    .select({ suspendedAt: merchant.suspendedAt })
    .from(merchant)
    .where(eq(merchant.id, merchantId))
    .for("key share");
  if (!row) throw fault("not_found");
  demandActive(row);
}

/** Each payout is a transaction that we pay for. Fault: `amount_too_small`. */
function demandWorth({ amount, asset }: Money, { minimum, decimals }: RailFacts): void {
  if (amount >= minimum) return;
  throw fault("amount_too_small", {
    asset,
    minimum: formatDecimal(minimum, decimals),
    pointer: "/amount/amount",
  });
}

function orderOf({ id, merchantId, destination, amount }: PayoutRow, { network, contract }: RailFacts) {
  return {
    id,
    kind: "payout" as const,
    merchantId,
    chainId: Number(network.slice("eip155:".length)),
    token: addressOf(contract),
    recipient: destination,
    amount,
  };
}

function chainNamed(rails: readonly RailFacts[], named: string): string {
  const found = rails.find(({ chain, network }) => chain === named || network === named);
  if (!found) throw fault("rail_unsupported", { rail: named, pointer: "/chain" });
  return found.chain;
}

function railFor(rails: readonly RailFacts[], { chain, amount: { asset } }: PayoutInput): RailFacts {
  const slug = chainNamed(rails, chain);
  const found = rails.find((rail) => rail.chain === slug && rail.asset === asset);
  if (!found || !isStablecoin(asset))
    throw fault("rail_unsupported", { rail: `${asset}@${chain}`, pointer: "/amount/asset" });
  return found;
}

async function usableAddress(tx: Tx, ctx: MerchantCtx, chain: string, destination: string): Promise<Address> {
  const address = parseAddress(destination);
  const [row] = await tx
    .select()
    .from(payoutAddress)
    .where(
      address
        ? live(ctx, chain, address)
        : and(
            eq(payoutAddress.merchantId, ctx.merchantId),
            eq(payoutAddress.id, destination.slice(0, 40)),
            eq(payoutAddress.chain, chain),
            isNull(payoutAddress.removedAt),
          ),
    );
  if (!row)
    throw fault("payout_address_unknown", {
      destination: address ? checksum(address) : destination.slice(0, 42),
      chain,
      pointer: "/destination",
    });
  if (row.usableFrom > ctx.now()) {
    throw fault("payout_address_cooling", {
      destination: checksum(row.address),
      usableFrom: row.usableFrom.toISOString(),
      pointer: "/destination",
    });
  }
  return row.address;
}

export async function listPayouts(
  { facilitator }: Till,
  { ctx, input }: Call<Page>,
): Promise<readonly Payout[]> {
  ctx.demand("payouts:write");
  const rows = await ctx.db.pool
    .select()
    .from(payout)
    .where(
      and(
        eq(payout.merchantId, ctx.merchantId),
        input.after === null ? undefined : lt(payout.id, input.after),
      ),
    )
    .orderBy(desc(payout.id))
    .limit(input.limit + 1);
  const statuses = new Map(
    (await facilitator.outgoing.status(rows.map(({ id }) => id))).map((status) => [status.id, status]),
  );
  return rows.map((row) => presentPayout(row, statuses.get(row.id)));
}

/** Fault: `not_found`. */
export async function readPayout(
  { facilitator }: Till,
  { ctx, input }: Call<{ readonly id: string }>,
): Promise<Payout> {
  ctx.demand("payouts:write");
  return readIn(ctx.db.pool, facilitator, ctx, input.id);
}

async function readIn(
  db: Executor,
  { outgoing }: Till["facilitator"],
  { merchantId }: Pick<MerchantCtx, "merchantId">,
  id: string,
): Promise<Payout> {
  const [row] = await db
    .select()
    .from(payout)
    .where(and(eq(payout.merchantId, merchantId), eq(payout.id, id)));
  if (!row) throw fault("not_found");
  const [status] = await outgoing.status([row.id], db);
  return presentPayout(row, status);
}

/** Takes a payout back that has not been signed; a cancelled one comes back as it is. Faults: `not_found`,
 *  `payout_not_cancellable`. */
export async function cancelPayout(
  { facilitator }: Till,
  { ctx, input }: Call<{ readonly id: string }>,
): Promise<Payout> {
  ctx.demand("payouts:write");
  return ctx.tx(async (tx) => {
    await readIn(tx, facilitator, ctx, input.id);
    await facilitator.outgoing.cancel(tx, input.id);
    const after = await readIn(tx, facilitator, ctx, input.id);
    if (after.state !== "cancelled") throw fault("payout_not_cancellable", { state: after.state });
    return after;
  });
}
