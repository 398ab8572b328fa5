import type { Hex } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";

export type AccountType = "asset" | "liability" | "income" | "expense" | "equity";

/** An account of the books, in one asset (`USDC@base`). Its id follows from path and asset. */
export interface Account {
  readonly id: Hex;
  readonly path: string;
  readonly type: AccountType;
  readonly asset: string;
  readonly merchantId: string | null;
  /** May not go below zero: debits posted and pending never exceed credits posted. */
  readonly bounded: boolean;
}

function account(
  type: AccountType,
  path: string,
  asset: string,
  of: { merchantId?: string; bounded?: boolean } = {},
): Account {
  const id = sha256(`farebox/account/v1\n${path}\n${asset}`).slice(0, 34) as Hex;
  return { id, path, type, asset, merchantId: of.merchantId ?? null, bounded: of.bounded ?? false };
}

const chainOf = (asset: string) => asset.slice(asset.indexOf("@") + 1);

/** Where the platform treasury of a chain stands in the books, in every asset. */
export const treasuryPath = (chain: string) => `asset:treasury:${chain}`;
/** Tokens in the platform treasury of the asset's chain. */
export const treasury = (asset: string) => account("asset", treasuryPath(chainOf(asset)), asset);
/** Tokens on deposit addresses of the asset's chain that were not swept into the treasury yet. */
export const deposit = (asset: string) => account("asset", `asset:deposit:${chainOf(asset)}`, asset);
/** Money held at an outside provider, whose name stands where a chain's does. */
export const provider = (asset: string) => account("asset", `asset:provider:${chainOf(asset)}`, asset);
/** What a merchant owes us: money that a reorganisation took away after it was paid out. */
export const receivable = (merchantId: string, asset: string) =>
  account("asset", `asset:receivable:merchant:${merchantId}`, asset, { merchantId });
/** Native coin of the lanes' gas keys. */
export const gas = (asset: string) => account("asset", `asset:gas:${chainOf(asset)}`, asset);
/** What a merchant may spend. */
export const merchantAvailable = (merchantId: string, asset: string) =>
  account("liability", `liability:merchant:${merchantId}:available`, asset, { merchantId, bounded: true });
/** Money that came in and belongs to nobody yet. */
export const unmatched = (asset: string) =>
  account("liability", "liability:unmatched", asset, { bounded: true });
/** What payers sent for clearings that are not settled. */
export const clearing = (asset: string) =>
  account("liability", "liability:clearing", asset, { bounded: true });
/** What payers sent beyond what was asked: owed back to them, never income. */
export const overpayment = (asset: string) =>
  account("liability", "liability:overpayment", asset, { bounded: true });
/** What goes back to payers: decided, not gone yet. */
export const returns = (asset: string) =>
  account("liability", "liability:returns-in-transit", asset, { bounded: true });
export const fees = (asset: string) => account("income", "income:fees", asset);
export const gasExpense = (asset: string) => account("expense", `expense:gas:${chainOf(asset)}`, asset);
export const funding = (asset: string) => account("equity", "equity:funding", asset);
/** A merchant's money that is locked for a refund or payout under way. */
export const merchantReserved = (merchantId: string, asset: string) =>
  account("liability", `liability:merchant:${merchantId}:reserved`, asset, { merchantId, bounded: true });
