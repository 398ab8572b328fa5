/** Something that must never be was. `oracle` names the rule of settlement.md §15. */
export class Violation extends Error {
  readonly oracle: Oracle;
  constructor(oracle: Oracle, what: string) {
    super(`${oracle}: ${what}`);
    this.name = "Violation";
    this.oracle = oracle;
  }
}

export const oracles = [
  /** 1 */
  "books-balance",
  /** 2 */
  "credit-follows-chain",
  /** 3 */
  "logs-claimed-once",
  "books-equal-chain",
  /** 4 */
  "one-success",
  "success-is-credited",
  "failure-is-known",
  "grant-comes-back",
  /** 5 */
  "everything-ends",
  "sent-again",
  "no-gaps",
  /** 6 */
  "committed-before-sent",
  "fence-holds",
  "checked-before-signed",
  /** 7 */
  "reversal-answers-fork",
  "facts-delivered",
  /** 8 */
  "spending-is-bounded",
  "only-authentic",
  "binding-holds",
  "no-bug",
] as const;
export type Oracle = (typeof oracles)[number];
