/** Lengths for which the style sheet has a size of type; longer amounts than the last have that of the last. */
const steps = [8, 10, 12, 16, 20, 24, 32] as const;

/** How many signs an amount needs room for: however long it is, it stays on one line. Pure. */
export function roomFor(amount: string): number {
  return steps.find((step) => amount.length <= step) ?? 32;
}
