import { sql } from "drizzle-orm";
import type { Executor, Tx } from "#store";
import { restand } from "./standing.ts";
import { type ListingWarning, listing, payableTrust } from "./tables.ts";

/** What stands beside a listing's own words: facts that its merchant cannot write. */
export interface Trust {
  /** The host itself names the merchant. */
  readonly hostVerified: boolean;
  readonly settledCount: number;
  /** Wallets that paid within the last 90 days. */
  readonly distinctPayers: number;
  readonly lastProbe: Probe | null;
  /** Set while something at its address differs from what was registered. */
  readonly warning: ListingWarning | null;
  /** Its name is drawn like that of another merchant, whose host is verified while this one's is not. */
  readonly isLookAlike: boolean;
}
/** How an endpoint answered an unpaid request. */
export interface Probe {
  readonly at: Date;
  /** Null when no answer came. */
  readonly status: number | null;
  readonly ok: boolean;
}
/** What somebody found out; what is left out stays as it was. */
export interface Assessment {
  readonly probe?: Probe;
  readonly hostVerified?: boolean;
  readonly warning?: ListingWarning | null;
}

export const nothingKnown: Trust = {
  hostVerified: false,
  settledCount: 0,
  distinctPayers: 0,
  lastProbe: null,
  warning: null,
  isLookAlike: false,
};

/** What is known of these payables, in the order of `ids`. */
export async function readTrust(db: Executor, ids: readonly string[]): Promise<readonly Trust[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.execute<TrustRow>(sql`
    SELECT t.payable_id, t.host_verified, t.settled_count, t.distinct_payers, t.probe_at, t.probe_status, t.probe_ok, t.warning,
      NOT t.host_verified AND EXISTS (SELECT 1 FROM ${listing} l JOIN ${listing} v ON v.looks && l.looks
        WHERE l.id = t.payable_id AND v.host_verified AND v.merchant_id <> l.merchant_id) AS is_look_alike
    FROM ${payableTrust} t WHERE t.payable_id = ANY(${sql.param([...ids])})`);
  const known = new Map(rows.map((row) => [row.payable_id, fromRow(row)]));
  return ids.map((id) => known.get(id) ?? nothingKnown);
}

interface TrustRow extends Record<string, unknown> {
  readonly payable_id: string;
  readonly host_verified: boolean;
  readonly settled_count: string;
  readonly distinct_payers: number;
  readonly probe_at: Date | null;
  readonly probe_status: number | null;
  readonly probe_ok: boolean;
  readonly warning: ListingWarning | null;
  readonly is_look_alike: boolean;
}

function fromRow(row: TrustRow): Trust {
  const { probe_at: at, probe_status: status, probe_ok: ok } = row;
  return {
    hostVerified: row.host_verified,
    // Below nothing for a moment, when a reversal is heard before its credit.
    settledCount: Math.max(0, Number(row.settled_count)),
    distinctPayers: row.distinct_payers,
    // Whatever its last answer was like: a quarantine ends by what the merchant registers.
    lastProbe: at && { at: new Date(at), status, ok: ok && row.warning === null },
    warning: row.warning,
    isLookAlike: row.is_look_alike,
  };
}

/** Writes down what was found out, and ranks by it. */
export async function assess(tx: Tx, payableId: string, found: Assessment): Promise<void> {
  const { probe, hostVerified, warning } = found;
  const known = {
    ...(probe ? { probeAt: probe.at, probeStatus: probe.status, probeOk: probe.ok } : {}),
    ...(hostVerified === undefined ? {} : { hostVerified }),
    ...(warning === undefined ? {} : { warning }),
  };
  await tx
    .insert(payableTrust)
    .values({ payableId, ...known })
    .onConflictDoUpdate({ target: payableTrust.payableId, set: { payableId, ...known } });
  await restand(tx, [payableId]);
}
