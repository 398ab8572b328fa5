import { type Fault, faultsOf, kernelFaults } from "#kernel/fault";
import { callerFaults } from "./faults/caller.ts";
import { outgoingFaults } from "./faults/outgoing.ts";
import { paymentFaults } from "./faults/payment.ts";
import { requestFaults } from "./faults/request.ts";
import { sellingFaults } from "./faults/selling.ts";
import type { ApiFaultSpec } from "./faults/spec.ts";

/** Faults of the HTTP and merchant layer. Each code has a page at `/errors/{code}`. */
export const apiFaults = {
  ...requestFaults,
  ...callerFaults,
  ...paymentFaults,
  ...outgoingFaults,
  ...sellingFaults,
} as const satisfies Record<string, ApiFaultSpec>;

export type ApiFaultCode = keyof typeof apiFaults;
export const fault = faultsOf(apiFaults);

/** A member that no schema can judge: `why` says what it has to be, as the schemas do. */
export function invalid(pointer: string, why: string): Fault {
  return fault("validation_failed", { pointer, why });
}

const { database_unavailable: _asUnavailable, ledger_conflict: _bug, ...publicKernelFaults } = kernelFaults;

export type PublicFaultCode = ApiFaultCode | keyof typeof publicKernelFaults;

/** Every code that can appear on the wire, for the pages at `/errors/{code}` and the reference. */
export const publicFaults: Readonly<Record<string, ApiFaultSpec>> = { ...publicKernelFaults, ...apiFaults };

/** What a caller is told of a fault: those of the inside become the general one of their kind. */
export function asPublic(seen: Fault): Fault {
  if (Object.hasOwn(publicFaults, seen.code)) return seen;
  if (seen.kind === "unavailable") return fault("unavailable", seen.context, seen);
  return seen.kind === "bug" ? fault("internal_error", {}, seen) : seen;
}
