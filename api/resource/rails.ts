import type { Facilitator, RailFacts } from "#facilitator";
import { atParity, priceDecimals } from "#kernel/asset";
import { formatDecimal, type Money, mulDivCeil } from "#kernel/money";
import { fault } from "../http/faults.ts";
import { offeredRails, type ResourceRow } from "./present.ts";
import type { ResourceInput } from "./schema.ts";

type Rails = Pick<Facilitator, "rails" | "refusedRails">;
const MAXIMUM = 1_000_000n;

/** The rails a merchant chose, by slug. Faults: `rail_unsupported` when there is none such or the price is in another
 *  unit, `token_domain_unreadable` for one whose contract did not pass. */
export function chooseRails(
  facilitator: Rails,
  price: Money,
  asked: ResourceInput["rails"],
): ResourceRow["rails"] {
  const chosen = new Map<string, ResourceRow["rails"][number]>();
  asked.forEach(({ chain, asset }, i) => {
    const pointer = `/rails/${i}`;
    const isIt = (rail: { readonly chain: string; readonly network: string; readonly asset: string }) =>
      (rail.chain === chain || rail.network === chain) && rail.asset === asset;
    const rail = facilitator.rails().find(isIt);
    if (!rail && facilitator.refusedRails().some(isIt))
      throw fault("token_domain_unreadable", { chain, asset, pointer });
    if (!rail || !atParity(price.asset, asset))
      throw fault("rail_unsupported", { rail: `${asset} on ${chain}`, pointer });
    chosen.set(`${rail.chain} ${asset}`, { chain: rail.chain, asset });
  });
  return [...chosen.values()];
}

/** Refuses a price that nobody could pay. Faults: `amount_too_small`, `amount_too_large`, `rail_unsupported`. */
export function checkPayable(facilitator: Rails, price: Money, chosen: ResourceRow["rails"]): void {
  const unit = { asset: price.asset, pointer: "/price/amount" };
  const decimals = priceDecimals[price.asset] ?? 0;
  if (price.amount === 0n) throw fault("amount_too_small", { ...unit, minimum: formatDecimal(1n, decimals) });
  if (price.amount > MAXIMUM * 10n ** BigInt(decimals))
    throw fault("amount_too_large", { ...unit, maximum: MAXIMUM.toString() });
  if (offeredRails(price, chosen, facilitator.rails()).length > 0) return;
  const least = leastPrice(facilitator.rails(), price, chosen);
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
