import { and, asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Address, Hash } from "#kernel/bytes";
import { coalesce } from "#kernel/coalesce";
import { templates } from "#ledger";
import { decodeRows, type Executor, insertMany, isAnyOf, outbox, type Tx, toBytesArray } from "#store";
import { payable } from "../../payable/tables.ts";
import type { ClaimsMade } from "../budget/made.ts";
import { newPayer, type PayerStanding } from "../budget/policy.ts";
import { payerOnChain, readPayers } from "../budget/standing.ts";
import type { Engine } from "../engine.ts";
import { type AnswerId, leavePlaces, takePlaces } from "../settle/places.ts";
import { type MovedClaim, movedColumns, type ToldClaim, toldColumns } from "./claim-parts.ts";
import { type ClaimState, leadingTo } from "./state.ts";
import { claim } from "./tables.ts";

export type Claim = typeof claim.$inferSelect;
export type NewClaim = typeof claim.$inferInsert;

export interface ClaimLookup {
  readonly claimKey: Hash;
  readonly chainId: number;
  readonly token: Address;
  readonly payer: Address;
}
export interface KnownClaim {
  readonly claim: ToldClaim | null;
  /** How the payer stands with its gas budget on this chain. */
  readonly payer: PayerStanding;
  /** How many claims of the payer this process had made before the rows were read. */
  readonly madeBefore: number;
  /** Atomic units the payer's other open claims on this token will take. */
  readonly openAmount: bigint;
}

/** One indexed read for many callers: the claim of an authorization, what its payer already has in flight, and how it
 *  stands. Most authorizations are new: claims are a second read, where there are any. */
export function claimReader(db: Executor, made: ClaimsMade): (lookup: ClaimLookup) => Promise<KnownClaim> {
  return coalesce({ maxInFlight: 1, maxItems: 200 }, async (lookups: readonly ClaimLookup[]) => {
    const before = lookups.map(({ chainId, payer }) => made.count(payerOnChain(chainId, payer)));
    const { payers, claimed } = await readPayers(db, lookups);
    const claims = claimed.length > 0 ? await findToldClaims(db, claimed) : [];
    const byKey = new Map(claims.map((row) => [row.claimKey, row]));
    return lookups.map(({ claimKey, chainId, token, payer }, i) => {
      const known = payers.get(payerOnChain(chainId, payer));
      return {
        claim: byKey.get(claimKey) ?? null,
        payer: known?.standing ?? newPayer,
        madeBefore: before[i] ?? 0,
        openAmount: known?.openAmounts.get(token) ?? 0n,
      };
    });
  });
}

export interface ClaimRequest {
  readonly row: NewClaim;
  /** A once-payable is held for this claim, or the claim is not made. */
  readonly once: boolean;
  /** The one that is held, where it is another than the one that is paid. */
  readonly heldAs: string | null;
  readonly answerIds: readonly AnswerId[];
}
export type ClaimOutcome = "claimed" | "exists" | "held-by-another" | "id-reused";

/** Commits claims (settlement.md S3), many callers in one transaction: claim, timeline, fact, held payable and the
 *  places of the answers to come. Faults: `commit_unknown`, `database_unavailable`. */
export function claimWriter(engine: Engine): (request: ClaimRequest) => Promise<ClaimOutcome> {
  return coalesce({ maxInFlight: 2, maxItems: 100 }, async (requests: readonly ClaimRequest[]) => {
    const started = engine.clock.monotonicMs();
    const outcomes = requests.every(isClaimAlone)
      ? await insertAlone(engine, requests)
      : await engine.db.tx(async (tx) => {
          const found = await insertClaims(engine, tx, requests);
          await engine.checkpoint("before-claim");
          return found;
        });
    await engine.checkpoint("claimed");
    engine.meter.time("claim", (engine.clock.monotonicMs() - started) / 1000);
    return outcomes;
  });
}

/** Most payments hold nothing and are asked about under no id: their claims are one statement, and no transaction
 *  around it. */
const isClaimAlone = ({ row, once, answerIds }: ClaimRequest) =>
  row.kind === "x402" && !once && !row.holdsPayable && answerIds.length === 0;

async function insertAlone(
  engine: Engine,
  requests: readonly ClaimRequest[],
): Promise<readonly ClaimOutcome[]> {
  const first = firstOfEach(requests);
  await engine.checkpoint("before-claim");
  const { rows } = await engine.db.write(inserting(first.map(({ row }) => row)));
  const isNew = new Set(rows.map((row) => row.claim_key as Hash));
  const made = new Set(first.filter(({ row }) => isNew.has(row.claimKey)));
  return requests.map((request) => (made.has(request) ? "claimed" : "exists"));
}

