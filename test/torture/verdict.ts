/** What is true after all of it, by the rows and by the chain itself: no answer of the service is taken for it. */

import type { Hash, Hex } from "#kernel/bytes";
import { imbalance, trialBalance } from "#ledger";
import { AUTHORIZATION_USED } from "../../facilitator/chain/evm/logs.ts";
import type { Told } from "./clients.ts";
import type { Stage } from "./stage.ts";

export interface Verdict {
  readonly payments: number;
  readonly settled: number;
  /** Never charged: expired, or refused before anything was claimed. */
  readonly unpaid: number;
  /** Each of them is a bug. */
  readonly wrongs: Readonly<Record<Wrong, number>>;
  /** `USDC: 12.34 = 12.34`, for each token. */
  readonly books: readonly string[];
  readonly transactions: number;
}

const wrongs = {
  "money moved, and is not booked as settled": 0,
  "booked as settled, and no money moved": 0,
  "credited other than once": 0,
  "moved more than once": 0,
  "not at its end": 0,
  "told success, and not settled": 0,
  "told success more than once": 0,
  "told failure, and settled": 0,
  "told a final failure while it could have settled": 0,
  "answers that no client should get": 0,
  "settled by nobody's payment": 0,
  "transactions that were not stored before": 0,
  "tokens whose books differ from the chain": 0,
  "assets whose debits and credits differ": 0,
  "processes that ended by themselves": 0,
};
type Wrong = keyof typeof wrongs;

/** Of the payments that were made after the block `since`. */
export async function judge(stage: Stage, told: readonly Told[], since: number): Promise<Verdict> {
  const [claims, used, sent, books] = await Promise.all([
    claimsOf(stage),
    usedNonces(stage, since),
    sentTransactions(stage),
    booksOf(stage),
  ]);
  const found = { ...wrongs };
  const ours = new Set(told.map(({ nonce }) => nonce));
  found["settled by nobody's payment"] = [...used.keys()].filter((nonce) => !ours.has(nonce)).length;
  let settled = 0;
  for (const one of told) {
    const claim = claims.get(one.nonce);
    const moved = used.get(one.nonce) ?? 0;
    settled += claim?.state === "final" ? 1 : 0;
    for (const wrong of wrongsOf(one, claim, moved)) found[wrong] += 1;
  }
  found["transactions that were not stored before"] = sent.strangers;
  found["tokens whose books differ from the chain"] = books.filter(({ isEqual }) => !isEqual).length;
  found["assets whose debits and credits differ"] = (await imbalance(stage.database.db.pool)).filter(
    ({ difference }) => difference !== 0n,
  ).length;
  found["processes that ended by themselves"] = stage.instances.deserters();
  return {
    payments: told.length,
    settled,
    unpaid: told.length - settled,
    wrongs: found,
    books: books.map(({ line }) => line),
    transactions: sent.count,
  };
}

interface ClaimRow {
  readonly nonce: Hash;
  readonly state: string;
  readonly credits: number;
  readonly posts: number;
}

function* wrongsOf(one: Told, claim: ClaimRow | undefined, moved: number): Iterable<Wrong> {
  const isSettled = claim?.state === "final";
  if (moved > 1) yield "moved more than once";
  if (moved > 0 && !isSettled) yield "money moved, and is not booked as settled";
  if (moved === 0 && isSettled) yield "booked as settled, and no money moved";
  if (claim && !["final", "expired", "cancelled"].includes(claim.state)) yield "not at its end";
  const credits = claim?.credits ?? 0;
  if (credits !== moved || (claim?.posts ?? 0) !== moved) yield "credited other than once";
  if (one.successes + one.duplicates > 0 && !isSettled) yield "told success, and not settled";
  if (one.successes > 1) yield "told success more than once";
  if (one.refusal !== null && isSettled) yield "told failure, and settled";
  if (one.refusal !== null && !one.isShortLived) yield "told a final failure while it could have settled";
  if (one.wrong.length > 0 || (one.hasId && one.duplicates > 0)) yield "answers that no client should get";
}

async function claimsOf({ database }: Stage): Promise<ReadonlyMap<Hash, ClaimRow>> {
  const rows = await database.query<{ nonce: Hash; state: string; credits: string; posts: string }>(
    `SELECT '0x' || encode(claim.nonce, 'hex') AS nonce, claim.state, coalesce(booked.credits, 0) AS credits,
       coalesce(booked.posts, 0) AS posts
     FROM claim LEFT JOIN (
       SELECT subject, count(*) FILTER (WHERE phase = 'pending') - count(*) FILTER (WHERE phase = 'void') AS credits,
         count(*) FILTER (WHERE phase = 'post') AS posts
       FROM ledger_transfer WHERE leg = 'net' GROUP BY subject
     ) AS booked ON booked.subject = claim.id`,
  );
  return new Map(
    rows.map((row) => [row.nonce, { ...row, credits: Number(row.credits), posts: Number(row.posts) }]),
  );
}

const BLOCKS = 20;

/** How often each nonce was used on the token, as the chain's own logs say. */
async function usedNonces({ dev }: Stage, since: number): Promise<ReadonlyMap<Hash, number>> {
  const used = new Map<Hash, number>();
  const { number: head } = await dev.chain.head();
  for (let from = since + 1; from <= head; from += BLOCKS) {
    const range = { fromBlock: hex(from), toBlock: hex(Math.min(head, from + BLOCKS - 1)) };
    const filter = { address: dev.usdc, topics: [AUTHORIZATION_USED], ...range };
    for (const { topics } of await dev.anvil.rpc<{ topics: readonly Hash[] }[]>("eth_getLogs", [filter])) {
      const nonce = topics[2] as Hash;
      used.set(nonce, (used.get(nonce) ?? 0) + 1);
    }
  }
  return used;
}

/** What the gas keys had mined, and how much of it no row knows. */
async function sentTransactions({ dev, database }: Stage): Promise<{ count: number; strangers: number }> {
  const rows = await database.query<{ hash: string }>(
    "SELECT '0x' || encode(tx_hash, 'hex') AS hash FROM attempt",
  );
  const stored = new Set(rows.map(({ hash }) => hash));
  const keys = new Set(dev.contracts.signers.map(({ address }) => address.toLowerCase()));
  const { number: head } = await dev.chain.head();
  let count = 0;
  let strangers = 0;
  for (let number = 0; number <= head; number += 1) {
    const block = await dev.anvil.rpc<{ transactions: { from: string; hash: string }[] }>(
      "eth_getBlockByNumber",
      [hex(number), true],
    );
    const ours = block.transactions.filter(({ from }) => keys.has(from.toLowerCase()));
    count += ours.length;
    strangers += ours.filter(({ hash }) => !stored.has(hash)).length;
  }
  return { count, strangers };
}

/** The treasury by the books, posted and pending, against its balance on the chain. */
async function booksOf({ dev, database }: Stage): Promise<readonly { line: string; isEqual: boolean }[]> {
  const accounts = await trialBalance(database.db.pool);
  return Promise.all(
    dev.chain.row.tokens.map(async ({ symbol, contract }) => {
      const booked = accounts
        .filter(({ path, asset }) => path.includes("asset:treasury") && asset.startsWith(`${symbol}@`))
        .reduce((sum, { posted, pending }) => sum + posted + pending, 0n);
      const held = await dev.chain.tokenBalance(contract, dev.chain.row.treasury, "latest");
      return { line: `${symbol}: ledger ${booked}, chain ${held}`, isEqual: booked === held };
    }),
  );
}

const hex = (number: number): Hex => `0x${number.toString(16)}`;
