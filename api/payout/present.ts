import type { OutgoingStatus } from "#facilitator";
import { checksum } from "#kernel/bytes";
import { formatDecimal } from "#kernel/money";
import type { AccountBalance, MerchantEntry } from "#ledger";
import { presentAmount } from "../http/money.ts";
import type { Payout, PayoutAddress, PayoutState } from "./schema.ts";
import type { payout, payoutAddress } from "./tables.ts";

const stateNames = {
  queued: "pending",
  sending: "processing",
  sent: "processing",
  final: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
} as const satisfies Record<OutgoingStatus["state"], PayoutState>;

export function presentPayout(row: typeof payout.$inferSelect, status: OutgoingStatus | undefined): Payout {
  return {
    id: row.id,
    state: stateNames[status?.state ?? "queued"],
    amount: presentAmount({ amount: row.amount, asset: row.asset }),
    chain: row.chain,
    destination: checksum(row.destination),
    transactionHash: status?.transaction ?? null,
    failureReason: status?.state === "failed" ? status.failure : null,
    createdAt: row.createdAt.toISOString(),
  };
}

export function presentAddress(row: typeof payoutAddress.$inferSelect): PayoutAddress {
  const { id, chain, address, label, usableFrom, createdAt } = row;
  return {
    id,
    chain,
    address: checksum(address),
    label,
    usableFrom: usableFrom.toISOString(),
    createdAt: createdAt.toISOString(),
  };
}

/** `USDC@base` → its two halves. */
function split(ledgerAsset: string): { readonly asset: string; readonly chain: string } {
  const [asset = "", chain = ""] = ledgerAsset.split("@");
  return { asset, chain };
}

/** One line per asset and chain, from the merchant's two accounts there. */
export function presentBalances(accounts: readonly AccountBalance[]) {
  const assets = [...new Set(accounts.map(({ asset }) => asset))];
  return assets.map((ledgerAsset) => {
    const { asset, chain } = split(ledgerAsset);
    const of = (ending: string) =>
      accounts.find((each) => each.asset === ledgerAsset && each.path.endsWith(ending));
    const [available, reserved] = [of(":available"), of(":reserved")];
    const money = (amount: bigint) => presentAmount({ amount, asset });
    return {
      asset,
      chain,
      available: money(available?.posted ?? 0n),
      pending: money(available?.pending ?? 0n),
      reserved: money((reserved?.posted ?? 0n) + (reserved?.pending ?? 0n)),
    };
  });
}

export function presentAccount({ path, type, asset, posted, pending }: AccountBalance) {
  const money = (amount: bigint) => presentAmount({ amount, asset: split(asset).asset });
  return { path, type, asset, posted: money(posted), pending: money(pending) };
}

export function presentEntry(entry: MerchantEntry) {
  return {
    id: entry.id,
    code: entry.code,
    subject: entry.subject,
    blockNumber: entry.blockNumber,
    postedAt: entry.postedAt.toISOString(),
    transfers: entry.transfers.map(({ debit, credit, asset, amount, phase }) => ({
      debit,
      credit,
      asset,
      amount: presentAmount({ amount, asset: split(asset).asset }),
      phase,
    })),
  };
}

const COLUMNS = "entry,code,subject,block,posted_at,phase,debit,credit,asset,amount";
const COIN_DECIMALS = 6;

/** One line per transfer. No field of it can hold a comma, a quote or a formula: all are ids, paths and numbers. */
export function entriesCsv(entries: readonly MerchantEntry[]): string {
  const lines = entries.flatMap(({ id, code, subject, blockNumber, postedAt, transfers }) =>
    transfers.map(({ phase, debit, credit, asset, amount }) =>
      [
        id,
        code,
        subject ?? "",
        blockNumber ?? "",
        postedAt.toISOString(),
        phase,
        debit,
        credit,
        asset,
        formatDecimal(amount, COIN_DECIMALS),
      ].join(","),
    ),
  );
  return `${[COLUMNS, ...lines].join("\r\n")}\r\n`;
}
