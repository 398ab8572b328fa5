import { eq } from "drizzle-orm";
import type { AuthorizationRead, AuthorizationState, Call, Chain } from "../../chain/port.ts";
import { moveClaims } from "../claim/claim.ts";
import { callOf, readOf } from "../claim/claim-call.ts";
import type { SentClaim } from "../claim/claim-parts.ts";
import { fail, refuse } from "../claim/refuse.ts";
import { claim } from "../claim/tables.ts";
import { sweepPatience } from "../deposit/sweep.ts";
import type { Engine } from "../engine.ts";
import type { ObserverRow } from "../observer/observer.ts";
import { type PayerState, readAlone, readTogether } from "../verify/chain-read.ts";
import { freshnessFloor } from "../verify/examine.ts";
import { presentFees } from "./fees.ts";
import { type Fees, gasLimitOf } from "./gas.ts";
import type { Lane } from "./lane.ts";
import { busyAbove, giveBack, HOLD_SECONDS, nextClaims, type Queue, reserve } from "./queue.ts";
import { submit } from "./submit.ts";

/** What a lane knows between turns, all of it only to spare work: the rows decide. */
export interface LaneView {
  readonly lane: Lane;
  /** Transactions of the key that the chain has mined. */
  readonly minedNonce: number;
  /** The first nonce that is free. */
  readonly nextNonce: number;
}

/** A batch waits this long for company while others are under way or on their way; a lone payment on an idle lane goes
 *  at once. */
const COMPANY_MS = { fast: 150, slow: 1_000 };
/** Company is not waited for past the last moment that still makes the next block: what a batch takes to be sent. */
const SENDING_MS = 250;
/** Sweeps in one transaction: beyond, an item hardly gets cheaper, and a payment should not wait for so many. */
const MOST_SWEEPS = 25;

/** What a lane may go by in one turn. */
export interface Waiting {
  readonly queue: Queue;
  /** Milliseconds; null where nobody knows. */
  readonly untilBlock: number | null;
  /** Settles of this process that are on their way to the queue. */
  readonly incoming: number;
  /** Whether this process holds all lanes of the chain, as far as it knows: then nobody else works for what waits. */
  readonly isAlone: boolean;
}

/** One turn of a lane (settlement.md S4 to S6): takes what waits, checks it again, stores the signed transaction, sends
 *  it. Returns how many claims left. */
export async function dispatch(
  engine: Engine,
  view: LaneView,
  { queue, untilBlock, incoming, isAlone }: Waiting,
  at: ObserverRow,
): Promise<number> {
  const { chain } = view.lane;
  // Orders that wait are waiting for money that lies on deposit addresses, as a rule.
  const oldSweeps =
    queue.sweeps > 0 && (queue.hasOrders || queue.oldestSweepMs >= sweepPatience(engine, view.lane) * 1_000);
  if (queue.length === 0 && !oldSweeps) return 0;
  const { nextNonce: nonce } = view;
  const unmined = nonce - view.minedNonce;
  const window =
    queue.length > busyAbove(chain.row.batchLimit, engine.settings)
      ? engine.settings.window.busy
      : engine.settings.window.calm;
  const free = window - unmined;
  const patience = chain.row.blockTimeSeconds > 2 ? COMPANY_MS.slow : COMPANY_MS.fast;
  const isLastCall = untilBlock !== null && untilBlock <= SENDING_MS;
  // The last place before a block is kept for all that comes until then.
  const isKept = free === 1 && untilBlock !== null;
  // Of a crowd the first one would keep the lane busy while the others miss the block.
  const isIdle = unmined === 0 && incoming <= queue.length;
  const isDue =
    isIdle ||
    oldSweeps ||
    isLastCall ||
    queue.length >= chain.row.batchLimit ||
    (queue.oldestMs >= patience && !isKept);
  if (free <= 0 || !isDue) return 0;
  // Asked for meanwhile; a failure is each group's, which gives its claims back.
  const fees = presentFees(engine.loopDb.pool, chain);
  fees.catch(() => undefined);
  const next = await nextBatch(engine, view.lane, queue);
  const claims = isAlone ? next : await reserve(engine, next);
  return sendGroups(engine, view.lane, { nonce, claims, fees }, at);
}

