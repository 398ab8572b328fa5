import type { Account, Budget, Burn } from "./policy.ts";

/** What is known of one budget when it is read. */
export interface Facts extends Omit<Account, "open"> {
  /** As the rows have them, and what was claimed since. */
  readonly underWay: () => number;
  /** Counts one more as claimed, until the rows say so. */
  readonly claimed: () => void;
}

/** A budget whose payments under way are counted when it is asked. A class, since every verify makes four of them. */
export class OpenAccount implements Account {
  readonly budget: Budget;
  readonly burn: Burn;
  readonly limit: bigint;
  readonly mostOpen: number | null;
  /** One more that is claimed. */
  readonly claimed: () => void;
  readonly #underWay: () => number;
  readonly #entering: Map<string, number>;
  readonly #name: string;

  /** `entering` counts by `name`, for all who read that budget. */
  constructor(entering: Map<string, number>, name: string, facts: Facts) {
    this.budget = facts.budget;
    this.burn = facts.burn;
    this.limit = facts.limit;
    this.mostOpen = facts.mostOpen;
    this.claimed = facts.claimed;
    this.#underWay = facts.underWay;
    this.#entering = entering;
    this.#name = name;
  }

  get open(): number {
    return this.#underWay() + (this.#entering.get(this.#name) ?? 0);
  }

  /** One more, or one less, that is about to be claimed. */
  enter(by: number): void {
    const count = (this.#entering.get(this.#name) ?? 0) + by;
    if (count > 0) this.#entering.set(this.#name, count);
    else this.#entering.delete(this.#name);
  }
}
