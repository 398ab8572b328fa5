import type { ClearingState, ClearingTrigger } from "../clearing/state.ts";
import type { ProviderState } from "./port.ts";

/** What follows for a clearing from what its provider says now. */
export interface Course {
  readonly triggers: readonly ClearingTrigger[];
  /** The provider holds the payer's money: it is booked, once. */
  readonly isReceived: boolean;
  /** What the provider is to be told next. */
  readonly instruct: "settle" | "close" | null;
}

const receivedStates: ReadonlySet<ProviderState> = new Set(["funds-received", "settling", "settled"]);

/** Pure, and the same however often and in which order it is asked: a status that is older than the clearing's state
 *  leads nowhere. `isOver`: the payer's time has ended. */
export function courseOf(
  from: ClearingState,
  state: ProviderState,
  { isOver }: { readonly isOver: boolean },
): Course {
  const isReceived = receivedStates.has(state);
  const triggers = triggersOf(from, state, isOver && !isReceived);
  return { triggers, isReceived, instruct: instructionOf(from, state, triggers) };
}

function triggersOf(
  from: ClearingState,
  state: ProviderState,
  isExpiring: boolean,
): readonly ClearingTrigger[] {
  const end: readonly ClearingTrigger[] = state === "settled" ? ["credit"] : [];
  const isReceived = receivedStates.has(state);
  switch (from) {
    case "awaiting-funds":
      if (state === "failed") return ["fail"];
      if (isReceived) return ["detect", "receive", "settle", ...end];
      if (state === "funds-detected") return ["detect"];
      return isExpiring || state === "closed" ? ["expire"] : [];
    case "funds-detected":
      if (state === "failed") return ["fail"];
      return isReceived ? ["receive", "settle", ...end] : [];
    case "funds-received":
      if (state === "failed") return ["fail"];
      return ["settle", ...end];
    case "settling":
      return state === "failed" ? ["fail"] : end;
    // What ended and is paid after all is settled; what was called off waits for a person.
    case "expired":
    case "failed":
      return isReceived ? ["reopen", "settle", ...end] : [];
    case "cancelled":
      return isReceived ? ["review"] : [];
    default:
      return [];
  }
}

function instructionOf(
  from: ClearingState,
  state: ProviderState,
  triggers: readonly ClearingTrigger[],
): Course["instruct"] {
  if (state === "funds-received" && (triggers.includes("settle") || from === "settling")) return "settle";
  const isEnded = triggers.includes("expire") || from === "cancelled" || from === "expired";
  return isEnded && state === "awaiting-funds" ? "close" : null;
}
