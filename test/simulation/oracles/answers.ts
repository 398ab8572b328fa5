/** What a caller was told, against what the rows say at that moment. */
import { Fault } from "#kernel/fault";
import { FAILURES_UNTIL_REST } from "../../../facilitator/settlement/budget/policy.ts";
import type { Asked, Payment, SettleAnswer, VerifyAnswer } from "../actors/payments.ts";
import type { Backend } from "../parts/backend.ts";
import { Violation } from "./violation.ts";

interface Row extends Record<string, unknown> {
  readonly payable_id: string;
  readonly credit_state: string;
  readonly credit_epoch: number;
  readonly state: string;
  readonly was_failed: boolean;
}

export async function checkAnswer(
  backend: Backend,
  payment: Payment,
  asked: Asked,
  answer: SettleAnswer,
): Promise<void> {
  const { outcome } = answer;
  const about = `${payment.name} ${asked.manner} ${asked.requestId} was told ${outcome} (${answer.reason})`;
  if (asked.manner === "forged" && outcome !== "refused" && outcome !== "unavailable")
    throw new Violation("only-authentic", about);
  if (outcome === "settled" || outcome === "failed") await checkRow(backend, payment, asked, answer, about);
  if (outcome === "settled" && !answer.replayed) checkSuccess(payment, asked, about);
  if (payment.asked.every((each) => !each.isOpen && isRefusal(each.answer)))
    await checkUnclaimed(backend, payment, about);
}

/** Answers that say that nothing was recorded. */
export function isRefusal(answer: Pick<SettleAnswer, "outcome" | "reason"> | null): boolean {
  return (
    answer?.outcome === "refused" ||
    (answer?.outcome === "unavailable" && answer.reason !== "settlement_pending")
  );
}

/** 429 for the payer, whichever of its payments it shows: one that failed is sent again no sooner than another. */
export function isToRest(error: unknown): boolean {
  return error instanceof Fault && error.code === "rate_limited" && error.context.budget === "rest";
}

/** Whether as many of the payer's payments failed on the chain as may. */
export async function rests(backend: Backend, chainId: number, { payer }: Payment): Promise<boolean> {
  const rows = await backend.look(
    "SELECT 1 FROM payer_gas WHERE chain_id = $1 AND payer = decode($2, 'hex') AND failures >= $3",
    [chainId, payer.address.slice(2), FAILURES_UNTIL_REST],
  );
  return rows.length > 0;
}

/** Everybody who asked so far was told that nothing was recorded. */
async function checkUnclaimed(backend: Backend, { key }: Payment, about: string): Promise<void> {
  const [row] = await backend.look<{ state: string }>(
    "SELECT state FROM claim WHERE claim_key = decode($1, 'hex')",
    [key.slice(2)],
  );
  if (row) throw new Violation("failure-is-known", `${about}, as was everybody, and a claim is ${row.state}`);
}

function checkSuccess(payment: Payment, asked: Asked, about: string): void {
  const others = payment.asked.filter(
    (each) =>
      each !== asked && each.answer?.outcome === "settled" && !each.answer.replayed && each.released === "no",
  );
  if (others.length > 0)
    throw new Violation(
      "one-success",
      `${about}, as ${others.map(({ requestId }) => requestId).join(", ")} before`,
    );
}

async function checkRow(
  backend: Backend,
  payment: Payment,
  asked: Asked,
  answer: SettleAnswer,
  about: string,
): Promise<void> {
  const [row] = await backend.look<Row>(
    `SELECT payable_id, credit_state, credit_epoch, state, EXISTS (SELECT 1 FROM claim_event AS event
       WHERE event.claim_id = claim.id AND event.state IN ('failed-watch','expired','cancelled')) AS was_failed
     FROM claim WHERE claim_key = decode($1, 'hex')`,
    [payment.key.slice(2)],
  );
  if (answer.outcome === "failed") {
    if (!row?.was_failed)
      throw new Violation("failure-is-known", `${about}, and the claim is ${row?.state ?? "not there"}`);
    return;
  }
  if (!row || (row.credit_state === "none" && row.credit_epoch === 0))
    throw new Violation("success-is-credited", `${about}, and the claim is ${row?.state ?? "not there"}`);
  if (row.payable_id !== asked.sale.id)
    throw new Violation("binding-holds", `${about} for ${asked.sale.id}, and it pays ${row.payable_id}`);
}

/** A verdict about a genuine signature never speaks of a forgery, as long as its payer is an account of a key. */
export function checkVerdict(
  { name }: Payment,
  { manner, isKeys }: { readonly manner: Asked["manner"]; readonly isKeys: boolean },
  answer: VerifyAnswer,
): void {
  const isForged = manner === "forged";
  const blames = answer.outcome === "invalid" && answer.reason === "invalid_exact_evm_signature";
  if (isForged && answer.outcome === "valid")
    throw new Violation("only-authentic", `${name}: a forged signature was verified`);
  if (!isForged && isKeys && blames)
    throw new Violation("only-authentic", `${name}: its own signature was called forged`);
}
