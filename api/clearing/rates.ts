/** The rate that a clearing is about. */
import { and, eq } from "drizzle-orm";
import { atParity } from "#kernel/asset";
import { assert } from "#kernel/fault";
import type { Money } from "#kernel/money";
import type { Executor } from "#store";
import { findCurrency } from "../http/currency.ts";
import type { IntentRow } from "../payment-intent/verbs/offer.ts";
import { rateSnapshot } from "../rate/tables.ts";
import { convert, ONE, type RateSnapshot } from "../rate/verbs.ts";

type Priced = Pick<IntentRow, "amount" | "currency">;

/** A locked rate as a clearing keeps it. */
export function rateColumns({ fromAsset, toAsset, scaledRate, source, lockedAt }: RateSnapshot) {
  return { rateFrom: fromAsset, rateTo: toAsset, scaledRate, rateSource: source, rateLockedAt: lockedAt };
}

export async function lockedRate(db: Executor, merchantId: string, id: `rate_${string}`) {
  return rateColumns(await findLock(db, merchantId, id));
}

/** One to one, or the rate that the offer was made at. */
export async function rateOfAgent(
  db: Executor,
  intent: Priced & Pick<IntentRow, "merchantId" | "offerRateId">,
  { asset, amount, createdAt }: Money & { readonly createdAt: Date },
) {
  const { merchantId, currency, offerRateId } = intent;
  const exact = { rateFrom: currency, rateTo: asset, scaledRate: ONE, rateLockedAt: createdAt };
  if (currency === asset) return { ...exact, rateSource: "identity" as const };
  if (atParity(currency, asset)) return { ...exact, rateSource: "parity" as const };
  const lock = offerRateId === null ? null : await findLock(db, merchantId, offerRateId);
  // A confirm may have offered it anew, at another rate or in another token, while this payment was on its way.
  const isSame = lock?.toAsset === asset && dueAt(lock, intent) === amount;
  return lock && isSame ? rateColumns(lock) : impliedRate(intent, { asset, amount }, createdAt);
}

const COIN_DECIMALS = 6;

/** What came for what was asked, where no lock says it. */
export function impliedRate({ amount, currency }: Priced, came: Money, at: Date) {
  const decimals = findCurrency(currency)?.decimals ?? COIN_DECIMALS;
  const scaledRate = (came.amount * 10n ** BigInt(18 + decimals)) / (amount * 10n ** BigInt(COIN_DECIMALS));
  return {
    rateFrom: currency,
    rateTo: came.asset,
    scaledRate,
    rateSource: "none" as const,
    rateLockedAt: at,
  };
}

function dueAt({ fromAsset, toAsset, scaledRate }: RateSnapshot, { amount, currency }: Priced): bigint {
  return convert({ amount, asset: currency }, { from: fromAsset, to: toAsset, scaledRate }).amount;
}

async function findLock(db: Executor, merchantId: string, id: `rate_${string}`): Promise<RateSnapshot> {
  const [lock] = await db
    .select()
    .from(rateSnapshot)
    .where(and(eq(rateSnapshot.merchantId, merchantId), eq(rateSnapshot.id, id)));
  assert(lock, `the rate ${id} was kept`);
  return lock;
}
