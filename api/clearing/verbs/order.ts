import { and, eq } from "drizzle-orm";
import type { Facilitator } from "#facilitator";
import { checksum } from "#kernel/bytes";
import { isId } from "#kernel/id";
import { type Executor, fixed } from "#store";
import { fault } from "../../http/faults.ts";
import { paymentRefOf } from "../orders.ts";
import type { SignedOrder } from "../schema.ts";
import { clearing, clearingOrder } from "../tables.ts";

/** The signed order that the router takes for an intent, for whoever holds its id. Fault: `not_found` where none can be
 *  paid now. */
export async function readOrder(
  { facilitator }: { readonly facilitator: Pick<Facilitator, "offer"> },
  db: Executor,
  intentId: string,
): Promise<SignedOrder> {
  const offer = isId("pi", intentId) ? await facilitator.offer({ by: "id", id: intentId }) : null;
  if (!offer) throw fault("not_found");
  const [row] = await db
    .select({ order: clearingOrder })
    .from(clearing)
    .innerJoin(
      clearingOrder,
      and(
        eq(clearingOrder.merchantId, clearing.merchantId),
        eq(clearingOrder.clearingId, clearing.id),
        fixed(eq(clearingOrder.state, "active")),
        fixed(eq(clearingOrder.path, "on-chain-contract")),
      ),
    )
    .where(
      and(
        eq(clearing.merchantId, offer.payable.merchantId),
        eq(clearing.intentId, intentId as `pi_${string}`),
        fixed(eq(clearing.state, "awaiting-funds")),
      ),
    );
  if (!row) throw fault("not_found");
  const { chain, address, token, payTo, amount, expiresAt, signature } = row.order;
  return {
    chain,
    router: checksum(address),
    order: {
      paymentRef: paymentRefOf(intentId),
      token: checksum(token),
      payTo: checksum(payTo),
      amount: amount.toString(),
      deadline: (expiresAt.getTime() / 1000).toString(),
    },
    signature,
  };
}
