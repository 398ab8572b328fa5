import type { Column } from "drizzle-orm";
import { type SQL, sql } from "drizzle-orm";
import { type outbox, type Tx, toArray } from "#store";
import type { Draft } from "../message.ts";
import type { MailDesk } from "../verbs/desk.ts";

/** Finds out what mail facts of one type call for: with one statement for all of them, because some come by the hundred
 *  and hardly any has a reader. */
export type Source = (
  tx: Tx,
  facts: readonly outbox.Fact[],
  place: Pick<MailDesk, "baseUrl" | "explorerUrl">,
) => Promise<readonly Draft[]>;

/** Rows whose key is one of these. */
export function isOneOf(
  merchantId: Column,
  id: Column,
  named: readonly { readonly merchantId: string; readonly id: string }[],
): SQL {
  const merchants = toArray(
    named.map((each) => each.merchantId),
    "text",
  );
  const ids = toArray(
    named.map((each) => each.id),
    "text",
  );
  return sql`(${merchantId}, ${id}) IN (SELECT * FROM unnest(${merchants}, ${ids}))`;
}

export const aboutSubjects = (facts: readonly outbox.Fact[]) =>
  facts.map(({ merchantId, subject }) => ({ merchantId, id: subject }));
