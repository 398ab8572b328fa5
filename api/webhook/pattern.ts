import { invalid } from "../http/faults.ts";

/** Whether an event of this type is meant by one of the patterns: `*`, `payment.*`, or the type itself. */
export function isMeant(type: string, patterns: readonly string[]): boolean {
  return patterns.some(
    (pattern) =>
      pattern === "*" ||
      pattern === type ||
      (pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1))),
  );
}

/** Nothing for patterns each of which some type matches. Fault: `validation_failed`, at the place of the first that no
 *  event will ever match: whoever mistypes one would hear nothing, and think that nothing happened. */
export function mustBeKnown(patterns: readonly string[], types: readonly string[], pointer: string): void {
  const unknown = patterns.findIndex((pattern) => !types.some((type) => isMeant(type, [pattern])));
  if (unknown >= 0)
    throw invalid(
      `${pointer}/${unknown}`,
      "a type of event, or a pattern such as payment.*, that some event matches",
    );
}