/** Payments first; sweeps in the room that they leave. */
async function nextBatch(engine: Engine, { chain }: Lane, queue: Queue): Promise<readonly SentClaim[]> {
  const { chainId, batchLimit } = chain.row;
  const payments = await nextClaims(engine, chainId, Math.min(queue.length, batchLimit), "payments");
  const room = Math.min(batchLimit - payments.length, MOST_SWEEPS);
  return [...payments, ...(await nextClaims(engine, chainId, Math.min(queue.sweeps, room), "sweeps"))];
}

interface Turn {
  /** The first that is free. */
  readonly nonce: number;
  readonly claims: readonly SentClaim[];
  readonly fees: Promise<Fees | null>;
}

/** Contract wallets go alone: one of them could burn the gas of a whole batch. */
async function sendGroups(engine: Engine, lane: Lane, turn: Turn, at: ObserverRow): Promise<number> {
  const { claims } = turn;
  const plain = claims.filter(({ payerHasCode }) => !payerHasCode);
  const groups = [plain, ...claims.filter(({ payerHasCode }) => payerHasCode).map((claim) => [claim])];
  let { nonce } = turn;
  let left = 0;
  for (const group of groups.filter(({ length }) => length > 0)) {
    const sent = await sendGroup(engine, lane, { ...turn, nonce, claims: group }, at);
    nonce += sent > 0 ? 1 : 0;
    left += sent;
  }
  return left;
}

async function sendGroup(
  engine: Engine,
  lane: Lane,
  { nonce, claims, fees: asked }: Turn,
  at: ObserverRow,
): Promise<number> {
  const keys = claims.map(({ claimKey }) => claimKey);
  try {
    const allowed = await withoutBarred(engine, lane, claims);
    // Asked while the fees are on their way: an endpoint may be far. What was answered before they came may be old by then.
    const reading = readAgain(lane, allowed);
    const isEarly = await Promise.race([asked.then(() => false), reading.then(() => true)]);
    const fees = await asked;
    if (!fees) {
      engine.log.warn(
        { chain: lane.chain.row.slug, waiting: allowed.length },
        "fees are above the chain's cap: payments are held",
      );
      await holdForFees(engine, lane.chain, allowed);
      return 0;
    }
    const reads = isEarly ? await readAgain(lane, allowed) : await reading;
    const ready = await stillGood(engine, lane, reads, at);
    if (ready.length === 0) return 0;
    const gasLimit = gasLimitOf(ready.map(({ claim: { payerHasCode } }) => payerHasCode));
    const sent = await submit(engine, lane, {
      nonce,
      claims: ready.map(({ claim }) => claim),
      calls: ready.map(({ call }) => call),
      gasLimit,
      fees,
      atBlock: at.cursorNumber,
    });
    if (!sent)
      await giveBack(
        engine,
        ready.map(({ claim: { claimKey } }) => claimKey),
      );
    return sent ? ready.length : 0;
  } catch (error) {
    await giveBack(engine, keys, 1);
    throw error;
  }
}

/** What cannot wait for lower fees any longer is told so, where none of its transactions may still land. */
async function holdForFees(engine: Engine, chain: Chain, claims: readonly SentClaim[]): Promise<void> {
  const { timestamp } = await chain.head();
  const soonest = BigInt(timestamp) + freshnessFloor(chain);
  const isOver = ({ kind, attempts, validBefore }: SentClaim) =>
    kind === "x402" && attempts === 0 && validBefore < soonest;
  const keysOf = (some: readonly SentClaim[]) => some.map(({ claimKey }) => claimKey);
  await fail(
    engine,
    keysOf(claims.filter(isOver)),
    "unexpected_settle_error",
    `The network's fee is above the ${chain.row.maxFeePerGasCap} wei per gas that are paid here at most, and this authorization is about to expire. It was never sent. Sign a fresh one later.`,
  );
  await giveBack(engine, keysOf(claims.filter((claim) => !isOver(claim))), HOLD_SECONDS);
}

