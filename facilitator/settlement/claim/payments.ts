import { and, asc, desc, eq, ne, sql } from "drizzle-orm";
import type { Address, Hash } from "#kernel/bytes";
import { fixed, readRows, toArray } from "#store";
import type { Engine } from "../engine.ts";
import { attempt } from "../lane/tables.ts";
import { requiredDepth } from "../observer/depth.ts";
import { observer } from "../observer/tables.ts";
import { type ViewedClaim, viewedColumns } from "./claim-parts.ts";
import type { ClaimState } from "./state.ts";
import { claim } from "./tables.ts";

/** A payment by authorization, as its feature sees it. Amounts in atomic units of `asset`. */
export interface PaymentView {
  readonly id: `stl_${string}`;
  readonly payableId: string;
  readonly merchantId: string;
  readonly state: ClaimState;
  /** Grows with each reorganisation that took its credit away. */
  readonly creditEpoch: number;
  /** Slug. */
  readonly chain: string;
  /** Symbol. */
  readonly asset: string;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly payer: Address;
  readonly payTo: Address;
  /** The newest that was signed for it, or the one that carried it; null while nothing is signed. */
  readonly transaction: Hash | null;
  readonly logIndex: number | null;
  readonly blockNumber: number | null;
  readonly blockHash: Hash | null;
  readonly confirmations: number;
  readonly required: number;
  readonly reason: string | null;
  readonly message: string | null;
  readonly createdAt: Date;
  readonly includedAt: Date | null;
}

/** Which payments are asked for: by id, by things that can be paid once, or the latest that were credited for one thing. */
export type PaymentChoice =
  | { readonly ids: readonly string[] }
  | { readonly payableIds: readonly string[] }
  | { readonly soldAs: string; readonly latest: number };

/** Oldest first, the latest of one thing newest first. Those on chains that are not served are left out. */
export async function readPayments(engine: Engine, by: PaymentChoice): Promise<readonly PaymentView[]> {
  if ("soldAs" in by) return readLatest(engine, by);
  const wanted = "ids" in by ? by.ids : by.payableIds;
  if (wanted.length === 0) return [];
  // One parameter, however many are asked for: hundreds are, by those who hear of payments.
  const ids = toArray(wanted, "text");
  const db = engine.db.pool;
  const payments = db
    .select(shown)
    .from(claim)
    .leftJoin(observer, eq(observer.chainId, claim.chainId))
    .where(
      and(
        fixed(eq(claim.kind, "x402")),
        "ids" in by
          ? sql`${claim.id} = ANY(${ids})`
          : and(fixed(eq(claim.holdsPayable, true)), sql`${claim.payableId} = ANY(${ids})`),
      ),
    )
    .orderBy(asc(claim.createdAt), asc(claim.id));
  const rows = await readRows(db, shownColumns, payments);
  return rows.flatMap((row) => viewOf(engine, row) ?? []);
}

async function readLatest(
  engine: Engine,
  { soldAs, latest }: { readonly soldAs: string; readonly latest: number },
): Promise<readonly PaymentView[]> {
  const db = engine.db.pool;
  const sold = db
    .select(shown)
    .from(claim)
    .leftJoin(observer, eq(observer.chainId, claim.chainId))
    .where(
      and(fixed(eq(claim.kind, "x402")), eq(claim.payableId, soldAs), fixed(ne(claim.creditState, "none"))),
    )
    .orderBy(desc(claim.createdAt))
    .limit(latest);
  const rows = await readRows(db, shownColumns, sold);
  return rows.flatMap((row) => viewOf(engine, row) ?? []);
}

/** The newest transaction that was signed for a claim that none has carried yet. */
const signed = sql`CASE WHEN ${claim.includedTx} IS NULL THEN (
  SELECT attempt.tx_hash
  FROM attempt WHERE attempt.slot_id = claim.slot_id ORDER BY attempt.seq DESC LIMIT 1) END`;

const shown = { ...viewedColumns, cursor: observer.cursorNumber, signed: signed.as(attempt.txHash.name) };
const shownColumns = { ...viewedColumns, cursor: observer.cursorNumber, signed: attempt.txHash };

function viewOf(
  engine: Engine,
  row: ViewedClaim & { readonly cursor: number | null; readonly signed: Hash | null },
): PaymentView | null {
  const chain = engine.chains.get(row.chainId)?.chain.row;
  const token = chain?.tokens.find(({ contract }) => contract === row.token);
  if (!chain || !token) return null;
  const { id, payableId, merchantId, state, creditEpoch, amount, fee, payer, payTo } = row;
  const { includedBlock, includedTx, includedLog, reason, message, createdAt, includedAt } = row;
  return {
    ...{ id, payableId, merchantId, state, creditEpoch, amount, fee, payer, payTo },
    chain: chain.slug,
    asset: token.symbol,
    transaction: includedTx ?? row.signed,
    logIndex: includedLog,
    blockNumber: includedBlock,
    blockHash: row.includedHash,
    confirmations: includedBlock === null ? 0 : Math.max((row.cursor ?? 0) - includedBlock + 1, 1),
    required: requiredDepth(engine, row),
    ...{ reason, message, createdAt, includedAt },
  };
}
