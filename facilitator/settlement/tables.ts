import { type SQL, sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  type PgColumn,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import type { ReturnSource } from "#ledger";
import { addressBytes, atomic, hashBytes, hexBytes, instant } from "#store";
import type { Reason } from "../scheme/reasons.ts";
import {
  type ClaimKind,
  type ClaimState,
  type CreditState,
  claimKinds,
  claimStates,
  creditStates,
  type OutgoingKind,
  outgoingKinds,
} from "./claim/state.ts";

/** Where money of ours lies on a chain. */
export type MoneyPlace = "treasury" | "deposits";

const height = (name: string) => bigint(name, { mode: "number" });
const oneOf = (column: SQL, values: readonly string[]) =>
  sql`${column} IN (${sql.raw(values.map((value) => `'${value}'`).join(","))})`;

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

/** A lane: one gas key on one chain, held by one process at a time. */
export const signer = pgTable(
  "signer",
  {
    chainId: height("chain_id").notNull(),
    address: addressBytes("address").notNull(),
    nextNonce: integer("next_nonce").notNull(),
    leaseHolder: text("lease_holder"),
    fence: height("fence").notNull().default(0),
    leaseUntil: instant("lease_until"),
    state: text("state").$type<"active" | "quarantined">().notNull().default("active"),
    /** Its coins when they were last read, wei. */
    gasWei: atomic("gas_wei"),
    /** Since when they are too few: the lane takes no new batches. */
    lowSince: instant("low_since"),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.address] })],
);

/** One nonce of one signer: used for one thing, ever. Open until that nonce is consumed in a final block. */
export const slot = pgTable(
  "slot",
  {
    id: text("id").primaryKey(),
    chainId: height("chain_id").notNull(),
    signer: addressBytes("signer").notNull(),
    nonce: integer("nonce").notNull(),
    open: boolean("open").notNull().default(true),
    sentAtBlock: height("sent_at_block").notNull(),
    minedBlock: height("mined_block"),
    minedHash: hashBytes("mined_hash"),
    minedTx: hashBytes("mined_tx"),
    /** Whether what the transaction did not pay was looked into. */
    sorted: boolean("sorted").notNull().default(false),
    gasWei: atomic("gas_wei"),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    unique("slot_nonce").on(table.chainId, table.signer, table.nonce),
    index("slot_open").on(table.chainId, table.signer, table.nonce).where(sql`${table.open}`),
  ],
);

export const slotItem = pgTable(
  "slot_item",
  {
    slotId: text("slot_id")
      .notNull()
      .references(() => slot.id),
    claimKey: hashBytes("claim_key")
      .notNull()
      .references(() => claim.claimKey),
    idx: integer("idx").notNull(),
    open: boolean("open").notNull().default(true),
  },
  (table) => [
    primaryKey({ columns: [table.slotId, table.idx] }),
    uniqueIndex("slot_item_open").on(table.claimKey).where(sql`${table.open}`),
  ],
);

/** Signed bytes, committed before they are first sent. All raws of a nonce are kept: any of them may land. */
export const attempt = pgTable(
  "attempt",
  {
    slotId: text("slot_id")
      .notNull()
      .references(() => slot.id),
    seq: integer("seq").notNull(),
    txHash: hashBytes("tx_hash").notNull().unique(),
    raw: hexBytes("raw").notNull(),
    maxFee: atomic("max_fee").notNull(),
    tip: atomic("tip").notNull(),
    gasLimit: atomic("gas_limit").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.slotId, table.seq] })],
);

/** Who follows a chain, and how far. */
export const observer = pgTable("observer", {
  chainId: height("chain_id").primaryKey(),
  startBlock: height("start_block").notNull(),
  cursorNumber: height("cursor_number").notNull(),
  cursorHash: hashBytes("cursor_hash").notNull(),
  finalizedNumber: height("finalized_number").notNull(),
  leaseHolder: text("lease_holder"),
  fence: height("fence").notNull().default(0),
  leaseUntil: instant("lease_until"),
  /** When the chain was last followed to its head; a network that cannot be followed is not offered. */
  followedAt: instant("followed_at"),
  /** Set when a finalized block was reorganised: crediting stops until a person decides. */
  haltedReason: text("halted_reason"),
});

/** To which address of a chain the deployment's money goes, told by the first start on it. */
export const chainTreasury = pgTable("chain_treasury", {
  chainId: height("chain_id").primaryKey(),
  address: addressBytes("address").notNull(),
});

