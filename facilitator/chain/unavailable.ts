import { Fault } from "#kernel/fault";

/** Whether a chain could not be asked, or its endpoints contradict each other: no verdict about anything. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Fault && error.code === "chain_unavailable";
}
