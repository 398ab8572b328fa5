import type { outbox } from "#store";

/** Work that a feature wants done apart from any request: when it hears of a fact, or at its hours. Told twice, done
 *  once: whoever runs it keeps that. Throwing means "again later". */
export interface Job {
  /** kebab-case; the task's name in the queue. */
  readonly name: string;
  /** Types of facts that call for it, one run each. */
  readonly hears?: readonly string[];
  /** A crontab's five fields. */
  readonly at?: string;
  /** How often it is tried before it is left lying in sight. */
  readonly attempts: number;
  /** `fact` is null for a run by the clock. `stopping` aborts when the process wants to end. */
  run(input: { readonly fact: outbox.Fact | null; readonly stopping: AbortSignal }): Promise<void>;
}