/** By which name the books know a chain, told by the first start on it, for ever: assets are named by it (USDC@base). */
export const chainSlug = pgTable("chain_slug", {
  chainId: height("chain_id").primaryKey(),
  slug: text("slug").notNull().unique(),
});

/** A token whose transfers are recorded in the blocks after `sinceBlock`; never deleted, also when it leaves the list. */
export const followedToken = pgTable(
  "followed_token",
  {
    chainId: height("chain_id").notNull(),
    token: addressBytes("token").notNull(),
    sinceBlock: height("since_block").notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.token] })],
);

export const chainBlock = pgTable(
  "chain_block",
  {
    chainId: height("chain_id").notNull(),
    number: height("number").notNull(),
    hash: hashBytes("hash").notNull(),
    parent: hashBytes("parent").notNull(),
    timestamp: height("timestamp").notNull(),
    canonical: boolean("canonical").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.hash] }),
    uniqueIndex("chain_block_canonical").on(table.chainId, table.number).where(sql`${table.canonical}`),
  ],
);

/** What a transfer was booked as. `deposit` lies on an order's own address and is swept; `routed` is in the treasury. */
type ClaimedKind = ClaimKind | "unmatched" | "deposit" | "routed" | "booked";

/** Every Transfer in or out of our addresses, as observed. One log pays one thing. */
export const chainTransfer = pgTable(
  "chain_transfer",
  {
    chainId: height("chain_id").notNull(),
    blockNumber: height("block_number").notNull(),
    blockHash: hashBytes("block_hash").notNull(),
    txHash: hashBytes("tx_hash").notNull(),
    logIndex: integer("log_index").notNull(),
    token: addressBytes("token").notNull(),
    sender: addressBytes("sender").notNull(),
    recipient: addressBytes("recipient").notNull(),
    amount: atomic("amount").notNull(),
    blockTime: instant("block_time").notNull(),
    canonical: boolean("canonical").notNull(),
    /** Claim key of the authorization whose use stands right before this transfer in its transaction. */
    authorizationKey: hashBytes("authorization_key"),
    /** Rank among the transfers of its transaction to its recipient: names it where its place in a block cannot. */
    ordinal: integer("ordinal").notNull().default(0),
    /** What a payment through our router says it is for. */
    paymentRef: hashBytes("payment_ref"),
    /** The order it reached, by its address or its reference. Who asked for it books it, never we. */
    orderId: text("order_id"),
    /** What the claim of its authorization, or whoever else booked it, made of it; null while nobody did. */
    claimedKind: text("claimed_kind").$type<ClaimedKind>(),
    /** Claim key of the sweep that takes it into the treasury. */
    sweptBy: hashBytes("swept_by"),
    /** Its unmatched booking was posted for good. */
    bookedFinal: boolean("booked_final").notNull().default(false),
    /** How often it was booked, as unmatched or for an order: a block may leave the chain and come back. */
    bookings: integer("bookings").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.blockHash, table.logIndex] }),
    uniqueIndex("chain_transfer_log")
      .on(table.chainId, table.txHash, table.logIndex)
      .where(sql`${table.canonical}`),
    // One log pays one claim: of an authorization's logs, one is claimed; those that are not do not meet, being null.
    uniqueIndex("chain_transfer_authorization")
      .on(
        table.authorizationKey,
        sql`(CASE WHEN ${oneOf(sql`${table.claimedKind}`, claimKinds)} THEN true END)`,
      )
      .where(sql`${table.canonical}`),
    // Small at all times: what nobody has looked at yet, and what is booked and not final.
    index("chain_transfer_unbooked")
      .on(table.chainId, table.blockNumber)
      .where(sql`${table.canonical} AND ${table.claimedKind} IS NULL`),
    index("chain_transfer_unmatched")
      .on(table.chainId, table.blockNumber)
      .where(sql`${table.canonical} AND ${table.claimedKind} = 'unmatched' AND NOT ${table.bookedFinal}`),
    // Authorizations that were used before anybody claimed them: few, and they may stay for ever.
    index("chain_transfer_unclaimed")
      .on(table.authorizationKey)
      .where(
        sql`${table.canonical} AND ${table.claimedKind} = 'unmatched' AND ${table.authorizationKey} IS NOT NULL`,
      ),
    index("chain_transfer_order").on(table.orderId).where(sql`${table.orderId} IS NOT NULL`),
    index("chain_transfer_unswept")
      .on(table.chainId, table.blockNumber)
      .where(sql`${table.canonical} AND ${table.claimedKind} = 'deposit' AND ${table.sweptBy} IS NULL`),
    index("chain_transfer_swept").on(table.sweptBy).where(sql`${table.sweptBy} IS NOT NULL`),
  ],
);

