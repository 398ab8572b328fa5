import { and, eq } from "drizzle-orm";
import { assert, unreachable } from "#kernel/fault";
import type { NewId } from "#kernel/id";
import { insertMany, outbox, type Tx } from "#store";
import type { FailureReason, IntentStatus } from "../payment-intent/state.ts";
import { paymentIntent } from "../payment-intent/tables.ts";
import { type Closing, type IntentRow, publishIntent } from "../payment-intent/verbs/offer.ts";
import type { ClearingDesk } from "./desk.ts";
import type { ClearingRow } from "./money.ts";
import {
  advance,
  type ClearingState,
  type ClearingTrigger,
  factsOfTrigger,
  follow,
  type PaymentFact,
} from "./state.ts";
import { clearing, timelineEntry } from "./tables.ts";

/** An intent and its clearing, locked in this order by the transaction that has them. */
export interface Held {
  readonly intent: IntentRow;
  readonly clearing: ClearingRow;
}
/** Why a payment fails, or what is wrong with it: a word of the catalogue and a sentence. */
export interface Failure {
  readonly code: FailureReason;
  readonly reason: string;
}
/** A step of the table, or something that happened beside and leaves the state as it is. */
export type Step = { readonly cause: string } & (
  | { readonly trigger: ClearingTrigger; readonly failure?: Failure }
  | { readonly trigger: null }
);
/** Columns that a step sets besides the state. */
export interface Change {
  readonly clearing?: Partial<Omit<ClearingRow, "state" | "sequence">>;
  readonly intent?: Partial<Omit<IntentRow, "status" | "clearingState">>;
}
type Keeping = Pick<ClearingDesk, "facilitator" | "baseUrl" | "newId" | "now">;
type NewClearing = Omit<
  ClearingRow,
  "state" | "sequence" | "failureCode" | "failureReason" | "failureAt" | "createdAt" | "updatedAt"
>;

/** Takes a clearing through steps, one after the other, and writes what became of it at once: state and status, a row of
 *  the timeline for each step, facts, and what agents may still pay. Nothing else writes `state`. Asserts that the table
 *  has each step. Source: merchant-api.md §1.0. */
export async function transition(
  tx: Tx,
  keeping: Keeping,
  held: Held,
  steps: readonly Step[],
  change: Change = {},
): Promise<Held> {
  const { clearing: row, intent } = held;
  const walk = walkOf(row.state, intent.status, steps);
  const now = keeping.now();
  const [moved] = await tx
    .update(clearing)
    .set({
      ...change.clearing,
      ...failureOf(walk, now),
      state: walk.state,
      sequence: row.sequence + walk.entries.length,
      updatedAt: now,
    })
    .where(
      and(eq(clearing.merchantId, row.merchantId), eq(clearing.id, row.id), eq(clearing.state, row.state)),
    )
    .returning();
  assert(moved, `${row.id} is not ${row.state} any more, though it was locked`);
  const after = { clearing: moved, intent: await followIntent(tx, held.intent, moved, walk, now, change) };
  await tellAndNote(tx, keeping, after, walk, { sequence: row.sequence, occurredAt: now });
  await republish(tx, keeping, held, after);
  await letGo(tx, keeping, after);
  return after;
}

/** Without money, or with money that is no payment any more: others may pay the same thing. What has failed may be
 *  retried, and keeps it. */
const free: ReadonlySet<ClearingState> = new Set([
  "awaiting-funds",
  "expired",
  "cancelled",
  "returned",
  "reversed",
]);

async function letGo(tx: Tx, { facilitator }: Keeping, { intent, clearing: row }: Held): Promise<void> {
  if (intent.heldAs === null || !free.has(row.state)) return;
  await facilitator.once.leave(tx, { payableId: intent.heldAs, payment: intent.id });
}

/** Begins a clearing and takes it through its first steps. */
export async function begin(
  tx: Tx,
  keeping: Keeping,
  { intent, clearing: row }: { readonly intent: IntentRow; readonly clearing: NewClearing },
  steps: readonly Step[],
  change: Pick<Change, "intent"> = {},
): Promise<Held> {
  const walk = walkFromStart(intent.status, steps);
  const now = keeping.now();
  const [made] = await tx
    .insert(clearing)
    .values({
      ...row,
      ...failureOf(walk, now),
      state: walk.state,
      sequence: walk.entries.length,
      createdAt: now,
      updatedAt: now,
    })
    .returning();
  assert(made, "a clearing that was begun is there");
  const linked = { intent: { confirmedAt: now, clearingId: made.id, ...change.intent } };
  const after = { clearing: made, intent: await followIntent(tx, intent, made, walk, now, linked) };
  await tellAndNote(tx, keeping, after, walk, { sequence: 0, occurredAt: now });
  await republish(tx, keeping, { intent, clearing: null }, after);
  return after;
}

interface Entry {
  readonly state: ClearingState;
  readonly from: ClearingState | null;
  readonly cause: string;
}
interface Told {
  readonly type: PaymentFact;
  readonly previous: { readonly status: IntentStatus; readonly state: ClearingState | null };
}
/** Where steps lead, before anything is written. */
export interface Walk {
  readonly state: ClearingState;
  readonly status: IntentStatus;
  readonly entries: readonly Entry[];
  readonly facts: readonly Told[];
  /** Of the last step that told one, if it still stands. */
  readonly failure: Failure | null;
  /** Whether a step was taken, and not only something noted. */
  readonly hasMoved: boolean;
}

