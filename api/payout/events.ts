import { and, inArray } from "drizzle-orm";
import type { Facilitator, OwnWallet } from "#facilitator";
import type { NewId } from "#kernel/id";
import { outbox, type Tx } from "#store";
import type { EventFamily } from "../http/event.ts";
import { presentPayout } from "./present.ts";
import { Payout } from "./schema.ts";
import { payout, payoutAddress } from "./tables.ts";
import type { Till } from "./verbs.ts";

type Teller = Pick<Till, "facilitator">;

/** What merchants are told of payouts. */
export function payoutEvents({ facilitator }: Teller): EventFamily {
  return {
    types: ["payout.created", "payout.succeeded", "payout.failed"],
    object: Payout,
    async present(db, facts) {
      const ids = [...new Set(facts.map(({ subject }) => subject))];
      const merchants = [...new Set(facts.map(({ merchantId }) => merchantId))];
      const rows = await db
        .select()
        .from(payout)
        .where(and(inArray(payout.merchantId, merchants), inArray(payout.id, ids)));
      const statuses = new Map((await facilitator.outgoing.status(ids)).map((status) => [status.id, status]));
      const found = new Map(rows.map((row) => [row.id, presentPayout(row, statuses.get(row.id))]));
      return facts.map(({ subject }) => found.get(subject) ?? null);
    },
  };
}

/** How a payout ended, by what the lanes tell of its money. Nothing follows any of these. */
const ends: Readonly<Record<string, string>> = {
  "outgoing.final": "payout.succeeded",
  "outgoing.expired": "payout.failed",
  "outgoing.cancelled": "payout.failed",
};

interface Hearing {
  readonly facilitator: Pick<Facilitator, "noteOwnWallets">;
  readonly newId: NewId;
}

/** Hears of the ends of money that leaves, and tells those of payouts; and of addresses that merchants named as theirs. */
export function payoutHearer({ facilitator, newId }: Hearing) {
  return async (tx: Tx, facts: readonly outbox.Fact[]): Promise<void> => {
    const told = facts.flatMap(({ type, subject, merchantId }): outbox.Fact[] => {
      const end = subject.startsWith("po_") ? ends[type] : undefined;
      const payload = { payoutId: subject, previous: { state: "processing" } };
      return end === undefined ? [] : [{ id: newId("evt"), type: end, subject, merchantId, payload }];
    });
    await outbox.append(tx, told);
    const added = facts.filter(({ type }) => type === "payout_address.added");
    if (added.length > 0) await facilitator.noteOwnWallets(tx, await walletsOf(tx, added));
  };
}

async function walletsOf(tx: Tx, facts: readonly outbox.Fact[]): Promise<readonly OwnWallet[]> {
  const ids = facts.map(({ subject }) => subject);
  const merchants = facts.map(({ merchantId }) => merchantId);
  const { merchantId, id, address } = payoutAddress;
  return tx
    .select({ merchantId, wallet: address })
    .from(payoutAddress)
    .where(and(inArray(merchantId, merchants), inArray(id, ids)))
    .orderBy(merchantId, id);
}
