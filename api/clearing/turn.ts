import { and, eq } from "drizzle-orm";
import type { Arrival, ChainFacts, PaymentView } from "#facilitator";
import type { Address } from "#kernel/bytes";
import { assert, fault } from "#kernel/fault";
import type { Tx } from "#store";
import { followAgent, waitsForOperator } from "./agent.ts";
import { book, heldOf, postSettlement, resolveSettlement, saveDeposits, unbook } from "./book.ts";
import { comingTo, fallenOf, isOrdered, isStray, look, type Seen, statusOf } from "./deposits.ts";
import type { ClearingDesk } from "./desk.ts";
import { isDust, leastOf, lyingOf, type ReturnRow, requiredFor, sum } from "./money.ts";
import { liveOrder, markOrder, type OrderRow } from "./orders.ts";
import { loadPurse, type Purse } from "./purse.ts";
import { type Decision, decide, type Standing, windowOf } from "./rails/order.ts";
import { isUnderWay } from "./rails/x402.ts";
import { dropReturns, followReturns, type Returned, returnExcess } from "./returns.ts";
import { nextLook } from "./schedule.ts";
import { advance, type ClearingState, isBusy } from "./state.ts";
import { clearing as clearingTable } from "./tables.ts";
import { type Change, type Failure, type Held, transition } from "./timeline.ts";

/** What was learned before the transaction: nothing outside is asked in one. */
export interface Outside {
  /** When the clearing was due as this was asked: whoever made it due anew since knows something that this does not. */
  readonly dueAt: Date | null;
  readonly payments: readonly PaymentView[];
  /** Whether late money may still be taken at the locked rate. */
  readonly isRateGood: boolean;
  readonly returned: Returned;
}

/** A clearing in hand, with its money as it is now. */
export interface Work {
  readonly held: Held;
  readonly orders: readonly OrderRow[];
  readonly returns: readonly ReturnRow[];
  readonly seen: readonly Seen[];
  /** A step was left for the next turn. */
  readonly isMidway: boolean;
}

/** Brings a locked clearing up to what the chain and the facilitator say, in one transaction. */
export async function bringUp(tx: Tx, desk: ClearingDesk, held: Held, outside: Outside): Promise<Held> {
  const purse = await loadPurse(tx, held.clearing);
  const byAgent = await followAgent(tx, desk, held, { orders: purse.orders, payments: outside.payments });
  const counted = await countMoney(tx, desk, byAgent, purse);
  return finish(tx, desk, counted, purse, outside);
}

/** Takes the steps that the money in hand calls for, and puts everything down. */
export async function finish(
  tx: Tx,
  desk: ClearingDesk,
  work: Work,
  before: Purse,
  outside: Outside,
): Promise<Held> {
  const stepped = await takeSteps(tx, desk, work, outside);
  return putDown(tx, desk, await followMoney(tx, desk, stepped, outside), before, outside);
}

/** What arrived, in the books and not: what fell is taken out, what has its confirmations is taken in. */
export async function countMoney(tx: Tx, desk: ClearingDesk, held: Held, purse: Purse): Promise<Work> {
  const { orders } = purse;
  const arrivals =
    orders.length === 0 ? [] : await desk.facilitator.deposits.arrivals(tx, [held.clearing.id]);
  const standing = await reverseFallen(tx, desk, held, purse, arrivals);
  const { returns } = standing;
  const order = liveOrder(orders, standing.held.clearing);
  const looking = {
    ...desk,
    clearing: standing.held.clearing,
    order,
    now: desk.now(),
    depthOf: depthOf(desk),
  };
  const seen = look(standing.deposits, arrivals, looking);
  const booking = { clearing: standing.held.clearing, orders, order, returns };
  return { held: standing.held, orders, returns, seen: await book(tx, desk, booking, seen), isMidway: false };
}

const REORGED: Failure = {
  code: "reorged",
  reason: "The block of its money left the chain. It comes back by itself when the money does.",
};

