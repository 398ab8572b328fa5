import { and, eq, sql } from "drizzle-orm";
import { fixed, type outbox, type Tx, toArray } from "#store";
import { countPayments } from "../payable/popularity.ts";
import { payable } from "../payable/tables.ts";
import type { SettlementFact } from "./claim/claim.ts";
import { claim } from "./claim/tables.ts";

const counts: Readonly<Record<string, 1 | -1>> = {
  "settlement.credited": 1,
  "settlement.reversed": -1,
} satisfies Partial<Record<SettlementFact, 1 | -1>>;

/** Hears of payments and counts those of payables that can be paid many times, for the discovery indexes: nobody has
 *  to look through the claims to tell how often something was paid. Idempotent by fact id. */
export async function hearPayments(tx: Tx, facts: readonly outbox.Fact[]): Promise<void> {
  const told = facts.filter(({ type }) => counts[type] !== undefined);
  if (told.length === 0) return;
  const ids = [...new Set(told.map(({ subject }) => subject))];
  const paid = await tx
    .select({ id: claim.id, payableId: claim.payableId, payer: claim.payer })
    .from(claim)
    .innerJoin(payable, eq(payable.id, claim.payableId))
    .where(
      and(
        sql`${claim.id} = ANY(${toArray(ids, "text")})`,
        fixed(eq(claim.kind, "x402")),
        fixed(eq(payable.once, false)),
      ),
    );
  const byId = new Map<string, (typeof paid)[number]>(paid.map((row) => [row.id, row]));
  await countPayments(
    tx,
    told.flatMap(({ id: factId, type, subject }) => {
      const row = byId.get(subject);
      const by = counts[type];
      return row && by ? [{ factId, payableId: row.payableId, payer: row.payer, by }] : [];
    }),
  );
}
