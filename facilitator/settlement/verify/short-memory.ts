import type { Hash } from "#kernel/bytes";
import type { Clock } from "#kernel/clock";
import type { PaymentRequest, VerifyAnswer } from "./request.ts";

const MAX_ENTRIES = 10_000;
const BAD_SIGNATURE_MS = 60_000;
const FIRST_SIGHT_MS = 600_000;

/** A bounded memory in which the oldest entries make room. */
export function shortMemory<V>(clock: Clock, ttlMs: number) {
  const entries = new Map<string, { readonly value: V; readonly until: number }>();
  return {
    /** True while nothing is remembered: then a key need not even be made. */
    isEmpty: () => entries.size === 0,
    get(key: string): V | null {
      const entry = entries.get(key);
      if (!entry) return null;
      if (entry.until > clock.monotonicMs()) return entry.value;
      entries.delete(key);
      return null;
    },
    set(key: string, value: V): void {
      const oldest = entries.size >= MAX_ENTRIES ? entries.keys().next() : null;
      if (oldest && !oldest.done) entries.delete(oldest.value);
      entries.set(key, { value, until: clock.monotonicMs() + ttlMs });
    },
  };
}

/** Remembers forgeries, by the hash of the whole payload and never by claim key: a forged signature must not poison
 *  the real one. A forgery may cost a chain read (a contract wallet could stand behind it); its repetition must not. */
export interface VerdictCache {
  badSignature(request: PaymentRequest): VerifyAnswer | null;
  keep(request: PaymentRequest, answer: VerifyAnswer): void;
}

export function verdictCache(clock: Clock): VerdictCache {
  const forgeries = shortMemory<VerifyAnswer>(clock, BAD_SIGNATURE_MS);
  return {
    badSignature: (request) => (forgeries.isEmpty() ? null : forgeries.get(keyOf(request))),
    keep(request, answer) {
      if (answer.outcome === "invalid" && answer.reason === "invalid_exact_evm_signature")
        forgeries.set(keyOf(request), answer);
    },
  };
}

function keyOf({ payloadHash, target, selection, accepted }: PaymentRequest): string {
  return JSON.stringify([payloadHash(), target, selection, accepted]);
}

/** Which payable an authorization was first verified for; a short memory of one process, used only to smell theft. */
export interface FirstSight {
  note(claimKey: Hash, payableId: string): void;
  /** Whether another payable was seen first. */
  isOther(claimKey: Hash, payableId: string): boolean;
}

export function firstSightMemory(clock: Clock): FirstSight {
  const seen = shortMemory<string>(clock, FIRST_SIGHT_MS);
  return {
    note(claimKey: Hash, payableId) {
      if (seen.get(claimKey) === null) seen.set(claimKey, payableId);
    },
    isOther(claimKey, payableId) {
      const first = seen.get(claimKey);
      return first !== null && first !== payableId;
    },
  };
}
