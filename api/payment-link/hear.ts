import { and, eq, inArray, isNotNull, or, sql } from "drizzle-orm";
import type { PaymentView } from "#facilitator";
import { assert } from "#kernel/fault";
import type { outbox, Tx } from "#store";
import { type ClearingDesk, payableOf, type Recorded, recordPayments } from "../clearing/verbs/record.ts";
import type { LinkRow } from "./present.ts";
import { paymentLink } from "./tables.ts";
import { type Publishing, publishLink } from "./verbs/publish.ts";
import { lockLinks } from "./verbs/standing.ts";

type HearingDesk = ClearingDesk & Publishing;

/** What links want to know: agents' payments of them become payments of their merchant, and what agents may pay follows
 *  from how often a link was paid and what its products cost. */
export function linkHearer(desk: HearingDesk) {
  return async (tx: Tx, facts: readonly outbox.Fact[]): Promise<void> => {
    const byAgents = facts.filter(
      (fact) => /^settlement\.(?!claimed$|final$)/.test(fact.type) && payableOf(fact).startsWith("plink_"),
    );
    if (byAgents.length > 0) await recordPayments(tx, desk, byAgents, describe);
    await republishPaid(tx, desk, {
      byAgents,
      told: facts.filter(({ type }) => type.startsWith("payment.")),
    });
    await republishPriced(
      tx,
      desk,
      facts.filter(({ type }) => type === "product.updated"),
    );
  };
}

async function describe(tx: Tx, payments: readonly PaymentView[]): Promise<readonly Recorded[]> {
  const rows = await tx
    .select()
    .from(paymentLink)
    .where(
      and(
        inArray(paymentLink.merchantId, distinct(payments.map(({ merchantId }) => merchantId))),
        inArray(paymentLink.id, distinct(payments.map(({ payableId }) => payableId)) as LinkRow["id"][]),
      ),
    );
  const links = new Map<string, LinkRow>(rows.map((row) => [row.id, row]));
  return payments.map((payment) => {
    const link = links.get(payment.payableId);
    assert(link, `${payment.payableId} is a link`);
    return {
      payment,
      source: "payment-link" as const,
      currency: link.currency,
      metadata: { ...link.metadata, paymentLinkId: link.id },
      merchantReference: link.merchantReference,
      seller: link,
    };
  });
}

/** Only a link that is bounded in number changes with its payments. */
async function republishPaid(
  tx: Tx,
  desk: HearingDesk,
  heard: { readonly byAgents: readonly outbox.Fact[]; readonly told: readonly outbox.Fact[] },
): Promise<void> {
  const { byAgents, told } = heard;
  if (byAgents.length + told.length === 0) return;
  const intents = distinct(
    told.map(({ payload }) => (typeof payload.paymentIntentId === "string" ? payload.paymentIntentId : "")),
  );
  const merchants = distinct([...byAgents, ...told].map(({ merchantId }) => merchantId));
  const ofIntents = sql`(SELECT metadata->>'paymentLinkId' FROM payment_intent
    WHERE merchant_id = ANY(${sql.param(merchants)}) AND id = ANY(${sql.param(intents)}) AND source = 'payment-link')`;
  const paid = distinct(byAgents.map(payableOf));
  const now = desk.now();
  const standings = await lockLinks(
    tx,
    now,
    and(
      inArray(paymentLink.merchantId, merchants),
      isNotNull(paymentLink.maxPayments),
      or(sql`${paymentLink.id} = ANY(${sql.param(paid)})`, sql`${paymentLink.id} IN ${ofIntents}`),
    ),
  );
  for (const standing of standings) await publishLink(desk, tx, standing, now);
}

async function republishPriced(tx: Tx, desk: HearingDesk, facts: readonly outbox.Fact[]): Promise<void> {
  const now = desk.now();
  for (const { merchantId, subject } of facts) {
    const holds = sql`${paymentLink.lines} @> ${JSON.stringify([{ productId: subject }])}::jsonb`;
    const where = and(eq(paymentLink.merchantId, merchantId), sql`${paymentLink.kind} = 'cart'`, holds);
    for (const standing of await lockLinks(tx, now, where)) await publishLink(desk, tx, standing, now);
  }
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}
