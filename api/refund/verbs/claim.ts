/** A payer says where a refund goes, at its page: whoever proves the wallet that paid may. Source: merchant-api.md
 *  §1.5, §7. */
import { and, asc, eq } from "drizzle-orm";
import { type Address, checksum, type Hex } from "#kernel/bytes";
import { Fault } from "#kernel/fault";
import { fixed, type Tx } from "#store";
import { presentAmount } from "../../http/money.ts";
import { signInText } from "../siwe.ts";
import { refund, refundClaim } from "../tables.ts";
import { sendTo } from "./change.ts";
import { checkDestination } from "./destination.ts";
import { type ClaimDesk, openRefunds, paymentOf, refundsOf, sumOf, type Waiting, waitingOf } from "./open.ts";

/** How long a message may lie before it is signed and comes back. */
const GOOD_MS = 15 * 60_000;

interface Named {
  readonly id: string;
  readonly destination: Address;
}
/** What the payer's wallet is to sign. */
export interface ClaimMessage {
  readonly nonce: string;
  readonly message: string;
  readonly expiresAt: Date;
}

/** The message for the wallet that paid; null where nothing waits, or nobody can prove that it is theirs. Fault:
 *  `not_found`. */
export async function claimMessage(
  desk: ClaimDesk,
  { id, destination }: Named,
): Promise<ClaimMessage | null> {
  const { waiting, chain } = await openRefunds(desk, id);
  const account = waiting?.payer ?? null;
  const chainId = chain === null ? null : chainIdOf(desk, chain);
  if (!waiting || account === null || chain === null || chainId === null) return null;
  const issuedAt = desk.machineNow();
  const nonce = desk.nonces.make(id, issuedAt);
  const message = messageOf(desk, { id, account, chain, chainId, waiting, destination, nonce, issuedAt });
  return { nonce, message, expiresAt: new Date(issuedAt.getTime() + GOOD_MS) };
}

/** Null where it is not served any more: then nobody there can be asked. */
function chainIdOf({ facilitator }: ClaimDesk, chain: string): number | null {
  return facilitator.chains().find((served) => served.chain === chain)?.chainId ?? null;
}

interface Terms extends Named {
  readonly account: Address;
  readonly chain: string;
  readonly chainId: number;
  readonly waiting: Waiting;
  readonly nonce: string;
  readonly issuedAt: Date;
}

/** Made here each time, never taken from the payer: what does not say exactly this was not signed. */
function messageOf({ baseUrl }: ClaimDesk, terms: Terms): string {
  const { id, account, chain, chainId, waiting, destination, nonce, issuedAt } = terms;
  const amount = presentAmount(waiting).formatted;
  return signInText({
    baseUrl,
    path: `/checkout/${id}/refund`,
    account: checksum(account),
    statement: `Send the refund of ${amount} on ${chain} to ${checksum(destination)}.`,
    chainId,
    nonce,
    issuedAt,
    expiresAt: new Date(issuedAt.getTime() + GOOD_MS),
  });
}

/** Why an address was not taken. */
export type ClaimRefusal =
  | "nothing-waits"
  | "other-wallet"
  | "expired"
  | "bad-signature"
  | "used"
  | "bad-destination"
  | "not-now";

interface Claim extends Named {
  readonly account: Address;
  readonly nonce: string;
  readonly signature: Hex;
}

/** Sends what waits to the address that the payer signed for; null when it was taken. Fault: `not_found`,
 *  `chain_unavailable`. */
export async function claimRefunds(desk: ClaimDesk, claim: Claim): Promise<ClaimRefusal | null> {
  const payment = await paymentOf(desk, claim.id);
  const waiting = await waitingOf(desk, payment, await refundsOf(desk.db.pool, payment));
  if (!waiting || !payment.clearing) return "nothing-waits";
  const { chain, merchantId } = payment.clearing;
  if (waiting.payer !== claim.account) return "other-wallet";
  const chainId = chainIdOf(desk, chain);
  if (chainId === null) return "not-now";
  const issuedAt = desk.nonces.madeAt(claim.id, claim.nonce);
  if (!issuedAt) return "bad-signature";
  if (issuedAt.getTime() + GOOD_MS <= desk.machineNow().getTime()) return "expired";
  const text = messageOf(desk, { ...claim, chain, chainId, waiting, issuedAt });
  const { account, signature } = claim;
  if (!(await desk.facilitator.isSignedBy(chain, { account, text, signature }))) return "bad-signature";
  return take(desk, { ...claim, merchantId, clearingId: payment.clearing.id, text, amount: waiting.amount });
}

interface Proven extends Claim {
  readonly merchantId: string;
  readonly clearingId: `clr_${string}`;
  readonly text: string;
  readonly amount: bigint;
}

/** Faults of what the payer named, or of the merchant's purse, as the payer is told of them. */
const refusals: Readonly<Record<string, ClaimRefusal>> = {
  validation_failed: "bad-destination",
  recipient_is_ours: "bad-destination",
  insufficient_balance: "not-now",
  rail_unsupported: "not-now",
};

async function take(desk: ClaimDesk, proven: Proven): Promise<ClaimRefusal | null> {
  try {
    return await desk.db.tx((tx) => takeHeld(desk, tx, proven));
  } catch (error) {
    const refusal = error instanceof Fault ? refusals[error.code] : undefined;
    if (refusal === undefined) throw error;
    return refusal;
  }
}

async function takeHeld(desk: ClaimDesk, tx: Tx, proven: Proven): Promise<ClaimRefusal | null> {
  const { merchantId, clearingId } = proven;
  const rows = await tx
    .select()
    .from(refund)
    .where(
      and(
        eq(refund.merchantId, merchantId),
        eq(refund.clearingId, clearingId),
        fixed(eq(refund.state, "requires-destination")),
      ),
    )
    .orderBy(asc(refund.id))
    .for("update");
  // Another one may have come, or gone, since the message was made: its sum was not signed.
  if (rows.length === 0 || sumOf(rows) !== proven.amount) return "nothing-waits";
  if (!(await isFirst(tx, proven, desk.now()))) return "used";
  for (const row of rows) {
    const at = { chain: row.chain, asset: row.asset, pointer: "/destination" };
    const destination = await checkDestination(desk, tx, proven.destination, at);
    await sendTo(desk, tx, desk, { row, destination });
  }
  return null;
}

/** Writes down what was signed; false when its nonce was used before. */
async function isFirst(tx: Tx, proven: Proven, claimedAt: Date): Promise<boolean> {
  const { merchantId, nonce, clearingId, account, destination, text: message, signature } = proven;
  const written = await tx
    .insert(refundClaim)
    .values({ merchantId, nonce, clearingId, account, destination, message, signature, claimedAt })
    .onConflictDoNothing()
    .returning({ nonce: refundClaim.nonce });
  return written.length > 0;
}