async function reverseFallen(
  tx: Tx,
  desk: ClearingDesk,
  held: Held,
  purse: Purse,
  arrivals: readonly Arrival[],
) {
  const { deposits, orders, returns } = purse;
  const fallen = fallenOf(deposits, arrivals);
  if (fallen.length === 0) return { held, deposits, returns };
  const { clearing } = held;
  const isCounted = fallen.some((row) => lyingOf(row, returns).clearing > 0n);
  const isReversed = clearing.state === "settled" && clearing.executionPath !== "x402" && isCounted;
  let after = held;
  if (isReversed) {
    assert(!clearing.isFinal, `${clearing.id} was settled for good, and its block left the chain`);
    await resolveSettlement(tx, "void", clearing);
    const order = liveOrder(orders, clearing);
    if (order) await markOrder(tx, order, "active");
    after = await transition(tx, desk, held, [
      { trigger: "reverse", cause: "its block left the chain", failure: REORGED },
    ]);
  }
  const unbooked = new Map((await unbook(tx, orders, fallen)).map((row) => [row.id, row]));
  return {
    held: after,
    deposits: deposits.map((row) => unbooked.get(row.id) ?? row),
    returns: await dropReturns(tx, desk, returns, fallen),
  };
}

const MOST_STEPS = 6;

/** The steps that the money calls for, and what they bring with them. */
async function takeSteps(tx: Tx, desk: ClearingDesk, work: Work, outside: Outside): Promise<Work> {
  if (isLedByOthers(work)) return work;
  const found = standingOf(desk, work, outside);
  // Whoever takes no step takes no hold either: nothing would let go of it.
  const isForeclosing = decide(found) !== null && (await isForeclosed(tx, desk, work, found));
  const standing = { ...found, isForeclosed: isForeclosing };
  const steps: Decision[] = [];
  let isMidway = false;
  for (let state: ClearingState = standing.state; steps.length < MOST_STEPS; ) {
    const next = decide({ ...standing, state });
    if (!next) break;
    steps.push(next);
    state = advance(state, next.trigger);
    // Agents must have been told that it is being paid before the money counts, or both would be taken.
    isMidway = next.trigger === "detect" && work.held.intent.offerAmount !== null;
    if (isMidway || next.trigger === "review") break;
  }
  if (steps.length === 0) return work;
  const isTaken = steps.some(({ trigger }) => trigger === "receive" || trigger === "reopen");
  const seen = isTaken ? decided(work.seen) : work.seen;
  const change = await changeOf(tx, desk, { ...work, seen }, steps, standing);
  return { ...work, held: await transition(tx, desk, work.held, steps, change), seen, isMidway };
}

/** Where money begins to count: from there on its intent holds what others could pay as well. */
const beginning: ReadonlySet<ClearingState> = new Set([
  "awaiting-funds",
  "funds-detected",
  "expired",
  "failed",
  "reversed",
]);

/** Where an intent has lost the place that it had among others of the same. */
const placeless: ReadonlySet<ClearingState> = new Set(["expired", "failed", "reversed"]);

/** Whether something else was faster to pay what this intent pays. Of two that come at once one holds it. */
async function isForeclosed(
  tx: Tx,
  { facilitator, isFull }: ClearingDesk,
  { held: { intent } }: Work,
  { state, held, coming }: Standing,
): Promise<boolean> {
  if (held + coming === 0n) return false;
  if (placeless.has(state) && (await isFull(tx, intent))) return true;
  if (intent.heldAs === null || !beginning.has(state)) return false;
  return !(await facilitator.once.take(tx, { payableId: intent.heldAs, payment: intent.id }));
}

/** An agent's payment is the facilitator's to lead, another provider's is the provider's; the end of the window is ours. */
function isLedByOthers({ held: { clearing } }: Work): boolean {
  const isOurs = clearing.executionPath !== "x402" && clearing.provider === "evm";
  return !isOurs && clearing.state !== "awaiting-funds";
}

