import { and, asc, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Address, Hash } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { post, templates } from "#ledger";
import type { Executor, Tx } from "#store";
import { claimKey, fingerprint, schemeFor } from "../scheme/index.ts";
import { insertRows, type NewClaim } from "./claim.ts";
import { assetOf } from "./coin.ts";
import type { Engine, OpenChain } from "./engine.ts";
import { brokenAssets } from "./reconcile.ts";
import type { ClaimState, OutgoingKind } from "./state.ts";
import { chainBlock, claim, observer, outgoing } from "./tables.ts";
import type { LiveRail } from "./understand.ts";

/** Money that a merchant feature wants sent. Amount in atomic units of `token`. */
export interface OutgoingOrder {
  readonly id: string;
  readonly kind: OutgoingKind;
  readonly merchantId: string;
  readonly chainId: number;
  readonly token: Address;
  readonly recipient: Address;
  readonly amount: bigint;
}

type OutgoingRow = typeof outgoing.$inferSelect;

/** Reserves the money in the books and queues it, in the feature's transaction. A merchant who has not that much fails
 *  the transaction (SQLSTATE 23514, `ledger_balance_bounded`). Nothing is signed here. */
export async function queueOutgoing({ chains }: Engine, tx: Tx, order: OutgoingOrder): Promise<void> {
  await post(tx, [templates.payoutCreated(moneyOf(chains, order))]);
  await tx.insert(outgoing).values(order);
}

/** Takes an order back that the treasury has not signed; false once it has. */
export async function cancelOutgoing({ chains }: Engine, tx: Tx, id: string): Promise<boolean> {
  const [row] = await tx
    .update(outgoing)
    .set({ cancelledAt: sql`now()` })
    .where(and(eq(outgoing.id, id), isNull(outgoing.claimKey), isNull(outgoing.cancelledAt)))
    .returning();
  if (!row) return false;
  await post(tx, [templates.payoutReleased(moneyOf(chains, row))]);
  return true;
}

function moneyOf(
  chains: Engine["chains"],
  { id, merchantId, chainId, token, amount }: Omit<OutgoingOrder, "kind">,
) {
  const open = chains.get(chainId);
  if (!open) throw new Error(`chain ${chainId} is not served`);
  return { payoutId: id, merchantId, asset: assetOf(open.chain.row, token), amount };
}

/** Where an order stands. `transaction` is null while none was seen in a block. */
export interface OutgoingStatus {
  readonly id: string;
  readonly state: "queued" | "cancelled" | "sending" | "sent" | "final" | "failed";
  readonly transaction: Hash | null;
  readonly failure: string | null;
}

export async function outgoingStatus(
  db: Executor,
  ids: readonly string[],
): Promise<readonly OutgoingStatus[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .select({ row: outgoing, claim })
    .from(outgoing)
    .leftJoin(claim, eq(claim.claimKey, outgoing.claimKey))
    .where(inArray(outgoing.id, [...ids]));
  return rows.map(({ row, claim: paid }) => ({
    id: row.id,
    state: row.cancelledAt ? "cancelled" : paid ? stateNames[paid.state] : "queued",
    transaction: paid?.includedTx ?? null,
    failure: paid?.message ?? null,
  }));
}

const stateNames = {
  claimed: "sending",
  submitting: "sending",
  "failed-watch": "sending",
  review: "sending",
  included: "sent",
  final: "final",
  expired: "failed",
  cancelled: "failed",
} as const satisfies Record<ClaimState, OutgoingStatus["state"]>;

const GROUP = 50;
/** How long the treasury's signature lives. A payout that has not landed by then is released, never sent twice. */
const LIFE_SECONDS = 3_600n;

/** Signs what waits, as the treasury, and commits each authorization as a claim; the lanes send it like any payment.
 *  Returns how many. */
export async function signOutgoing(engine: Engine, open: OpenChain): Promise<number> {
  const { custodian, chain, rails } = open;
  if (!custodian) return 0;
  const { chainId } = chain.row;
  return engine.loopDb.tx(async (tx) => {
    const rows = await tx
      .select()
      .from(outgoing)
      .where(and(eq(outgoing.chainId, chainId), isNull(outgoing.claimKey), isNull(outgoing.cancelledAt)))
      .orderBy(asc(outgoing.createdAt))
      .limit(GROUP)
      .for("update", { skipLocked: true });
    const broken = await brokenAssets(tx, chainId);
    const chainTime = rows.length > 0 ? await timeOf(tx, chainId) : 0n;
    let signed = 0;
    for (const row of rows) {
      const rail = rails.find((each): each is LiveRail => each.ok && each.token.contract === row.token);
      if (!rail || broken.has(assetOf(chain.row, row.token))) continue;
      const made = await authorize(engine, { open, rail, row, chainTime, sign: custodian.sign });
      await insertRows(engine, tx, [made]);
      await tx.update(outgoing).set({ claimKey: made.claimKey }).where(eq(outgoing.id, row.id));
      signed += 1;
    }
    return signed;
  });
}

/** Time of the block we have followed to, seconds. */
async function timeOf(tx: Tx, chainId: number): Promise<bigint> {
  const [row] = await tx
    .select({ timestamp: chainBlock.timestamp })
    .from(observer)
    .innerJoin(
      chainBlock,
      and(eq(chainBlock.chainId, observer.chainId), eq(chainBlock.hash, observer.cursorHash)),
    )
    .where(eq(observer.chainId, chainId));
  if (!row) throw new Error("a chain that is not followed has no time");
  return BigInt(row.timestamp);
}

interface Signing {
  readonly open: OpenChain;
  readonly rail: LiveRail;
  readonly row: OutgoingRow;
  readonly chainTime: bigint;
  readonly sign: (digest: Hash) => Promise<`0x${string}`>;
}

/** The nonce follows from the order's id, so the token itself refuses a second one. */
async function authorize(engine: Engine, { open, rail, row, chainTime, sign }: Signing): Promise<NewClaim> {
  const scheme = schemeFor("exact", "eip155");
  if (!scheme) throw new Error("the scheme of outgoing payments is gone");
  const { chainId, treasury } = open.chain.row;
  const unsigned = {
    method: "eip3009" as const,
    payer: treasury,
    payTo: row.recipient,
    value: row.amount,
    validAfter: 0n,
    validBefore: chainTime + LIFE_SECONDS,
    nonce: sha256("farebox/outgoing/v1", row.id),
  };
  const nonceDomain = scheme.nonceDomain(row.token);
  const signature = await sign(scheme.digest(rail.domain, { ...unsigned, signature: "0x" }));
  return {
    claimKey: claimKey({ chainId, nonceDomain, payer: treasury, nonce: unsigned.nonce }),
    id: engine.newId("stl"),
    kind: row.kind,
    merchantId: row.merchantId,
    payableId: row.id,
    chainId,
    method: unsigned.method,
    nonceDomain,
    payer: treasury,
    nonce: unsigned.nonce,
    token: row.token,
    payTo: row.recipient,
    amount: row.amount,
    fee: 0n,
    validAfter: unsigned.validAfter,
    validBefore: unsigned.validBefore,
    signature,
    payerHasCode: false,
    fingerprint: fingerprint({ authorization: unsigned, payableId: row.id, token: row.token, chainId }),
    state: "claimed",
  };
}
