import type { ClearingState, ClearingTrigger } from "../clearing/state.ts";
import type { ProviderState, ProviderStatus } from "./port.ts";

/** What follows for a clearing from what its provider says now. */
export interface Course {
  readonly triggers: readonly ClearingTrigger[];
  /** The provider holds the payer's money: it is booked, once. */
  readonly isReceived: boolean;
  /** What the provider is to be told next. */
  readonly instruct: "settle" | "close" | "give-back" | null;
}

const receivedStates: ReadonlySet<ProviderState> = new Set(["funds-received", "settling", "settled"]);

/** Pure. A status that is older than the clearing's state leads nowhere, so the order in which statuses are told does not
 *  matter. The end of the payer's time is the clearing's own. */
export function courseOf(
  from: ClearingState,
  { state, received }: Pick<ProviderStatus, "state" | "received">,
  { failedSteps }: { readonly failedSteps: number },
): Course {
  const isReceived = receivedStates.has(state) || (state === "failed" && received > 0n);
  const isGivenUp = from === "failed" && failedSteps > 0 && state === "funds-received";
  const triggers = isGivenUp ? [] : triggersOf(from, state, isReceived);
  return { triggers, isReceived, instruct: instructionOf(from, state, triggers) };
}

function triggersOf(
  from: ClearingState,
  state: ProviderState,
  isReceived: boolean,
): readonly ClearingTrigger[] {
  const end: readonly ClearingTrigger[] = state === "settled" ? ["credit"] : [];
  switch (from) {
    case "awaiting-funds":
      if (state === "failed") return ["fail"];
      if (isReceived) return ["detect", "receive", "settle", ...end];
      if (state === "funds-detected") return ["detect"];
      return state === "closed" ? ["expire"] : [];
    case "funds-detected":
      if (state === "failed") return ["fail"];
      return isReceived ? ["receive", "settle", ...end] : [];
    // Money that a settlement failed on is settled again, when a retry asks for it.
    case "funds-received":
      return isReceived ? ["settle", ...end] : ["fail"];
    case "settling":
      return state === "failed" ? ["fail"] : end;
    // What ended and is paid after all is settled, but for what was given up: that takes a retry.
    case "expired":
    case "failed":
      return isReceived && state !== "failed" ? ["reopen", "settle", ...end] : [];
    default:
      return [];
  }
}

function instructionOf(
  from: ClearingState,
  state: ProviderState,
  triggers: readonly ClearingTrigger[],
): Course["instruct"] {
  if (triggers.includes("settle") && (state === "funds-received" || state === "failed")) return "settle";
  if (from === "settling" && state === "funds-received") return "settle";
  if (from === "expired" && state === "awaiting-funds") return "close";
  if (from !== "cancelled") return null;
  if (state === "awaiting-funds") return "close";
  // It was paid in the moment in which it was called off: never ours, so it never comes into the books.
  return state === "funds-received" ? "give-back" : null;
}
