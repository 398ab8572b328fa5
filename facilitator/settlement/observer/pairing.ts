import type { Hash } from "#kernel/bytes";
import type { MoneyLog } from "../../chain/port.ts";
import { claimKey } from "../../scheme/index.ts";

type TransferLog = Extract<MoneyLog, { event: "transfer" }>;
/** A transfer with what the logs beside it tell. */
export type PairedTransfer = TransferLog & {
  /** Claim key of the authorization that moved it; null for any other transfer. */
  readonly authorizationKey: Hash | null;
  /** What it is for, if it came through our router. */
  readonly paymentRef: Hash | null;
  /** Rank among the transfers of its transaction to its recipient. */
  readonly ordinal: number;
};

/** The proof of payment: `AuthorizationUsed(payer, nonce)` and, right behind it in the same transaction and by the
 *  same token, `Transfer` from that payer. Each use proves one transfer at most. Source: DESIGN 4.3. The proof of an
 *  order: the router's event behind the very transfer it tells of. What moves nothing is left out: transfers of nothing, and
 *  from an account to itself. */
export function pairTransfers(chainId: number, logs: readonly MoneyLog[]): readonly PairedTransfer[] {
  const ranks = new Map<string, number>();
  return logs.flatMap((log, i) => {
    if (log.event !== "transfer" || log.amount === 0n || log.from === log.to) return [];
    const recipient = `${log.txHash}${log.to}`;
    const ordinal = ranks.get(recipient) ?? 0;
    ranks.set(recipient, ordinal + 1);
    const authorizationKey = keyBefore(chainId, log, logs[i - 1]);
    return [{ ...log, ordinal, authorizationKey, paymentRef: referenceBehind(log, logs[i + 1]) }];
  });
}

function keyBefore(chainId: number, log: TransferLog, before: MoneyLog | undefined): Hash | null {
  const isPair =
    before?.event === "authorization-used" &&
    before.logIndex === log.logIndex - 1 &&
    before.txHash === log.txHash &&
    before.token === log.token &&
    before.payer === log.from;
  return isPair
    ? claimKey({ chainId, nonceDomain: log.token, payer: before.payer, nonce: before.nonce })
    : null;
}

function referenceBehind(log: TransferLog, behind: MoneyLog | undefined): Hash | null {
  const isPair =
    behind?.event === "routed" &&
    behind.txHash === log.txHash &&
    behind.token === log.token &&
    behind.payer === log.from &&
    behind.payTo === log.to &&
    behind.amount === log.amount;
  return isPair ? behind.paymentRef : null;
}

/** Claim keys whose nonce was spent in these logs without moving money to us: cancelled, or used for something else. */
export function spentKeys(
  chainId: number,
  logs: readonly MoneyLog[],
  paired: readonly PairedTransfer[],
): readonly Hash[] {
  const paid = new Set(paired.map(({ authorizationKey }) => authorizationKey));
  // A key costs a hash: none is made for the uses that stand before their transfers, which are nearly all.
  const proofs = new Set(
    paired.flatMap(({ authorizationKey, logIndex }) => (authorizationKey ? [logIndex - 1] : [])),
  );
  return logs
    .filter((log) => log.event === "authorization-used" || log.event === "authorization-canceled")
    .filter(({ logIndex }) => !proofs.has(logIndex))
    .map(({ token, payer, nonce }) => claimKey({ chainId, nonceDomain: token, payer, nonce }))
    .filter((key) => !paid.has(key));
}
