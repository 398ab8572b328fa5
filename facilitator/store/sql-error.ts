/** The SQLSTATE behind an error, however deep drizzle wrapped it; null when the database did not say one. */
export function sqlState(error: unknown): string | null {
  return databaseError(error)?.code ?? null;
}

/** Whether a write was refused by the unique index or constraint of this name. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  const found = databaseError(error);
  return found?.code === "23505" && found.constraint === constraint;
}

/** Whether a write was refused by the check constraint of this name. */
export function isCheckViolation(error: unknown, constraint: string): boolean {
  const found = databaseError(error);
  return found?.code === "23514" && found.constraint === constraint;
}

function databaseError(
  error: unknown,
): { readonly code: string; readonly constraint: string | undefined } | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const { code, constraint } = at as Error & { code?: unknown; constraint?: unknown };
    // No class of PostgreSQL begins with E, as the system's EPIPE does.
    if (typeof code === "string" && /^(?!E)[0-9A-Z]{5}$/.test(code))
      return { code, constraint: typeof constraint === "string" ? constraint : undefined };
  }
  return null;
}
