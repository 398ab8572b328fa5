/** A made-up chain as a tree: the main branch, forks that lost, and what stood behind every block of either. */
import type { Address, Hash } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import type { BlockRef, Call, MoneyLog, Receipt } from "../../../facilitator/chain/port.ts";
import type { Choices } from "../../property/payments/random.ts";
import { decodeTransfer, type Said, type Signatures, Token } from "./token.ts";

/** Blocks behind the head that are final; no fork goes deeper than one less. */
export const FINAL_AFTER = 3;
const GAS_PER_CALL = 50_000n;

export interface Transaction {
  readonly hash: Hash;
  /** Null for what payers and strangers do: it needs no order. */
  readonly lane: { readonly account: Address; readonly nonce: number; readonly gasLimit: bigint } | null;
  readonly calls: readonly Call[];
  /** Instead of calls: something else that the token's contract does, or null when it reverts. */
  readonly effect?: (token: Token) => readonly Said[] | null;
}
export interface Block {
  readonly ref: BlockRef;
  readonly parent: Block | null;
  readonly token: Token;
  /** Next nonces of lanes. */
  readonly nonces: ReadonlyMap<Address, number>;
  readonly transactions: readonly Transaction[];
  readonly logs: readonly MoneyLog[];
  readonly receipts: ReadonlyMap<Hash, Receipt>;
}

export class Tree {
  tip: Block;
  waiting: Transaction[] = [];
  baseFee = 1_000_000n;
  /** The highest block that anybody was told is final. */
  final = 0;
  /** Hashes of blocks at each height, on all branches. */
  readonly heights = new Map<number, Set<Hash>>();
  readonly #signatures: Signatures;
  readonly #chance: Choices;
  readonly #name: string;
  #made = 0;

  constructor(name: string, timestamp: number, signatures: Signatures, chance: Choices) {
    this.#name = name;
    this.#signatures = signatures;
    this.#chance = chance;
    const ref = this.#refOn(null, timestamp);
    this.tip = {
      ref,
      parent: null,
      token: new Token(),
      nonces: new Map(),
      transactions: [],
      logs: [],
      receipts: new Map(),
    };
  }

