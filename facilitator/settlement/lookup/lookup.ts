import { and, eq, inArray, or, type SQL, sql } from "drizzle-orm";
import { type Address, parseAddress, parseHash } from "#kernel/bytes";
import { isId } from "#kernel/id";
import { fixed, toBytesArray } from "#store";
import { claimKey, schemeFor } from "../../scheme/index.ts";
import { claim } from "../claim/tables.ts";
import type { Engine, OpenChain } from "../engine.ts";
import { attempt, slotItem } from "../lane/tables.ts";
import { chainTransfer } from "../observer/tables.ts";
import type { SettlementStatus } from "../verify/request.ts";
import { settlementStatus } from "./status.ts";

/** How a payer names a payment: by our id, by what was signed, which is known before anything is on chain and which
 *  nobody can guess, or by the transaction. Networks in CAIP-2; addresses and hashes as they came. */
export type PaymentRef =
  | { readonly by: "id"; readonly paymentId: string }
  | {
      readonly by: "nonce";
      readonly network: string;
      readonly asset: string;
      readonly payer: string;
      readonly nonce: string;
    }
  | {
      readonly by: "transaction";
      readonly network: string;
      readonly transaction: string;
      readonly payer: string;
    };

/** An authorization by what was signed. */
export type SignedRef = Omit<Extract<PaymentRef, { readonly by: "nonce" }>, "by">;

/** Chain facts only. `several`: one transaction carried more than one payment of this payer. */
export type PaymentLookup =
  | {
      readonly kind: "found";
      readonly status: SettlementStatus;
      readonly token: Address;
      /** Atomic units of the token. */
      readonly amount: bigint;
    }
  | { readonly kind: "several" }
  | { readonly kind: "not-found" };

const NOT_FOUND = { kind: "not-found" } as const;

/** Where a payment stands, for somebody who holds no id of ours. Text that cannot be right finds nothing. */
export async function lookupPayment(engine: Engine, ref: PaymentRef): Promise<PaymentLookup> {
  const which = matching(engine, ref);
  if (!which) return NOT_FOUND;
  const [row, another] = await engine.db.pool
    .select({ id: claim.id, token: claim.token, amount: claim.amount })
    .from(claim)
    .where(and(which, fixed(eq(claim.kind, "x402"))))
    .limit(2);
  if (another) return { kind: "several" };
  const status = row ? await settlementStatus(engine, row.id) : null;
  return row && status ? { kind: "found", status, token: row.token, amount: row.amount } : NOT_FOUND;
}

/** Id of the payable that an authorization is bound to since its claim; null while it is bound to none. */
export async function boundPayable(engine: Engine, ref: SignedRef): Promise<string | null> {
  const which = matching(engine, { by: "nonce", ...ref });
  if (!which) return null;
  const [row] = await engine.db.pool
    .select({ payableId: claim.payableId })
    .from(claim)
    .where(and(which, fixed(eq(claim.kind, "x402"))));
  return row?.payableId ?? null;
}

function matching(engine: Engine, ref: PaymentRef): SQL | undefined {
  if (ref.by === "id") return isId("stl", ref.paymentId) ? eq(claim.id, ref.paymentId) : undefined;
  const open = [...engine.chains.values()].find(({ chain }) => chain.row.network === ref.network);
  if (!open) return undefined;
  return ref.by === "nonce" ? byNonce(open, ref) : byTransaction(engine, open, ref);
}

function byNonce({ chain }: OpenChain, ref: Extract<PaymentRef, { readonly by: "nonce" }>): SQL | undefined {
  const scheme = schemeFor("exact", "eip155");
  const [token, payer, nonce] = [parseAddress(ref.asset), parseAddress(ref.payer), parseHash(ref.nonce)];
  if (!scheme || !token || !payer || !nonce) return undefined;
  const key = claimKey({
    chainId: chain.row.chainId,
    nonceDomain: scheme.nonceDomain(token),
    payer,
    nonce,
  });
  return sql`${claim.claimKey} = ANY(${toBytesArray([key])})`;
}

/** By any transaction that carried it: one of ours, signed but perhaps not mined, or a stranger's that was. */
function byTransaction(
  { db }: Engine,
  { chain }: OpenChain,
  ref: Extract<PaymentRef, { readonly by: "transaction" }>,
): SQL | undefined {
  const [payer, transaction] = [parseAddress(ref.payer), parseHash(ref.transaction)];
  if (!payer || !transaction) return undefined;
  const { chainId } = chain.row;
  const sent = db.pool
    .select({ key: slotItem.claimKey })
    .from(attempt)
    .innerJoin(slotItem, eq(slotItem.slotId, attempt.slotId))
    .where(eq(attempt.txHash, transaction));
  const seen = db.pool
    .select({ key: chainTransfer.authorizationKey })
    .from(chainTransfer)
    .where(
      and(
        eq(chainTransfer.chainId, chainId),
        eq(chainTransfer.txHash, transaction),
        fixed(eq(chainTransfer.canonical, true)),
      ),
    );
  return and(
    eq(claim.chainId, chainId),
    eq(claim.payer, payer),
    or(inArray(claim.claimKey, sent), inArray(claim.claimKey, seen)),
  );
}
