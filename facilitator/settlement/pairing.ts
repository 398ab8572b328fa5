import type { Hash } from "#kernel/bytes";
import type { MoneyLog } from "../chain/port.ts";
import { claimKey } from "../scheme/index.ts";

type TransferLog = Extract<MoneyLog, { event: "transfer" }>;
/** A transfer with the claim key of the authorization that moved it; null for any other transfer. */
export type PairedTransfer = TransferLog & { readonly authorizationKey: Hash | null };

/** The proof of payment: `AuthorizationUsed(payer, nonce)` and, right behind it in the same transaction and by the
 *  same token, `Transfer` from that payer. Each use proves one transfer at most. Source: DESIGN 4.3. */
export function pairTransfers(chainId: number, logs: readonly MoneyLog[]): readonly PairedTransfer[] {
  return logs.flatMap((log, i) => {
    if (log.event !== "transfer") return [];
    const before = logs[i - 1];
    const isPair =
      before?.event === "authorization-used" &&
      before.logIndex === log.logIndex - 1 &&
      before.txHash === log.txHash &&
      before.token === log.token &&
      before.payer === log.from;
    const authorizationKey = isPair
      ? claimKey({ chainId, nonceDomain: log.token, payer: before.payer, nonce: before.nonce })
      : null;
    return [{ ...log, authorizationKey }];
  });
}

/** Claim keys whose nonce was spent in these logs without moving money to us: cancelled, or used for something else. */
export function spentKeys(
  chainId: number,
  logs: readonly MoneyLog[],
  paired: readonly PairedTransfer[],
): readonly Hash[] {
  const paid = new Set(paired.map(({ authorizationKey }) => authorizationKey));
  return logs
    .filter((log) => log.event === "authorization-used" || log.event === "authorization-canceled")
    .map(({ token, payer, nonce }) => claimKey({ chainId, nonceDomain: token, payer, nonce }))
    .filter((key) => !paid.has(key));
}