const BARRED_MESSAGE = "The token of this payment is no longer accepted here: a person decides.";

/** What the gas key would not sign, since its token was delisted, waits for a person; returns the others. */
async function withoutBarred(
  engine: Engine,
  { chain, signer }: Lane,
  claims: readonly SentClaim[],
): Promise<readonly SentClaim[]> {
  const isBarred = (claim: SentClaim) => signer.refuses(chain.row, callOf(claim));
  const barred = claims.filter(isBarred);
  if (barred.length === 0) return claims;
  engine.log.error(
    { chain: chain.row.slug, claims: barred.length },
    "the signer's policy refuses payments: a person decides",
  );
  await engine.loopDb.tx((tx) =>
    moveClaims(engine, tx, {
      keys: barred.map(({ claimKey }) => claimKey),
      to: "review",
      cause: "refused by the signer's policy",
      set: { reason: "invalid_payment_requirements", message: BARRED_MESSAGE },
      fact: "settlement.review",
    }),
  );
  return claims.filter((claim) => !isBarred(claim));
}

interface Ready {
  readonly claim: SentClaim;
  /** As it was checked, so it is sent. */
  readonly call: Call;
}

interface ReadAgain {
  readonly claim: SentClaim;
  readonly read: AuthorizationRead;
  readonly known: PayerState;
}

/** The chain as it is now, with the very calls that will be sent, in their order. */
async function readAgain(
  { chain, signer }: Lane,
  claims: readonly SentClaim[],
): Promise<readonly ReadAgain[]> {
  if (claims.length === 0) return [];
  const reads = claims.map(readOf);
  const states = await readTogether(chain, signer.address, reads);
  return claims.map((claim, i) => {
    const [read, known] = [reads[i], states[i]];
    if (!read || !known) throw new Error("the chain answered fewer authorizations than it was asked");
    return { claim, read, known };
  });
}

/** The check right before signing. */
async function stillGood(
  engine: Engine,
  { chain, signer }: Lane,
  reads: readonly ReadAgain[],
  at: ObserverRow,
): Promise<readonly Ready[]> {
  const good: Ready[] = [];
  const seen = new Set<string>();
  for (const { claim, read, known } of reads) {
    const { transfer: call } = read;
    const behind = seen.has(`${claim.token}${claim.payer}`);
    seen.add(`${claim.token}${claim.payer}`);
    if (known.payerHasCode && !claim.payerHasCode && asksCode(engine, claim)) {
      await markHasCode(engine, claim);
      continue;
    }
    const state = known.payerHasCode ? await readAlone(chain, signer.address, read) : known;
    if (state.isDisputed) await giveBack(engine, [claim.claimKey], 1);
    else if (isTimely(chain, claim, state) && !state.used && state.transfer.ok) good.push({ claim, call });
    else if (behind && !state.used) await giveBack(engine, [claim.claimKey]);
    else await refuse(engine, chain, claim, state, at);
  }
  return good;
}

function isTimely(chain: Lane["chain"], claim: SentClaim, { block }: AuthorizationState): boolean {
  return (
    claim.validAfter < BigInt(block.timestamp) &&
    claim.validBefore >= BigInt(block.timestamp) + freshnessFloor(chain)
  );
}

/** Whether the token asks the payer's code about a signature; one that takes keys only asks nobody. */
function asksCode({ chains }: Engine, { chainId, token }: SentClaim): boolean {
  const rails = chains.get(chainId)?.rails ?? [];
  return rails.some((rail) => rail.ok && rail.token.contract === token && rail.hasBytesOverload);
}

/** The payer became a contract since it signed: it travels alone from now on. */
async function markHasCode(engine: Engine, { claimKey }: SentClaim): Promise<void> {
  await engine.loopDb.pool
    .update(claim)
    .set({ payerHasCode: true, takenUntil: null })
    .where(eq(claim.claimKey, claimKey));
}