function standingOf(desk: ClearingDesk, work: Work, { payments, isRateGood }: Outside): Standing {
  const { held, orders, returns, seen } = work;
  const { clearing } = held;
  const order = liveOrder(orders, clearing);
  const rows = seen.map(({ row }) => row);
  const [least, amount] = [leastOf(clearing), heldOf(clearing, rows, returns)];
  const coming = comingTo(order, seen, { least, held: amount });
  const fresh = rows.filter((row) => row.isBooked && !row.isDecided);
  // What is asked for on a chain that is not served any more ends with its window all the same.
  const facts = order && servedFacts(desk, order.chain);
  const confirmations = facts ? requiredFor(clearing.sourceAmount, facts.depth).confirmations : 0;
  return {
    state: clearing.state,
    now: desk.now(),
    expiresAt: clearing.expiresAt,
    due: clearing.sourceAmount,
    least,
    held: amount,
    hasLate: fresh.some(({ isLate, toClearing }) => isLate && toClearing > 0n),
    coming: sum(coming),
    timely: sum(coming.filter((row) => !row.isLate)),
    depthMs: confirmations * (facts?.blockTimeSeconds ?? 0) * 1000,
    hasNew: fresh.some((row) => lyingOf(row, returns).clearing > 0n || isStray(row, returns)),
    hasStray: fresh.some((row) => isStray(row, returns)),
    holdsStray: rows.some((row) => isStray(row, returns)),
    isRateGood,
    isHeldByAgent: payments.some(isUnderWay),
    isForeclosed: false,
  };
}

function decided(seen: readonly Seen[]): readonly Seen[] {
  return seen.map((each) => (each.row.isBooked ? { ...each, row: { ...each.row, isDecided: true } } : each));
}

async function changeOf(
  tx: Tx,
  desk: ClearingDesk,
  { held, orders, returns, seen }: Work,
  steps: readonly Decision[],
  standing: Standing,
): Promise<Change> {
  const { clearing, intent } = held;
  const has = (trigger: Decision["trigger"]) => steps.some((step) => step.trigger === trigger);
  const order = liveOrder(orders, clearing);
  if (order && has("expire")) await markOrder(tx, order, "expired");
  const sender = intent.payerDeclared ? null : senderOf(seen, order);
  const learned = { payerAddress: sender ?? intent.payerAddress };
  if (!has("credit")) return { intent: learned };
  if (order) await markOrder(tx, order, "consumed");
  const counted = countedOf(clearing, seen, returns);
  const attempt = clearing.attempt + 1;
  const { gross, fee } = await postSettlement(tx, clearing, { attempt, counted, gross: standing.held });
  const now = desk.now();
  return {
    clearing: {
      ...{
        attempt,
        fee,
        sourceAmount: gross,
        settlementAmount: gross,
        settledAt: now,
        isFinal: false,
        failedSteps: 0,
      },
      transactionHash: completing(counted, leastOf(clearing)),
    },
    intent: { ...learned, completedAt: intent.completedAt ?? now },
  };
}

/** Who sent the first money to the order; dust is anybody's. */
function senderOf(seen: readonly Seen[], order: OrderRow | null): Address | null {
  const first = seen.find(
    ({ row, isCanonical }) =>
      isCanonical && isOrdered(row, order) && (!isDust(row.amount) || row.toClearing > 0n),
  );
  return first?.row.sender ?? null;
}

/** The deposits whose money lies in the clearing, in its own token. */
function countedOf({ chain, asset }: Held["clearing"], seen: readonly Seen[], returns: readonly ReturnRow[]) {
  return seen
    .map(({ row }) => row)
    .filter((row) => row.chain === chain && row.asset === asset && lyingOf(row, returns).clearing > 0n);
}

