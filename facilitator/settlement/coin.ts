import { ledgerAsset } from "#kernel/asset";
import type { ChainRow } from "../chain/registry.ts";

/** The books' name of a chain's gas coin, `ETH@base`: one name for every chain, told apart by its slug. */
export function coinOf({ slug }: ChainRow): string {
  return ledgerAsset("ETH", slug);
}

/** The books' name of a listed token. Throws for a token that the chain does not list: nothing of it is ever booked. */
export function assetOf(row: ChainRow, contract: string): string {
  const token = row.tokens.find((listed) => listed.contract === contract);
  if (!token) throw new Error(`the token ${contract} is not listed on ${row.slug}`);
  return ledgerAsset(token.symbol, row.slug);
}
