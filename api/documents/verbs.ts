import type { PaymentPath } from "../clearing/schema.ts";
import type { Call } from "../http/context.ts";
import type { ProofKey } from "./proof.ts";
import type { SignedProof } from "./schema.ts";
import { type DocumentDesk, proofOf, readSettled } from "./settled.ts";

export interface ProofDesk extends DocumentDesk {
  readonly key: ProofKey;
}

/** The settlement proof of a completed payment, signed. Faults: `not_found`, `receipt_not_available`. */
export async function readProof(desk: ProofDesk, { ctx, input }: Call<PaymentPath>): Promise<SignedProof> {
  ctx.demand("payments:read");
  const settled = await readSettled(desk, ctx.db.pool, { merchantId: ctx.merchantId, id: input.id });
  return desk.key.sign(proofOf(desk, settled));
}