/** What an operator said of a transfer out that nothing of ours explains. */
export const outflowBooking = pgTable(
  "outflow_booking",
  {
    chainId: height("chain_id").notNull(),
    blockHash: hashBytes("block_hash").notNull(),
    logIndex: integer("log_index").notNull(),
    /** Whose money it was; ours where it is null. */
    merchantId: text("merchant_id"),
    reason: text("reason").notNull(),
    bookedAt: instant("booked_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.blockHash, table.logIndex] })],
);

/** What a caller with an id was told, byte for byte. `body` is null while the first call is under way. */
export const settleAnswer = pgTable(
  "settle_answer",
  {
    scope: text("scope").notNull(),
    id: text("id").notNull(),
    payloadHash: hashBytes("payload_hash").notNull(),
    claimKey: hashBytes("claim_key").notNull(),
    body: jsonb("body"),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.scope, table.id] }),
    index("settle_answer_claim").on(table.claimKey),
  ],
);

/** Money that we owe outward: decided and reserved in the books, sent by the lanes. */
export const outgoing = pgTable(
  "outgoing",
  {
    /** Of the payout, refund or return it carries out. */
    id: text("id").primaryKey(),
    kind: text("kind").$type<OutgoingKind>().notNull(),
    merchantId: text("merchant_id").notNull(),
    chainId: height("chain_id").notNull(),
    token: addressBytes("token").notNull(),
    recipient: addressBytes("recipient").notNull(),
    amount: atomic("amount").notNull(),
    /** Of a refund: the part that we give back of our fee. */
    feeShare: atomic("fee_share").notNull().default(sql`0`),
    /** Of a return: where the money lay, and the clearing it is about. */
    source: text("source").$type<ReturnSource>(),
    subject: text("subject"),
    /** Set when the treasury has signed; from then on it cannot be cancelled. */
    claimKey: hashBytes("claim_key").references(() => claim.claimKey),
    signedAt: instant("signed_at"),
    /** Fixed when it is queued, by what its chain's operator wants to approve. */
    needsApproval: boolean("needs_approval").notNull().default(false),
    approvedAt: instant("approved_at"),
    cancelledAt: instant("cancelled_at"),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    // What left lately, for a limit on it.
    index("outgoing_signed")
      .on(table.chainId, table.token, table.signedAt)
      .where(sql`${table.signedAt} IS NOT NULL`),
    index("outgoing_waiting")
      .on(table.chainId, table.createdAt)
      .where(sql`${table.claimKey} IS NULL AND ${table.cancelledAt} IS NULL`),
    check(
      "outgoing_amount",
      sql`${table.amount} > 0 AND ${table.feeShare} >= 0 AND ${table.feeShare} <= ${table.amount}`,
    ),
    check("outgoing_kind", oneOf(sql`${table.kind}`, outgoingKinds)),
    check("outgoing_refund", sql`${table.feeShare} = 0 OR ${table.kind} = 'refund'`),
    check(
      "outgoing_return",
      sql`(${table.kind} = 'return') = (${table.source} IS NOT NULL AND ${table.subject} IS NOT NULL)`,
    ),
  ],
);

/** Reports of books against chain, one row per run, token and place. */
export const reconciliation = pgTable(
  "reconciliation",
  {
    id: bigint("id", { mode: "number" }).generatedAlwaysAsIdentity().primaryKey(),
    chainId: height("chain_id").notNull(),
    asset: text("asset").notNull(),
    place: text("place").$type<MoneyPlace>().notNull().default("treasury"),
    blockNumber: height("block_number").notNull(),
    status: text("status").$type<"equal" | "different" | "not-checked">().notNull(),
    ledger: atomic("ledger").notNull(),
    /** Arrived for an order and not booked yet by who asked for it: part of what must be there. */
    waiting: atomic("waiting").notNull().default(sql`0`),
    onChain: atomic("on_chain"),
    unexplained: integer("unexplained").notNull(),
    at: instant("at").notNull().defaultNow(),
  },
  (table) => [index("reconciliation_latest").on(table.chainId, table.asset, table.place, table.id)],
);
