import type { Tx } from "#store";
import type { ClearingDesk } from "../desk.ts";
import { type Failure, type Held, type Step, transition } from "../timeline.ts";

export type { ClearingDesk } from "../desk.ts";
export { feeOf } from "../money.ts";
export { type Failure, type Held, type Step, transition } from "../timeline.ts";

/** Pauses after a step that failed; after the last try it is given up. Source: merchant-api.md §1.2. */
const PAUSES_SECONDS = [5, 15, 45, 120, 300, 600, 600, 600] as const;

export interface FailedStep extends Failure {
  /** Trying again cannot help. */
  readonly isPermanent: boolean;
}

/** A step between the payer's money and the merchant's credit failed. It is tried again later, eight times in all; then
 *  the payment fails, its funds stay where they are, and the merchant may retry it. Gives back when to try again; null
 *  when it was given up. */
export async function stepFailed(
  tx: Tx,
  keeping: Pick<ClearingDesk, "facilitator" | "baseUrl" | "newId" | "now">,
  held: Held,
  { isPermanent, code, reason }: FailedStep,
): Promise<{ readonly held: Held; readonly retryAt: Date | null }> {
  const { failedSteps } = held.clearing;
  const pause = isPermanent ? undefined : PAUSES_SECONDS[failedSteps];
  const retryAt = pause === undefined ? null : new Date(keeping.now().getTime() + pause * 1000);
  const step: Step = retryAt
    ? { trigger: "back-off", cause: reason }
    : { trigger: "fail", cause: reason, failure: { code, reason } };
  const change = { clearing: { failedSteps: failedSteps + 1 } };
  return { held: await transition(tx, keeping, held, [step], change), retryAt };
}
