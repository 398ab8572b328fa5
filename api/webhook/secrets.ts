import type { EndpointRow } from "./present.ts";
import type { OlderSecret } from "./tables.ts";

/** The secrets that were replaced and sign on at `now`, the one replaced last first. Pure. */
export function replacedIn(
  { previousSecret, previousUntil, olderSecrets }: EndpointRow,
  now: Date,
): readonly OlderSecret[] {
  const previous =
    previousSecret && previousUntil ? [{ secret: previousSecret, until: previousUntil.toISOString() }] : [];
  return [...previous, ...olderSecrets].filter(({ until }) => new Date(until) > now);
}
