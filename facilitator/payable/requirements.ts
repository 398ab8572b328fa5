import { atParity, priceDecimals } from "#kernel/asset";
import { parseAddress } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import { type Atomic, mulDivCeil, parseAtomic } from "#kernel/money";
import type { LiveRail } from "../chain/port.ts";
import type { ChainRow } from "../chain/registry.ts";
import type { OptionSelection, Payable, PaymentOption } from "./payable.ts";

/** A rail whose contract was checked, with its chain. */
export interface OfferedRail {
  readonly chain: ChainRow;
  readonly rail: LiveRail;
}

/** The options of a payable on these rails: at parity with the price, allowed by the payable, not below the chain's
 *  dust floor. USDC first, since most clients pay nothing else unasked; otherwise in the order of `rails`. */
export function optionsOf(payable: Payable, rails: readonly OfferedRail[]): PaymentOption[] {
  const options = rails
    .filter((offered) => isAllowed(payable, offered))
    .map((offered) => optionOn(payable, offered))
    .filter((option) => option !== null);
  return [
    ...options.filter(({ symbol }) => symbol === "USDC"),
    ...options.filter(({ symbol }) => symbol !== "USDC"),
  ];
}

function isAllowed({ price, rails }: Payable, { chain, rail }: OfferedRail): boolean {
  const { symbol } = rail.token;
  if (!atParity(price.asset, symbol)) return false;
  return (
    rails.length === 0 || rails.some((allowed) => allowed.chain === chain.slug && allowed.asset === symbol)
  );
}

function optionOn(payable: Payable, { chain, rail }: OfferedRail): PaymentOption | null {
  const amount = inToken(payable.price.amount, payable.price.asset, rail.token.decimals);
  if (amount < chain.dustFloor) return null;
  return {
    scheme: "exact",
    network: chain.network,
    chain: chain.slug,
    symbol: rail.token.symbol,
    asset: rail.token.contract,
    amount,
    payTo: chain.treasury,
    maxTimeoutSeconds: payable.maxTimeoutSeconds,
    transferMethod: "eip3009",
    domain: { name: rail.domain.name, version: rail.domain.version },
  };
}

/** Nobody is sent to a chain that stands still while another works; where none does, who pays is told so. */
export function preferWorking(
  options: readonly PaymentOption[],
  working: ReadonlySet<string>,
): readonly PaymentOption[] {
  const there = options.filter(({ network }) => working.has(network));
  return there.length > 0 ? there : options;
}

/** A price in atomic units of a token worth one of its unit, rounded up: the merchant is never short. */
export function inToken(price: Atomic, unit: string, tokenDecimals: number): Atomic {
  const decimals = priceDecimals[unit];
  assert(decimals !== undefined, `a price in ${unit} has no decimals`);
  return mulDivCeil(price, 10n ** BigInt(tokenDecimals), 10n ** BigInt(decimals));
}

/** The option that a caller's words select, or null. Compared on meaning: addresses as 20 bytes, the amount as a
 *  number; `maxTimeoutSeconds` and `extra` take no part, because a foreign merchant server writes its own. */
export function selectOption(
  options: readonly PaymentOption[],
  selection: OptionSelection,
): PaymentOption | null {
  const asset = parseAddress(selection.asset);
  const payTo = parseAddress(selection.payTo);
  const amount = parseAtomic(selection.amount);
  if (asset === null || payTo === null || amount === null) return null;
  const found = options.find(
    (option) =>
      option.scheme === selection.scheme &&
      option.network === selection.network &&
      option.asset === asset &&
      option.payTo === payTo &&
      option.amount === amount,
  );
  return found ?? null;
}
