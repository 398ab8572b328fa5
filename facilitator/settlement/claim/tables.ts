import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  index,
  integer,
  type PgColumn,
  pgTable,
  primaryKey,
  text,
} from "drizzle-orm/pg-core";
import { addressBytes, atomic, hashBytes, height, hexBytes, instant, oneOf } from "#store";
import type { Reason } from "../../scheme/reasons.ts";
import {
  type ClaimKind,
  type ClaimState,
  type CreditState,
  claimKinds,
  claimStates,
  creditStates,
} from "./state.ts";

/** As `claimKey` packs it: the chain's number is 32 bytes wide, of which PostgreSQL has eight. */
const keyOf = (part: Record<"chainId" | "nonceDomain" | "payer" | "nonce", PgColumn>) =>
  sql`sha256('farebox/claim/v1'::bytea || ${sql.raw(`'\\x${"00".repeat(24)}'::bytea`)} || int8send(${part.chainId}) || ${part.nonceDomain} || ${part.payer} || ${part.nonce})`;

/** One authorization, bound for ever to what it pays. Never deleted: the replay guard. */
export const claim = pgTable(
  "claim",
  {
    claimKey: hashBytes("claim_key").primaryKey(),
    id: text("id").$type<`stl_${string}`>().notNull().unique(),
    kind: text("kind").$type<ClaimKind>().notNull(),
    merchantId: text("merchant_id").notNull(),
    /** What it pays: a payable, or the payout it carries out. */
    payableId: text("payable_id").notNull(),
    chainId: height("chain_id").notNull(),
    method: text("method").$type<"eip3009">().notNull(),
    nonceDomain: addressBytes("nonce_domain").notNull(),
    payer: addressBytes("payer").notNull(),
    nonce: hashBytes("nonce").notNull(),
    token: addressBytes("token").notNull(),
    payTo: addressBytes("pay_to").notNull(),
    amount: atomic("amount").notNull(),
    fee: atomic("fee").notNull(),
    validAfter: atomic("valid_after").notNull(),
    validBefore: atomic("valid_before").notNull(),
    signature: hexBytes("signature").notNull(),
    /** Contract wallets are sent alone, through the `bytes` form, under a gas cap. */
    payerHasCode: boolean("payer_has_code").notNull(),
    fingerprint: hashBytes("fingerprint").notNull(),
    state: text("state").$type<ClaimState>().notNull(),
    reason: text("reason").$type<Reason>(),
    message: text("message"),
    attempts: integer("attempts").notNull().default(0),
    /** The slot that carries it, or the last one that did. */
    slotId: text("slot_id"),
    /** The dispatcher's reservation; a guard against useless work, not against double sending. */
    takenUntil: instant("taken_until"),
    creditEpoch: integer("credit_epoch").notNull().default(0),
    creditState: text("credit_state").$type<CreditState>().notNull().default("none"),
    includedBlock: height("included_block"),
    includedHash: hashBytes("included_hash"),
    includedTx: hashBytes("included_tx"),
    includedLog: integer("included_log"),
    includedAt: instant("included_at"),
    settledBy: text("settled_by").$type<"farebox" | "third-party">(),
    /** Height at which the nonce was seen used without paying us, or cancelled: terminal once it is final. */
    spentBlock: height("spent_block"),
    spentHash: hashBytes("spent_hash"),
    /** A once-payable holds exactly one claim; released when the claim ends unpaid. */
    holdsPayable: boolean("holds_payable").notNull().default(false),
    grantedTo: text("success_granted_to"),
    grantedAt: instant("success_granted_at"),
    version: integer("version").notNull().default(1),
    createdAt: instant("created_at").notNull().defaultNow(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  (table) => [
    index("claim_queue").on(table.chainId, table.createdAt).where(sql`${table.state} = 'claimed'`),
    index("claim_open_payer")
      .on(table.chainId, table.token, table.payer)
      .where(sql`${table.state} IN ('claimed','submitting')`),
    index("claim_included").on(table.chainId, table.includedBlock).where(sql`${table.state} = 'included'`),
    index("claim_payable").on(table.payableId).where(sql`${table.holdsPayable}`),
    // What was paid for one thing, newest first.
    index("claim_sold").on(table.payableId, table.createdAt).where(sql`${table.creditState} <> 'none'`),
    index("claim_unpaid")
      .on(table.chainId, table.validBefore)
      .where(sql`${table.state} IN ('claimed','submitting','failed-watch','review')`),
    // So that an authorization has one key, and the primary key alone forbids a second claim on it.
    check("claim_key_of_authorization", sql`${table.claimKey} = ${keyOf(table)}`),
    check("claim_amount", sql`${table.amount} > 0 AND ${table.fee} >= 0 AND ${table.fee} <= ${table.amount}`),
    check("claim_kind", oneOf(sql`${table.kind}`, claimKinds)),
    check("claim_state", oneOf(sql`${table.state}`, claimStates)),
    check("claim_credit_state", oneOf(sql`${table.creditState}`, creditStates)),
    check(
      "claim_credit_place",
      sql`(${table.creditState} = 'none') = (${table.includedBlock} IS NULL) AND (${table.creditState} = 'none') = (${table.state} NOT IN ('included','final'))`,
    ),
  ],
);

/** Timeline of a claim, append-only. */
export const claimEvent = pgTable(
  "claim_event",
  {
    claimId: text("claim_id").$type<`stl_${string}`>().notNull(),
    version: integer("version").notNull(),
    state: text("state").$type<ClaimState>().notNull(),
    from: text("from").$type<ClaimState>(),
    cause: text("cause").notNull(),
    occurredAt: instant("occurred_at").notNull().defaultNow(),
  },
  // By its id, which begins with the time: what is written lies where the last was written.
  (table) => [primaryKey({ columns: [table.claimId, table.version] })],
);