  #refOn(parent: Block | null, timestamp: number): BlockRef {
    this.#made += 1;
    const number = parent ? parent.ref.number + 1 : 100;
    const hash = sha256(`${this.#name} block ${this.#made}`);
    const known = this.heights.get(number) ?? new Set();
    this.heights.set(number, known.add(hash));
    const parentHash = parent?.ref.hash ?? sha256(`${this.#name} nothing`);
    return { number, hash, parentHash, timestamp, baseFeePerGas: this.baseFee };
  }

  /** A block on `parent` with these, as far as they fit in; the others wait on if this is the main branch. */
  build(parent: Block, timestamp: number, transactions: readonly Transaction[]): Block {
    const ref = this.#refOn(parent, Math.max(timestamp, parent.ref.timestamp + 1));
    const block = {
      ref,
      parent,
      token: new Token(parent.token),
      nonces: new Map(parent.nonces),
      transactions: [] as Transaction[],
      logs: [] as MoneyLog[],
      receipts: new Map<Hash, Receipt>(),
    };
    for (const each of asMined(transactions, this.#chance)) {
      if (each.lane) {
        const next = block.nonces.get(each.lane.account) ?? 0;
        if (each.lane.nonce !== next) continue;
        block.nonces.set(each.lane.account, next + 1);
      }
      this.#execute(block, each);
    }
    return block;
  }

  #execute(
    block: {
      ref: BlockRef;
      token: Token;
      transactions: Transaction[];
      logs: MoneyLog[];
      receipts: Map<Hash, Receipt>;
    },
    each: Transaction,
  ): void {
    const { ref, token } = block;
    const said = each.effect ? each.effect(token) : this.#run(token, each, ref.timestamp);
    const place = { blockNumber: ref.number, blockHash: ref.hash, txHash: each.hash };
    for (const log of said ?? [])
      block.logs.push({ ...log, ...place, logIndex: block.logs.length } as MoneyLog);
    block.transactions.push(each);
    block.receipts.set(each.hash, {
      txHash: each.hash,
      blockNumber: ref.number,
      blockHash: ref.hash,
      succeeded: said !== null,
      gasUsed: 21_000n + BigInt(each.calls.length) * GAS_PER_CALL,
      effectiveGasPrice: ref.baseFeePerGas,
    });
  }

  /** Of several calls each may fail; a lone one takes its transaction with it. */
  #run(token: Token, { calls, lane }: Transaction, timestamp: number): readonly Said[] | null {
    if (lane && lane.gasLimit < BigInt(calls.length)) return null;
    const said = calls.map((call) => {
      const transfer = decodeTransfer(call);
      const isFine = transfer && token.refusal(transfer, timestamp, this.#signatures) === null;
      return isFine ? token.execute(transfer) : null;
    });
    return calls.length === 1 ? (said[0] ?? null) : said.flatMap((each) => each ?? []);
  }

  /** The main branch grows by what waits, save what `isLate` leaves for later. */
  mine(timestamp: number, isLate: (transaction: Transaction) => boolean = () => false): void {
    const inTime = this.waiting.filter((each) => !isLate(each));
    this.tip = this.build(this.tip, timestamp, inTime);
    this.#forgetMined();
  }

  #forgetMined(): void {
    const { receipts, nonces } = this.tip;
    this.waiting = this.waiting.filter(
      ({ hash, lane }) => !receipts.has(hash) && (!lane || lane.nonce >= (nonces.get(lane.account) ?? 0)),
    );
  }

  /** Another branch wins: the last `depth` blocks leave the chain, and what was in them waits again, or is lost. */
  fork(depth: number, timestamp: number, isLost: (transaction: Transaction) => boolean): void {
    const gone = pathBack(this.tip, depth);
    const base = gone.at(-1)?.parent;
    if (!base) return;
    const back = gone.toReversed().flatMap(({ transactions }) => transactions);
    this.waiting = [...back.filter((each) => !isLost(each)), ...this.waiting];
    this.tip = base;
    for (let i = 0; i <= gone.length; i += 1) {
      const time = Math.min(timestamp, base.ref.timestamp + (i + 1) * 2);
      const share = this.#chance.of([0, 0.5, 1]);
      this.mine(time, () => this.#chance.chance(share));
    }
  }

  /** Bytes that came in; true when they are new. */
  admit(transaction: Transaction): "accepted" | "already-known" | "nonce-too-low" {
    const { lane, hash } = transaction;
    if (this.waiting.some((each) => each.hash === hash) || this.tip.receipts.has(hash))
      return "already-known";
    if (lane && lane.nonce < (this.tip.nonces.get(lane.account) ?? 0)) return "nonce-too-low";
    this.waiting = this.waiting.filter(
      (each) => !lane || each.lane?.account !== lane.account || each.lane.nonce !== lane.nonce,
    );
    this.waiting.push(transaction);
    return "accepted";
  }
}

/** A miner has one of so many likings for each transaction. */
export const LIKINGS = 1_000;

/** In whatever order the miner likes, each lane's by nonce: on another branch a cancellation comes after its payment. */
function asMined(transactions: readonly Transaction[], chance: Choices): readonly Transaction[] {
  const order = transactions
    .map((each) => ({ each, at: chance.below(LIKINGS) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ each }) => each);
  const ofLanes = order.filter(({ lane }) => lane).toSorted((a, b) => nonceOf(a) - nonceOf(b));
  return order.map((each) => (each.lane ? (ofLanes.shift() ?? each) : each));
}

const nonceOf = ({ lane }: Transaction) => lane?.nonce ?? 0;

/** The last `count` blocks up to `from`, newest first; never the first block of all. */
export function pathBack(from: Block, count: number): readonly Block[] {
  const path: Block[] = [];
  for (let at: Block | null = from; at?.parent && path.length < count; at = at.parent) path.push(at);
  return path;
}

/** The block at a height on the branch of `from`. */
export function ancestorAt(from: Block, number: number): Block | null {
  let at: Block | null = number > from.ref.number ? null : from;
  while (at && at.ref.number > number) at = at.parent;
  return at;
}

/** All blocks of a branch, newest first. */
export function* branchOf(from: Block): Generator<Block> {
  for (let at: Block | null = from; at; at = at.parent) yield at;
}
