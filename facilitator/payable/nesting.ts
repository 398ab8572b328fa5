/** Whether JSON is nested in more levels than that. Looks no deeper. */
export function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => deeperThan(member, levels - 1));
}
