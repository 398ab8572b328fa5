import { sql } from "drizzle-orm";
import type { PaymentView } from "#facilitator";
import type { outbox, Tx } from "#store";
import type { TellMerchants } from "../http/event.ts";
import { type Recorded, recordSales } from "./bulk.ts";
import type { ClearingDesk } from "./desk.ts";
import { openForAgents } from "./unasked.ts";

const OUTGOING = /^outgoing\.(?:final|expired|cancelled|failed)$/;

/** Facts are hints: a clearing that one is about is looked at soon, by whoever has a hand free. An agent's payment that has
 *  no clearing yet gets one: of an intent it is begun, of resources all that are told at once are written down. */
export function clearingHearer(desk: ClearingDesk, tell: TellMerchants) {
  return async (tx: Tx, facts: readonly outbox.ToldFact[]): Promise<void> => {
    const settlements = facts.filter(({ type }) => type.startsWith("settlement."));
    const ofIntents = settlements.filter((fact) => payableOf(fact).startsWith("pi_"));
    const others = settlements.filter(
      (fact) => !payableOf(fact).startsWith("pi_") && fact.type !== "settlement.claimed",
    );
    // First: it waits for whoever confirms an intent, whose clearing is there to be woken only then.
    await openForAgents(tx, desk, ofIntents);
    await wake(tx, desk.now(), {
      clearings: facts.filter(({ type }) => type === "deposit.changed").map(named),
      returns: facts.filter(({ type }) => OUTGOING.test(type)).map(named),
      settlements: [...ofIntents, ...others].map(named),
      intents: ofIntents.map((fact) => ({ merchantId: fact.merchantId, id: payableOf(fact) })),
    });
    const sales = others.filter((fact) => payableOf(fact).startsWith("x402r_"));
    await recordSales(tx, desk, sales, describe, tell);
  };
}

async function describe(_tx: Tx, payments: readonly PaymentView[]): Promise<readonly Recorded[]> {
  return payments.map((payment) => ({
    payment,
    source: "x402" as const,
    currency: null,
    metadata: { resourceId: payment.payableId },
    merchantReference: null,
  }));
}

interface Named {
  readonly merchantId: string;
  readonly id: string;
}
const named = ({ merchantId, subject }: outbox.Fact): Named => ({ merchantId, id: subject });

/** What an agent paid for. */
export function payableOf({ payload }: outbox.Fact): string {
  return typeof payload.payableId === "string" ? payload.payableId : "";
}

interface About {
  readonly clearings: readonly Named[];
  readonly returns: readonly Named[];
  readonly settlements: readonly Named[];
  readonly intents: readonly Named[];
}

/** Makes clearings due. In the order of their ids: two that wake the same ones must not wait for each other. */
async function wake(tx: Tx, now: Date, { clearings, returns, settlements, intents }: About): Promise<void> {
  if (clearings.length + returns.length + settlements.length + intents.length === 0) return;
  await tx.execute(sql`
    WITH named AS (
      SELECT clearing.merchant_id, clearing.id FROM clearing JOIN ${list(clearings)}
        ON clearing.merchant_id = about.merchant_id AND clearing.id = about.id
      UNION SELECT clearing.merchant_id, clearing.id FROM clearing JOIN ${list(intents)}
        ON clearing.merchant_id = about.merchant_id AND clearing.intent_id = about.id
      UNION SELECT clearing.merchant_id, clearing.id FROM clearing JOIN ${list(settlements)}
        ON clearing.merchant_id = about.merchant_id AND clearing.provider_reference = about.id
          AND clearing.execution_path = 'x402'
      UNION SELECT clearing_return.merchant_id, clearing_return.clearing_id FROM clearing_return JOIN ${list(returns)}
        ON clearing_return.merchant_id = about.merchant_id AND clearing_return.id = about.id
    ), locked AS (
      SELECT clearing.merchant_id, clearing.id FROM clearing JOIN named USING (merchant_id, id)
      ORDER BY clearing.merchant_id, clearing.id FOR UPDATE OF clearing
    )
    UPDATE clearing SET due_at = ${now.toISOString()} FROM locked
    WHERE clearing.merchant_id = locked.merchant_id AND clearing.id = locked.id`);
}

function list(about: readonly Named[]) {
  const merchants = sql.param(about.map(({ merchantId }) => merchantId));
  return sql`unnest(${merchants}::text[], ${sql.param(about.map(({ id }) => id))}::text[]) AS about(merchant_id, id)`;
}
