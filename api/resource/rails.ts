import type { Facilitator, RailFacts } from "#facilitator";
import { atParity, priceDecimals } from "#kernel/asset";
import { formatDecimal, type Money, mulDivCeil } from "#kernel/money";
import { fault } from "../http/faults.ts";
import type { MerchantRow } from "../merchant/verbs/merchant.ts";
import { readRails, takenRails } from "../merchant/verbs/rails.ts";
import { offeredRails, type ResourceRow } from "./present.ts";
import type { ResourceInput } from "./schema.ts";

const MAXIMUM = 1_000_000n;

/** The rails that a resource can be sold on, and those that its registration names, by slug. Faults: those of
 *  `readRails`, and of `checkPayable`; `rail_unsupported` also for a rail that the merchant does not take, or that is not at
 *  parity with the price. */
export function chooseRails(
  facilitator: Pick<Facilitator, "rails" | "refusedRails">,
  seller: MerchantRow,
  { price, asked }: { readonly price: Money; readonly asked: ResourceInput["rails"] },
): { readonly taken: readonly RailFacts[]; readonly rails: ResourceRow["rails"] } {
  const taken = takenRails(seller, facilitator.rails());
  const known = { rails: taken, refused: facilitator.refusedRails() };
  const rails = readRails(known, asked, ({ asset }) => atParity(price.asset, asset));
  checkPayable(taken, price, rails);
  return { taken, rails };
}

/** Refuses a price that nobody could pay. Faults: `amount_too_small`, `amount_too_large`, `rail_unsupported`. */
function checkPayable(taken: readonly RailFacts[], price: Money, chosen: ResourceRow["rails"]): void {
  const unit = { asset: price.asset, pointer: "/price/amount" };
  const decimals = priceDecimals[price.asset] ?? 0;
  if (price.amount === 0n) throw fault("amount_too_small", { ...unit, minimum: formatDecimal(1n, decimals) });
  if (price.amount > MAXIMUM * 10n ** BigInt(decimals))
    throw fault("amount_too_large", { ...unit, maximum: MAXIMUM.toString() });
  if (offeredRails(price, chosen, taken).length > 0) return;
  const least = leastPrice(taken, price, chosen);
  if (least === null)
    throw fault("rail_unsupported", { rail: "any chain of this deployment", pointer: "/price/asset" });
  throw fault("amount_too_small", { ...unit, minimum: formatDecimal(least, decimals) });
}

/** The lowest of the rails' least amounts, in the unit of the price; null when no rail takes that unit at all. */
function leastPrice(
  rails: readonly RailFacts[],
  { asset }: Money,
  chosen: ResourceRow["rails"],
): bigint | null {
  const anything = { amount: 1n << 100n, asset };
  const floors = offeredRails(anything, chosen, rails).map(({ minimum, decimals }) =>
    mulDivCeil(minimum, 10n ** BigInt(priceDecimals[asset] ?? 0), 10n ** BigInt(decimals)),
  );
  return floors.reduce<bigint | null>(
    (least, floor) => (least === null || floor < least ? floor : least),
    null,
  );
}