/** The walk of a clearing that begins. Pure. */
export function walkFromStart(status: IntentStatus, steps: readonly Step[]): Walk {
  const first: Walk = {
    state: "created",
    status: follow(status, "created"),
    entries: [{ state: "created", from: null, cause: "begun" }],
    facts: [],
    failure: null,
    hasMoved: true,
  };
  return steps.reduce(walkOn, first);
}

function walkOf(state: ClearingState, status: IntentStatus, steps: readonly Step[]): Walk {
  return steps.reduce(walkOn, { state, status, entries: [], facts: [], failure: null, hasMoved: false });
}

function walkOn(walk: Walk, step: Step): Walk {
  const { state: from, status } = walk;
  if (step.trigger === null) {
    return { ...walk, entries: [...walk.entries, { state: from, from, cause: step.cause }] };
  }
  const state = advance(from, step.trigger);
  const told = factsOfTrigger[step.trigger].map((type) => ({ type, previous: { status, state: from } }));
  return {
    state,
    status: follow(status, state),
    entries: [...walk.entries, { state, from, cause: step.cause }],
    facts: [...walk.facts, ...told],
    failure: step.failure ?? null,
    hasMoved: true,
  };
}

/** A failure stands until the next step; what only happened beside leaves it. */
function failureOf({ failure, hasMoved }: Walk, at: Date) {
  if (!hasMoved) return {};
  return {
    failureCode: failure?.code ?? null,
    failureReason: failure?.reason ?? null,
    failureAt: failure ? at : null,
  };
}

async function followIntent(
  tx: Tx,
  intent: IntentRow,
  moved: ClearingRow,
  walk: Walk,
  now: Date,
  change: Change,
): Promise<IntentRow> {
  const isFailed = walk.status === "failed" || walk.status === "expired";
  const [row] = await tx
    .update(paymentIntent)
    .set({
      executionPath: moved.executionPath,
      ...change.intent,
      status: walk.status,
      clearingState: moved.state,
      failureReason: isFailed ? moved.failureCode : null,
      updatedAt: now,
    })
    .where(and(eq(paymentIntent.merchantId, intent.merchantId), eq(paymentIntent.id, intent.id)))
    .returning();
  assert(row, "an intent that is held is there");
  return row;
}

async function tellAndNote(
  tx: Tx,
  { newId }: Pick<Keeping, "newId">,
  held: Held,
  walk: Walk,
  at: { readonly sequence: number; readonly occurredAt: Date },
): Promise<void> {
  await tx.execute(insertMany(timelineEntry, entriesOf(held.clearing, walk, at)));
  // Told in the order of their ids, and these are of one moment.
  const ids = walk.facts.map(() => newId("evt")).sort();
  const facts = walk.facts.map((told, i) => ({
    ...factOf(newId, held.clearing, told),
    id: ids[i] ?? newId("evt"),
  }));
  await outbox.append(tx, facts);
}

/** The rows of a walk, numbered after those that are there. */
function entriesOf(
  { merchantId, id }: Pick<ClearingRow, "merchantId" | "id">,
  { entries }: Walk,
  { sequence, occurredAt }: { readonly sequence: number; readonly occurredAt: Date },
): readonly (typeof timelineEntry.$inferInsert)[] {
  return entries.map((entry, i) => ({
    merchantId,
    clearingId: id,
    sequence: sequence + i + 1,
    ...entry,
    occurredAt,
  }));
}

/** A fact about a payment. */
export function factOf(
  newId: NewId,
  { merchantId, id, intentId }: Pick<ClearingRow, "merchantId" | "id" | "intentId">,
  { type, previous }: { readonly type: PaymentFact; readonly previous: Told["previous"] | null },
): outbox.Fact {
  const payload = { paymentIntentId: intentId, clearingId: id, previous };
  return { id: newId("evt"), type, subject: id, merchantId, payload };
}

/** Agents are asked for money only while it would be taken. */
async function republish(
  tx: Tx,
  keeping: Keeping,
  before: { readonly intent: IntentRow; readonly clearing: ClearingRow | null },
  after: Held,
): Promise<void> {
  const [was, is] = [before.clearing && closingOf(before.clearing), closingOf(after.clearing)];
  if (was === is && offered(before.intent) === offered(after.intent)) return;
  await publishIntent(keeping, tx, after.intent, is && { as: is, at: after.clearing.updatedAt });
}

const offered = ({ offerRateId, expiresAt }: IntentRow) => `${offerRateId} ${expiresAt.getTime()}`;

function closingOf({ state, executionPath }: ClearingRow): Closing["as"] | null {
  const isByAgent = executionPath === "x402";
  switch (state) {
    case "created":
    case "awaiting-funds":
      return null;
    // While an agent's payment is under way it holds the payable itself.
    case "funds-detected":
    case "funds-received":
    case "settling":
    case "reversed":
      return isByAgent ? null : "pending";
    case "in-review":
      return "pending";
    case "settled":
      return "paid";
    // Another authorization may do what one could not.
    case "failed":
      return isByAgent ? null : "failed";
    case "returned":
      return "failed";
    case "expired":
    case "cancelled":
      return state;
    default:
      return unreachable(state);
  }
}
