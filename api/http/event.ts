import type { z } from "@hono/zod-openapi";
import type { Executor, outbox, Tx } from "#store";

/** What merchants are told of one kind of thing: a feature says it, `api/webhook` tells it. */
export interface EventFamily {
  /** Types of facts, by the names that merchants subscribe to. */
  readonly types: readonly string[];
  /** The thing as its endpoints answer it: `data.object` of an event. */
  readonly object: z.ZodType;
  /** What each fact is about, as it stands in this transaction; in the order of the facts, null for what is gone. */
  present(db: Executor, facts: readonly outbox.Fact[]): Promise<readonly (object | null)[]>;
}

/** A fact that merchants are told of, with what it is about. */
export interface Telling {
  readonly fact: outbox.ToldFact;
  readonly object: object;
}
/** Has merchants told, in the transaction that made it true. For what nobody in the house follows: it needs no way through
 *  the outbox. */
export type TellMerchants = (tx: Tx, tellings: readonly Telling[]) => Promise<void>;
