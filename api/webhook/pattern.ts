/** Whether an event of this type is meant by one of the patterns: `*`, `payment.*`, or the type itself. */
export function isMeant(type: string, patterns: readonly string[]): boolean {
  return patterns.some(
    (pattern) =>
      pattern === "*" ||
      pattern === type ||
      (pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1))),
  );
}

/** The types that a pattern means; none for a pattern that no event will ever match. */
export function typesMeant(pattern: string, types: readonly string[]): readonly string[] {
  return types.filter((type) => isMeant(type, [pattern]));
}