async function insertClaims(
  engine: Engine,
  tx: Tx,
  requests: readonly ClaimRequest[],
): Promise<readonly ClaimOutcome[]> {
  const places = await takePlaces(tx, requests);
  const openWays = await lockWays(tx, requests);
  const outcomes = new Map<ClaimRequest, ClaimOutcome>();
  const free: ClaimRequest[] = [];
  // In the order of what is held: two groups with the same things must not wait for each other.
  for (const request of [...requests].sort((a, b) => (heldIn(a) < heldIn(b) ? -1 : 1))) {
    if (places.refused.has(request)) outcomes.set(request, "id-reused");
    else if (!request.once || (await hold(tx, request, openWays))) free.push(request);
    else outcomes.set(request, "held-by-another");
  }
  const first = firstOfEach(free);
  const inserted = await insertRows(
    engine,
    tx,
    first.map(({ row }) => row),
  );
  const made = new Set(first.filter(({ row }) => inserted.has(row.claimKey)));
  for (const request of free) outcomes.set(request, made.has(request) ? "claimed" : "exists");
  await releaseForeignHolds(tx, free);
  await leavePlaces(tx, places.taken, inserted);
  return requests.map((request) => outcomes.get(request) ?? "exists");
}

const heldIn = ({ row, heldAs }: ClaimRequest) => heldAs ?? row.payableId;

/** One request per authorization, in the order of their keys. */
function firstOfEach(requests: readonly ClaimRequest[]): readonly ClaimRequest[] {
  const byKey = new Map<Hash, ClaimRequest>();
  for (const request of requests)
    if (!byKey.has(request.row.claimKey)) byKey.set(request.row.claimKey, request);
  return [...byKey.values()].sort((a, b) => (a.row.claimKey < b.row.claimKey ? -1 : 1));
}

/** A payable must not stay held for an authorization that turned out to be bound to another one. */
async function releaseForeignHolds(tx: Tx, requests: readonly ClaimRequest[]): Promise<void> {
  const held = requests.filter(({ once }) => once).map(heldIn);
  if (held.length === 0) return;
  await tx.execute(sql`
    UPDATE payable SET held_by = NULL FROM claim JOIN payable AS paid ON paid.id = claim.payable_id
    WHERE payable.id = ANY(${sql.param(held)}) AND claim.claim_key = payable.held_by
      AND coalesce(paid.held_as, paid.id) <> payable.id`);
}

/** The ways to pay something else that are open, and stay so until the claims are made. What is held comes after all of
 *  them: whoever takes both takes them in this order. */
async function lockWays(tx: Tx, requests: readonly ClaimRequest[]): Promise<ReadonlySet<string>> {
  const ways = requests.filter(({ heldAs }) => heldAs !== null).map(({ row }) => row.payableId);
  if (ways.length === 0) return new Set();
  const rows = await tx
    .select({ id: payable.id, closedAt: payable.closedAt })
    .from(payable)
    .where(isAnyOf(payable.id, ways))
    .orderBy(asc(payable.id))
    .for("update");
  return new Set(rows.filter(({ closedAt }) => closedAt === null).map(({ id }) => id));
}

async function hold(tx: Tx, request: ClaimRequest, openWays: ReadonlySet<string>): Promise<boolean> {
  const { row, heldAs } = request;
  if (heldAs !== null && !openWays.has(row.payableId)) return false;
  const held = await tx
    .update(payable)
    .set({ heldBy: row.claimKey })
    .where(
      and(
        eq(payable.id, heldIn(request)),
        // It may have been closed since it was found: its money is coming another way.
        sql`((${payable.heldBy} IS NULL AND ${payable.heldFor} IS NULL AND ${payable.closedAt} IS NULL) OR ${payable.heldBy} = ${sql.param(row.claimKey, payable.heldBy)})`,
      ),
    )
    .returning({ id: payable.id });
  return held.length === 1;
}

/** New claims with the beginning of their timeline, in one statement; answers the keys that were not there before. */
const inserting = (rows: readonly NewClaim[]) => sql`
    WITH made AS (${insertMany(claim, rows)} ON CONFLICT DO NOTHING RETURNING claim_key, id, state),
      told AS (INSERT INTO claim_event (claim_id, version, state, cause) SELECT id, 1, state, 'claimed' FROM made)
    SELECT claim_key FROM made`;

/** Commits new claims with their timeline and facts. Returns the keys that were not there before. */
export async function insertRows(engine: Engine, tx: Tx, rows: readonly NewClaim[]): Promise<Set<Hash>> {
  if (rows.length === 0) return new Set();
  const { rows: keys } = await tx.execute<{ claim_key: Hash }>(inserting(rows));
  const isNew = new Set(keys.map(({ claim_key }) => claim_key));
  const inserted = rows.filter(({ claimKey }) => isNew.has(claimKey));
  // Who sells something again and again waits for the money alone.
  const awaited = inserted.filter(({ kind, holdsPayable }) => kind !== "x402" || holdsPayable);
  await tellFacts(engine, tx, "settlement.claimed", awaited);
  return new Set(inserted.map(({ claimKey }) => claimKey));
}

