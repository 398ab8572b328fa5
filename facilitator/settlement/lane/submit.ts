import { sql } from "drizzle-orm";
import { insertMany, sqlState, type Tx, together } from "#store";
import type { Call, SignedTransaction } from "../../chain/port.ts";
import { moveClaims } from "../claim/claim.ts";
import type { SentClaim } from "../claim/claim-parts.ts";
import { claim } from "../claim/tables.ts";
import type { Engine } from "../engine.ts";
import type { Fees } from "./gas.ts";
import { type Lane, takeNonce } from "./lane.ts";
import { attempt, slot, slotItem } from "./tables.ts";

interface Submission {
  readonly nonce: number;
  readonly claims: readonly SentClaim[];
  readonly calls: readonly Call[];
  readonly gasLimit: bigint;
  readonly fees: Fees;
  readonly atBlock: number;
}

const UNIQUE_VIOLATION = "23505";

/** Raised inside the transaction to undo it whole: another process was faster, or the lease is gone. */
class Lost extends Error {}

/** Signs, commits slot, items and signed bytes together with the lane's nonce (settlement.md S5), and only then sends
 *  (S6). False when another process was faster: the signed bytes are dropped, never sent. */
export async function submit(engine: Engine, lane: Lane, submission: Submission): Promise<boolean> {
  const { nonce, calls, gasLimit, fees } = submission;
  const signed = await lane.signer.sign(lane.chain.row, { nonce, calls, gasLimit, ...fees });
  try {
    await engine.loopDb.tx(async (tx) => {
      await store(engine, tx, lane, submission, signed);
      await engine.checkpoint("before-slot");
    });
  } catch (error) {
    if (error instanceof Lost) return false;
    throw error;
  }
  await engine.checkpoint("slotted");
  engine.meter.count("batches", { chain: lane.chain.row.slug });
  engine.meter.count("batch_items", { chain: lane.chain.row.slug }, submission.claims.length);
  const payments = submission.claims.filter(({ kind }) => kind !== "sweep");
  if (payments.length > 0) engine.meter.time("dispatch", longestWait(engine, payments));
  const result = await lane.chain.send(signed.raw);
  engine.log.info(
    {
      chain: lane.chain.row.slug,
      lane: lane.signer.address,
      nonce,
      items: submission.claims.length,
      transaction: signed.hash,
      result,
    },
    "transaction sent",
  );
  await engine.checkpoint("sent");
  return true;
}

/** Seconds from the oldest claim's commit to now. */
function longestWait({ clock }: Engine, claims: readonly SentClaim[]): number {
  const oldest = Math.min(...claims.map(({ createdAt }) => createdAt.getTime()));
  return Math.max(0, clock.now().getTime() - oldest) / 1000;
}

export function slotId(lane: Lane, nonce: number): string {
  return `${lane.chain.row.chainId}:${lane.signer.address}:${nonce}`;
}

async function store(
  engine: Engine,
  tx: Tx,
  lane: Lane,
  { nonce, claims, gasLimit, fees, atBlock }: Submission,
  signed: SignedTransaction,
): Promise<void> {
  const id = slotId(lane, nonce);
  const moving = moveClaims(engine, tx, {
    keys: claims.map(({ claimKey }) => claimKey),
    to: "submitting",
    cause: "signed",
    set: { slotId: sql`${id}`, attempts: sql`${claim.attempts} + 1`, takenUntil: sql`NULL` },
    where: sql`state = 'claimed'`,
  });
  const made = {
    id,
    chainId: lane.chain.row.chainId,
    signer: lane.signer.address,
    nonce,
    sentAtBlock: atBlock,
  };
  const items = claims.map(({ claimKey }, idx) => ({ slotId: id, claimKey, idx }));
  const first = tx.insert(attempt).values(attemptRow(id, 1, signed, gasLimit, fees));
  const writing = tx.execute(sql`
    WITH made AS (${insertMany(slot, [made])}), items AS (${insertMany(slotItem, items)}) ${first.getSQL()}`);
  const [isTaken, moved] = await together([takeNonce(tx, lane, nonce), moving, writing]).catch(lostIfThere);
  if (!isTaken || moved.length !== claims.length) throw new Lost();
}

/** The slot, or an open item of one of the claims, is another process's. */
function lostIfThere(error: unknown): never {
  throw sqlState(error) === UNIQUE_VIOLATION ? new Lost() : error;
}

export function attemptRow(
  id: string,
  seq: number,
  { hash, raw }: SignedTransaction,
  gasLimit: bigint,
  fees: Fees,
) {
  return {
    slotId: id,
    seq,
    txHash: hash,
    raw,
    maxFee: fees.maxFeePerGas,
    tip: fees.maxPriorityFeePerGas,
    gasLimit,
  };
}
