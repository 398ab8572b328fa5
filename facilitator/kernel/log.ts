/** Where the service says what happened. Fields are an allow-list by habit: ids, counts, codes; never secrets,
 *  signatures, raw transactions, bodies, or the message of a database error. */
export interface Log {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** What may be said of an error: its name and code, or the SQLSTATE behind a query error. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: typeof error };
  const cause = error.cause;
  const coded = (cause instanceof Error ? cause : error) as Error & { code?: unknown };
  const code = typeof coded.code === "string" ? coded.code : undefined;
  const isQuery = error.message.startsWith("Failed query");
  return { error: error.name, code, message: isQuery ? undefined : error.message.slice(0, 300) };
}
