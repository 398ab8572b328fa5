import { inArray } from "drizzle-orm";
import { z } from "zod";
import type { outbox, Tx } from "#store";
import { merchant } from "../../merchant/tables.ts";
import type { Draft } from "../message.ts";
import type { Source } from "./source.ts";

const Change = z.object({
  changedAt: z.iso.datetime(),
  previous: z.object({ contactEmail: z.string() }),
});

export const merchantChanges: Source = async (tx, facts) => [
  ...contactChanges(facts),
  ...(await suspensions(tx, facts)),
];

/** To the address that was given up: who took a key over must not be able to silence the notices. */
const contactChanges = (facts: readonly outbox.Fact[]): readonly Draft[] =>
  facts.flatMap(({ id, merchantId, payload }) => {
    const change = Change.safeParse(payload);
    if (!change.success) return [];
    const { changedAt, previous } = change.data;
    return [
      {
        merchantId,
        cause: id,
        to: previous.contactEmail,
        template: "contact-changed" as const,
        data: { changedAt },
      },
    ];
  });

/** That the operator has suspended it, or lets it sell again: as it stands now. */
async function suspensions(tx: Tx, facts: readonly outbox.Fact[]): Promise<readonly Draft[]> {
  const told = facts.filter(
    ({ payload: { changed } }) => Array.isArray(changed) && changed.includes("suspendedAt"),
  );
  if (told.length === 0) return [];
  const ids = told.map(({ merchantId }) => merchantId);
  const rows = new Map(
    (await tx.select().from(merchant).where(inArray(merchant.id, ids))).map((row) => [row.id, row]),
  );
  return told.flatMap(({ id: cause, merchantId }): Draft[] => {
    const { contactEmail: to = null, suspendedAt, suspensionReason, updatedAt } = rows.get(merchantId) ?? {};
    if (to === null) return [];
    const draft = { merchantId, cause, to };
    if (suspendedAt && suspensionReason)
      return [
        {
          ...draft,
          template: "merchant-suspended",
          data: { suspendedAt: suspendedAt.toISOString(), reason: suspensionReason },
        },
      ];
    return updatedAt
      ? [{ ...draft, template: "merchant-resumed", data: { resumedAt: updatedAt.toISOString() } }]
      : [];
  });
}
