import type { ReturnState } from "../../clearing/state.ts";
import type { ClearingState, IntentStatus } from "../../payment-intent/state.ts";
import type { RefundState } from "../../refund/state.ts";
import type { Tone } from "../view/shown.tsx";

export const toneOfStatus: Readonly<Record<IntentStatus, Tone>> = {
  created: "quiet",
  clearing: "busy",
  completed: "good",
  failed: "bad",
  expired: "quiet",
  cancelled: "quiet",
};

export const toneOfState: Readonly<Record<ClearingState, Tone>> = {
  created: "quiet",
  "awaiting-funds": "busy",
  "funds-detected": "busy",
  "funds-received": "busy",
  settling: "busy",
  settled: "good",
  "in-review": "warn",
  expired: "quiet",
  failed: "bad",
  cancelled: "quiet",
  returned: "quiet",
  reversed: "bad",
};

export const toneOfReturn: Readonly<Record<ReturnState, Tone>> = {
  decided: "busy",
  sending: "busy",
  sent: "good",
  failed: "bad",
};

export const toneOfRefund: Readonly<Record<RefundState, Tone>> = {
  "requires-destination": "warn",
  pending: "busy",
  processing: "busy",
  succeeded: "good",
  failed: "bad",
  cancelled: "quiet",
};
