import type { z } from "@hono/zod-openapi";
import type { Executor, outbox } from "#store";

/** What merchants are told of one kind of thing: a feature says it, `api/webhook` tells it. */
export interface EventFamily {
  /** Types of facts, by the names that merchants subscribe to. */
  readonly types: readonly string[];
  /** The thing as its endpoints answer it: `data.object` of an event. */
  readonly object: z.ZodType;
  /** What each fact is about, as it stands in this transaction; in the order of the facts, null for what is gone. */
  present(db: Executor, facts: readonly outbox.Fact[]): Promise<readonly (object | null)[]>;
}
