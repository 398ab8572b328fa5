import { bigint, boolean, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { addressBytes, atomic, instant } from "#store";

/** What else than a payer burns gas. */
export const burnKinds = ["payable", "merchant", "chain"] as const;
export type BurnKind = (typeof burnKinds)[number];

const chainId = () => bigint("chain_id", { mode: "number" }).notNull();

/** Gas that a payer's payments burned on a chain within its present hour, and what became of them. */
export const payerGas = pgTable(
  "payer_gas",
  {
    payer: addressBytes("payer").notNull(),
    chainId: chainId(),
    /** When its hour began: with the first gas after the last one was over. */
    since: instant("since").notNull(),
    wei: atomic("wei").notNull(),
    /** The part of it that went into payments that our transaction did not make. */
    wastedWei: atomic("wasted_wei").notNull(),
    /** Payments that passed their last simulation, were mined and moved nothing, within the hour. */
    failures: integer("failures").notNull(),
    /** Ever. */
    hasPaid: boolean("has_paid").notNull(),
    /** After too many failures nothing is sent for it until then. */
    restUntil: instant("rest_until"),
  },
  (table) => [primaryKey({ columns: [table.payer, table.chainId] })],
);

/** The same of what is paid, of its merchant, and of the whole chain. */
export const gasBurn = pgTable(
  "gas_burn",
  {
    chainId: chainId(),
    kind: text("kind").$type<BurnKind>().notNull(),
    /** Id of the payable or merchant; empty for the chain. */
    subject: text("subject").notNull(),
    since: instant("since").notNull(),
    wei: atomic("wei").notNull(),
    wastedWei: atomic("wasted_wei").notNull(),
    /** Payments that shared it. */
    items: integer("items").notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.kind, table.subject] })],
);
