import { sqlState } from "./sql-error.ts";

/** What every statement is told that comes behind a failed one of its transaction. */
const ABORTED = "25P02";

/** Statements of one transaction that do not wait for each other's answers: they go to the database one behind the other,
 *  in no order that may be relied on. Ends when all of them have, so that nothing of a transaction comes after its end; with
 *  the error that made the others fail, if one did. */
export async function together<T extends readonly unknown[]>(
  statements: readonly [...{ [K in keyof T]: PromiseLike<T[K]> }],
): Promise<T> {
  const ended = await Promise.allSettled(statements);
  const errors = ended.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  if (errors.length > 0) throw errors.find((error) => sqlState(error) !== ABORTED) ?? errors[0];
  return ended.map((one) => (one as PromiseFulfilledResult<unknown>).value) as unknown as T;
}
