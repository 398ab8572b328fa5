import { errorFields } from "#kernel/log";
import { outageOf } from "#store";
import type { Reason } from "../../scheme/reasons.ts";
import type { ToldClaim } from "../claim/claim-parts.ts";
import type { Engine } from "../engine.ts";
import { isReplayable, isReused, type Replaying, reusedId } from "../settle/replay.ts";
import { examine, type Looking } from "./examine.ts";
import type { PaymentRequest, VerifyAnswer } from "./request.ts";
import type { FirstSight, VerdictCache } from "./short-memory.ts";
import { otherTerms, type Reading, type Understood, understand } from "./understand.ts";

export interface Verifying extends Replaying {
  readonly engine: Engine;
  readonly reading: Reading;
  readonly looking: Looking;
  readonly firstSight: FirstSight;
  readonly verdicts: VerdictCache;
}

/** Whether settle would take this payment, without broadcasting. Never throws for an outage: that is
 *  `unexpected_verify_error`, never a reason that blames the payer. Fault: `rate_limited`, for a gas budget, or while the
 *  calls of the chain's endpoints are kept for settles. */
export async function verify(verifying: Verifying, request: PaymentRequest): Promise<VerifyAnswer> {
  const { engine } = verifying;
  const started = engine.clock.monotonicMs();
  try {
    const answer = await verifyOrThrow(verifying, request);
    engine.meter.count("verifications", { outcome: answer.outcome === "valid" ? "valid" : answer.reason });
    return answer;
  } catch (error) {
    const outage = outageOf(error);
    if (!outage) throw error;
    engine.log.warn(errorFields(error), "a payment could not be checked");
    engine.meter.count("verifications", { outcome: outage.code });
    return invalid(
      "unexpected_verify_error",
      "We could not check this payment just now. Try again; it is no verdict about it.",
      null,
    );
  } finally {
    engine.meter.time("verify", (engine.clock.monotonicMs() - started) / 1000);
  }
}

function invalid(
  reason: Reason,
  message: string,
  payer: Understood["authorization"]["payer"] | null,
): VerifyAnswer {
  return { outcome: "invalid", reason, message, payer };
}

async function verifyOrThrow(verifying: Verifying, request: PaymentRequest): Promise<VerifyAnswer> {
  const { verdicts } = verifying;
  const forgery = verdicts.badSignature(request);
  if (forgery) return forgery;
  const understanding = await understand(verifying.reading, request);
  if (understanding.kind === "unknown-payable") {
    return {
      outcome: "unknown-payable",
      reason: "invalid_payment_requirements",
      message: understanding.message,
    };
  }
  if (understanding.kind === "refused") {
    const answer = invalid(understanding.refusal.reason, understanding.refusal.message, understanding.payer);
    verdicts.keep(request, answer);
    return answer;
  }
  const { it } = understanding;
  // Nobody else waits here, not even a turn: who comes at once is read on the chain at once.
  if (it.request.paymentIdentifier && (await isReused(verifying, it)))
    return invalid(reusedId.reason, reusedId.message, it.authorization.payer);
  if (it.known.claim) return verifyKnown(verifying, it, it.known.claim);
  const answer = await verifyFresh(verifying, it);
  if (answer.outcome === "valid") return answer;
  // A settle of the same payment may have been faster, and what we saw may be its work.
  const { chainId } = it.open.chain.row;
  const { payer } = it.authorization;
  const token = it.rail.token.contract;
  const now = await verifying.reading.findClaim({ claimKey: it.claimKey, chainId, token, payer });
  return now.claim ? verifyKnown(verifying, it, now.claim) : answer;
}

/** Our own claims answer first, so that an honest retry never gets a fresh challenge and pays twice. */
async function verifyKnown(verifying: Verifying, it: Understood, claim: ToldClaim): Promise<VerifyAnswer> {
  const { payer } = it.authorization;
  if (claim.fingerprint !== it.fingerprint()) {
    return invalid(
      "authorization_bound_elsewhere",
      "This authorization already pays for something else. Sign a fresh one for this payment.",
      payer,
    );
  }
  const other = otherTerms(it);
  if (other) return invalid(other.reason, other.message, payer);
  switch (claim.state) {
    case "expired":
    case "cancelled":
      return invalid(
        claim.reason ?? "invalid_transaction_state",
        claim.message ?? "This authorization can never be charged. Sign a fresh one.",
        payer,
      );
    case "failed-watch":
      return claim.grantedAt ? verifyTold(verifying, it, claim) : verifyFresh(verifying, it);
    default:
      return claim.grantedAt ? verifyTold(verifying, it, claim) : { outcome: "valid", payer };
  }
}

/** Somebody was told success. That its block may have left the chain since is no reason to tell another the same. */
async function verifyTold(verifying: Verifying, it: Understood, claim: ToldClaim): Promise<VerifyAnswer> {
  const { payer } = it.authorization;
  if (await isReplayable(verifying, it)) return { outcome: "valid", payer };
  const where = claim.includedTx
    ? `, in transaction ${claim.includedTx}`
    : "; its block has left the chain, and its status URL says what becomes of it";
  return invalid(
    "duplicate_settlement",
    `This authorization was settled before${where}. It is not charged again.`,
    payer,
  );
}

async function verifyFresh({ looking, firstSight }: Verifying, it: Understood): Promise<VerifyAnswer> {
  const { payer } = it.authorization;
  const examined = await examine(looking, it);
  if ("reason" in examined) return invalid(examined.reason, examined.message, payer);
  if (examined.standings) looking.budgets.demand(it, examined.standings);
  firstSight.note(it.claimKey, it.payable.id);
  return { outcome: "valid", payer };
}