/** The transaction that completed the sum; the last one where the sum was accepted as it is. */
function completing(counted: ReturnType<typeof countedOf>, least: bigint) {
  let total = 0n;
  for (const { amount, txHash } of counted) {
    total += amount;
    if (total >= least) return txHash;
  }
  return counted.at(-1)?.txHash ?? null;
}

/** What follows from where the money is: postings that become final, and what goes back. */
async function followMoney(tx: Tx, desk: ClearingDesk, work: Work, { returned }: Outside): Promise<Work> {
  const { clearing, intent } = work.held;
  const excess = await returnExcess(tx, desk, work.held, work);
  const returns = await followReturns(tx, desk, excess, { seen: work.seen, returned });
  const counted = countedOf(clearing, work.seen, returns);
  const isOurs =
    clearing.state === "settled" && clearing.executionPath !== "x402" && clearing.provider === "evm";
  if (!isOurs || clearing.isFinal || !counted.every(({ isFinal }) => isFinal)) return { ...work, returns };
  await resolveSettlement(tx, "post", clearing);
  return { ...work, returns, held: { intent, clearing: { ...clearing, isFinal: true } } };
}

/** Writes what is left to write, and when to look again. */
async function putDown(
  tx: Tx,
  desk: ClearingDesk,
  work: Work,
  before: Purse,
  outside: Outside,
): Promise<Held> {
  const { held, returns, seen } = work;
  const { clearing, intent } = held;
  const now = desk.now();
  const rows = seen.map((each) => ({ ...each.row, status: statusOf(each, clearing.state, returns) }));
  await saveDeposits(tx, before.deposits, rows, now);
  const isLeftOver = mayLeave(clearing) && heldAnywhere(rows, returns) > 0n;
  // What an answer was not about is asked about again once the payment has come to an end.
  const hasStray = rows.some((row) => isStray(row, returns) && !(row.isDecided && isBusy(clearing.state)));
  const isUndecided = clearing.state === "in-review" && !waitsForOperator(clearing);
  const reviewRequired = isUndecided || hasStray || isLeftOver;
  const row = { ...clearing, reviewRequired };
  const isOld = before.dueAt?.getTime() !== outside.dueAt?.getTime();
  const dueAt = isOld
    ? now
    : nextLook({
        clearing: row,
        ...{ seen, returns, now },
        isMidway: work.isMidway,
        windowAt: windowOf(standingOf(desk, work, outside)),
        factsOf: factsOf(desk),
      });
  const { isFinal } = clearing;
  await tx
    .update(clearingTable)
    .set({ reviewRequired, dueAt, isFinal })
    .where(and(eq(clearingTable.merchantId, clearing.merchantId), eq(clearingTable.id, clearing.id)));
  return { intent, clearing: { ...row, dueAt } };
}

/** Whether money of deposits may lie beside what became of it: an agent paid, or it could not be returned. */
function mayLeave({ state, executionPath }: Held["clearing"]): boolean {
  return state === "returned" || (state === "settled" && executionPath === "x402");
}

function heldAnywhere(rows: Purse["deposits"], returns: readonly ReturnRow[]): bigint {
  return rows.reduce((total, row) => total + lyingOf(row, returns).clearing, 0n);
}

/** Of the chain, not of a rail: money that is there is counted though its token is paused. */
function factsOf({ facilitator }: Pick<ClearingDesk, "facilitator">): (chain: string) => ChainFacts {
  return (chain) => {
    const facts = servedFacts({ facilitator }, chain);
    if (!facts) throw fault("chain_unavailable", { chain });
    return facts;
  };
}

function servedFacts({ facilitator }: Pick<ClearingDesk, "facilitator">, slug: string) {
  return facilitator.chains().find(({ chain }) => chain === slug);
}

function depthOf(desk: Pick<ClearingDesk, "facilitator">): (chain: string) => ChainFacts["depth"] {
  return (chain) => factsOf(desk)(chain).depth;
}
