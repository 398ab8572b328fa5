import type { Fault } from "#kernel/fault";
import type { Reason, Refusal } from "../../scheme/reasons.ts";
import type { Claim } from "../claim/claim.ts";
import type { ToldClaim } from "../claim/claim-parts.ts";
import { isChargeable } from "../claim/state.ts";
import type { Engine } from "../engine.ts";
import type { PaymentRequest, SettleAnswer, SettleExtra, SettleOutcome } from "../verify/request.ts";

const RETRY_AFTER_SECONDS = 2;
const LATER_SECONDS = 5;

export function networkOf(engine: Engine, claim: Pick<Claim, "chainId">): string {
  return engine.chains.get(claim.chainId)?.chain.row.network ?? `eip155:${claim.chainId}`;
}

/** The part of a claim that answers are made of; a row that was just inserted has it too. */
type Told = Pick<Claim, "chainId" | "payer" | "amount" | "id" | "state"> & Partial<Pick<Claim, "includedTx">>;

function answer(
  engine: Engine,
  claim: Told,
  outcome: SettleOutcome,
  rest: Partial<SettleAnswer>,
): SettleAnswer {
  return {
    outcome,
    reason: null,
    message: null,
    transaction: claim.includedTx ?? "",
    network: networkOf(engine, claim),
    payer: claim.payer,
    amount: claim.amount.toString(),
    paymentId: claim.id,
    extra: {},
    replayed: false,
    ...rest,
  };
}

/** Settled, and this caller holds the grant. */
export function settledAnswer(engine: Engine, claim: ToldClaim): SettleAnswer {
  return answer(engine, claim, "settled", {
    extra: {
      ...(claim.includedAt ? { settledAt: claim.includedAt.toISOString() } : {}),
      ...(claim.settledBy ? { settledBy: claim.settledBy } : {}),
    },
  });
}

/** Settled, and somebody was told so before. Carries all that a stock client keeps of a 409. */
export function duplicateAnswer(engine: Engine, claim: ToldClaim): SettleAnswer {
  return answer(engine, claim, "duplicate", {
    reason: "duplicate_settlement",
    message: `This authorization was settled before, in transaction ${claim.includedTx}. Nothing was charged again. Its status: /x402/settlements/${claim.id}.`,
  });
}

/** Bound to another payable, merchant or terms; nothing of the other side leaks. */
export function boundElsewhereAnswer(engine: Engine, claim: ToldClaim): SettleAnswer {
  return {
    ...answer(engine, claim, "bound-elsewhere", {
      reason: "authorization_bound_elsewhere",
      message: "This authorization already pays for something else. Sign a fresh one for this payment.",
      transaction: "",
    }),
    paymentId: null,
    amount: null,
  };
}

/** Open: not known yet is never told as failed. */
export function pendingAnswer(engine: Engine, claim: Told, transaction: string): SettleAnswer {
  return answer(engine, claim, "pending", {
    reason: "settlement_pending",
    message:
      claim.state === "review"
        ? "The payment waits for a person's decision. Do not sign again; ask the status URL."
        : "The outcome is not known yet. Do not sign again: repeat the identical request, or ask the status URL.",
    transaction,
    extra: { retryAfterSeconds: RETRY_AFTER_SECONDS },
  });
}

/** It was attempted or decided, and did not settle. `chargeable` tells whether the signature can still move money. */
export function failedAnswer(
  engine: Engine,
  claim: ToldClaim & Pick<SettleExtra, "retryAfterSeconds">,
  transaction: string,
): SettleAnswer {
  const reason: Reason = claim.reason ?? "unexpected_settle_error";
  const { retryAfterSeconds } = claim;
  return answer(engine, claim, "failed", {
    reason,
    message: claim.message ?? "The payment could not be settled.",
    transaction,
    extra: { chargeable: isChargeable(claim.state), ...(retryAfterSeconds && { retryAfterSeconds }) },
  });
}

function nothingSigned(request: PaymentRequest): SettleAnswer {
  const { network } = request.selection;
  return {
    outcome: "refused",
    reason: null,
    message: null,
    transaction: "",
    network,
    payer: null,
    amount: null,
    paymentId: null,
    extra: {},
    replayed: false,
  };
}

/** Refused before the claim: it may be sent again once cured. */
export function refusedAnswer(
  request: PaymentRequest,
  { reason, message }: Refusal,
  payer: SettleAnswer["payer"],
): SettleAnswer {
  return { ...nothingSigned(request), reason, message, payer };
}

export function unknownPayableAnswer(request: PaymentRequest, message: string): SettleAnswer {
  return {
    ...nothingSigned(request),
    outcome: "unknown-payable",
    reason: "invalid_payment_requirements",
    message,
  };
}

/** Whoever went away while it waited for its turn has nobody to be told: where many wait, what is done for those who are
 *  gone is taken from those who are there. */
export function goneAnswer(request: PaymentRequest): SettleAnswer {
  return {
    ...nothingSigned(request),
    outcome: "unavailable",
    reason: "unexpected_settle_error",
    message:
      "The caller went away before its turn, and this call recorded nothing. Repeat the identical request.",
    extra: { retryAfterSeconds: 2 },
  };
}

/** More are under way than end in time: to take this one as well would make all of them later. */
export function comeLaterAnswer(request: PaymentRequest): SettleAnswer {
  return {
    ...nothingSigned(request),
    outcome: "unavailable",
    reason: "unexpected_settle_error",
    message:
      "More payments are under way than we settle in time, and this call recorded nothing. Repeat the identical request in a few seconds.",
    extra: { retryAfterSeconds: LATER_SECONDS },
  };
}

export function unavailableAnswer(request: PaymentRequest, error: Fault): SettleAnswer {
  const unknown = error.code === "commit_unknown";
  return {
    ...nothingSigned(request),
    outcome: "unavailable",
    reason: unknown ? "settlement_pending" : "unexpected_settle_error",
    message: unknown
      ? "We cannot say whether this payment was recorded. Do not sign again: repeat the identical request."
      : "We could not check this payment just now, and this call recorded nothing. Repeat the identical request shortly.",
    extra: { retryAfterSeconds: 2 },
  };
}