export type SettlementFact =
  | "settlement.claimed"
  | "settlement.credited"
  | "settlement.final"
  | "settlement.reversed"
  | "settlement.failed"
  | "settlement.expired"
  | "settlement.cancelled"
  | "settlement.review";

/** Tells a fact of claims, with the payables that they pay. Those of our own payments are told as `outgoing.…`, under the
 *  id of what they carry out; a sweep moves our own money between our own addresses and is told to nobody. Nor is the
 *  finality of a payment: the money was the merchant's before, and whoever asks is told where it stands. */
export async function tellFacts<T extends Pick<Claim, "id" | "kind" | "merchantId" | "payableId">>(
  engine: Engine,
  tx: Tx,
  type: SettlementFact,
  rows: readonly T[],
  payloadOf: (row: T) => Record<string, unknown> = () => ({}),
): Promise<void> {
  const facts = rows.flatMap((row): outbox.Fact[] => {
    const isPayment = row.kind === "x402";
    if (row.kind === "sweep" || (isPayment && type === "settlement.final")) return [];
    const fact = {
      id: engine.newId("evt"),
      type: isPayment ? type : type.replace("settlement.", "outgoing."),
      subject: isPayment ? row.id : row.payableId,
      merchantId: row.merchantId,
      payload: { ...payloadOf(row), paymentId: row.id, payableId: row.payableId },
    };
    return [fact];
  });
  await outbox.append(tx, facts);
}

/** The books' key of what a claim's money did, under its present epoch. */
export function eventKeyOf({
  kind,
  claimKey,
  creditEpoch,
}: Pick<Claim, "kind" | "claimKey" | "creditEpoch">): string {
  return kind === "x402"
    ? templates.x402EventKey({ claimKey, epoch: creditEpoch })
    : `${kind}:${claimKey}:${creditEpoch}`;
}

/** Moves claims to `to`, each only from a state that may lead there, with timeline and facts. Returns those moved;
 *  the others were moved by somebody faster. */
export async function moveClaims(
  engine: Engine,
  tx: Tx,
  move: {
    keys: readonly Hash[];
    to: ClaimState;
    cause: string;
    set?: Partial<NewClaim> | Record<string, SQL>;
    where?: SQL;
    fact?: SettlementFact;
  },
): Promise<readonly MovedClaim[]> {
  if (move.keys.length === 0) return [];
  const before = tx
    .select({ claimKey: claim.claimKey, state: claim.state })
    .from(claim)
    .where(
      and(
        sql`${claim.claimKey} = ANY(${toBytesArray(move.keys)})`,
        inArray(claim.state, [...leadingTo(move.to)]),
        move.where,
      ),
    )
    .orderBy(claim.claimKey)
    .for("update");
  const update = tx
    .update(claim)
    .set({ ...move.set, state: move.to, version: sql`${claim.version} + 1`, updatedAt: sql`now()` })
    .from(sql`before`)
    .where(sql`${claim.claimKey} = before.claim_key`)
    .returning({ ...movedColumns, from: sql`before.state`.as("was") });
  // One statement, which locks in the order of the keys: what is not locked yet is not updated either.
  const { rows } = await tx.execute(sql`
    WITH before AS ${before}, moved AS ${update},
      told AS (INSERT INTO claim_event (claim_id, version, state, "from", cause)
        SELECT id, version, ${move.to}, was, ${move.cause} FROM moved)
    SELECT * FROM moved`);
  const moved = decodeRows(movedColumns, rows);
  const { fact: type } = move;
  const payloadOf = ({ reason, includedTx: transaction }: MovedClaim) => ({ reason, transaction });
  if (type) await tellFacts(engine, tx, type, moved, payloadOf);
  return moved;
}

/** The part of these claims that answers are made of. */
async function findToldClaims(db: Executor, keys: readonly Hash[]): Promise<readonly ToldClaim[]> {
  return db
    .select(toldColumns)
    .from(claim)
    .where(sql`${claim.claimKey} = ANY(${toBytesArray(keys)})`);
}

/** One indexed read for many callers who wait, or were late. */
export function claimLoader(db: Executor): (key: Hash) => Promise<ToldClaim | null> {
  return coalesce({ maxInFlight: 2, maxItems: 250 }, async (keys: readonly Hash[]) => {
    const byKey = new Map((await findToldClaims(db, keys)).map((row) => [row.claimKey, row]));
    return keys.map((key) => byKey.get(key) ?? null);
  });
}

export async function findClaims(db: Executor, keys: readonly Hash[]): Promise<readonly Claim[]> {
  return keys.length === 0
    ? []
    : db
        .select()
        .from(claim)
        .where(sql`${claim.claimKey} = ANY(${toBytesArray(keys)})`);
}
