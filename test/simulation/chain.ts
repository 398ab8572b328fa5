/** A made-up chain behind the port: blocks when the test says so, forks of any depth, tokens that move money. It
 *  believes every signature; whether they are right is the facilitator's to check, and is tested on a real chain. */
import { type Hex as Bytes, keccak256, parseTransaction, recoverTransactionAddress } from "viem";
import { type Address, address, type Hash, type Hex, hash } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { unpackCalls } from "../../facilitator/chain/evm/multicall.ts";
import type {
  AuthorizationState,
  BlockRef,
  Call,
  CallOutcome,
  Chain,
  MoneyLog,
  Receipt,
} from "../../facilitator/chain/port.ts";
import type { ChainRow } from "../../facilitator/chain/registry.ts";
import { type Authorization, type TokenState, tokenState } from "./ledger-of-tokens.ts";

/** What a transaction does: moves money and says what it moved. False: it reverted. */
type Effect = (tokens: TokenState, timestamp: number) => readonly Said[] | null;
/** A log without its place. */
type Said = MoneyLog extends infer Log ? (Log extends MoneyLog ? Omit<Log, keyof Place> : never) : never;
type Place = Pick<MoneyLog, "blockNumber" | "blockHash" | "txHash" | "logIndex">;

interface Transaction {
  readonly hash: Hash;
  /** Null for what the test itself does. */
  readonly sender: { readonly account: Address; readonly nonce: number } | null;
  readonly calls: number;
  readonly effect: Effect;
}
interface Mined {
  readonly ref: BlockRef;
  readonly transactions: readonly Transaction[];
  readonly logs: readonly MoneyLog[];
  readonly receipts: ReadonlyMap<Hash, Receipt>;
  /** Where the tokens stood before it. */
  readonly mark: number;
}

export interface SimulatedChain {
  readonly chain: Chain;
  mint(token: Address, account: Address, amount: bigint): void;
  /** Waits for a block. Returns its hash. */
  transfer(token: Address, from: Address, to: Address, amount: bigint): Hash;
  /** A payment through the router: a transfer and, right behind it, the router's word. */
  route(payment: { token: Address; payer: Address; payTo: Address; amount: bigint; paymentRef: Hash }): Hash;
  /** Mines what waits. */
  mine(blocks?: number): void;
  /** The last `depth` blocks leave the chain; their transactions wait again, or are `lost` for good, those that the
   *  filter names. Mines one block more than was lost, as a chain that wins does. */
  fork(depth: number, isLost?: (transaction: Hash) => boolean): void;
  balance(token: Address, account: Address): bigint;
  height(): number;
}

/** Blocks behind the head that are final. */
const FINAL_AFTER = 2;
const BASE_FEE = 1_000_000_000n;
const GAS_PER_CALL = 50_000n;
const RICH = 10n ** 20n;

export function simulateChain(row: ChainRow, start: { readonly timestamp: number }): SimulatedChain {
  const tokens = tokenState();
  const blocks: Mined[] = [];
  let waiting: Transaction[] = [];
  let branch = 0;
  let sequence = 0;

  const top = (): Mined => {
    const last = blocks.at(-1);
    if (!last) throw new Error("a chain without blocks");
    return last;
  };
  const nonceOf = (account: Address, upTo = Number.POSITIVE_INFINITY) =>
    blocks
      .filter(({ ref }) => ref.number <= upTo)
      .reduce(
        (sum, block) => sum + block.transactions.filter(({ sender }) => sender?.account === account).length,
        0,
      );

  function mineOne(): void {
    const last = blocks.at(-1)?.ref;
    const number = last ? last.number + 1 : 0;
    const ref: BlockRef = {
      number,
      hash: sha256(`block ${number} ${branch} ${last?.hash ?? ""}`),
      parentHash: last?.hash ?? hash(`0x${"0".repeat(64)}`),
      timestamp: last ? last.timestamp + row.blockTimeSeconds : start.timestamp,
      baseFeePerGas: BASE_FEE,
    };
    blocks.push(execute(ref));
  }

  function execute(ref: BlockRef): Mined {
    const mark = tokens.mark();
    const transactions: Transaction[] = [];
    const logs: MoneyLog[] = [];
    const receipts = new Map<Hash, Receipt>();
    const next = new Map<Address, number>();
    const later: Transaction[] = [];
    for (const transaction of waiting.toSorted((a, b) => (a.sender?.nonce ?? 0) - (b.sender?.nonce ?? 0))) {
      const { sender } = transaction;
      if (sender) {
        const expected = next.get(sender.account) ?? nonceOf(sender.account);
        if (sender.nonce > expected) later.push(transaction);
        if (sender.nonce !== expected) continue;
        next.set(sender.account, expected + 1);
      }
      const before = tokens.mark();
      const said = transaction.effect(tokens, ref.timestamp);
      if (said === null) tokens.undoTo(before);
      for (const log of said ?? []) {
        const place = {
          blockNumber: ref.number,
          blockHash: ref.hash,
          txHash: transaction.hash,
          logIndex: logs.length,
        };
        logs.push({ ...log, ...place } as MoneyLog);
      }
      transactions.push(transaction);
      receipts.set(transaction.hash, receiptOf(transaction, ref, said !== null));
    }
    waiting = later;
    return { ref, transactions, logs, receipts, mark };
  }

  function enqueue(effect: Effect): Hash {
    sequence += 1;
    const made = { hash: sha256(`transaction ${sequence}`), sender: null, calls: 1, effect };
    waiting.push(made);
    return made.hash;
  }

  async function send(raw: Hex): Promise<"accepted" | "already-known" | "nonce-too-low"> {
    const parsed = parseTransaction(raw as Bytes);
    const account = address(
      await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` }),
    );
    const txHash = hash(keccak256(raw));
    const nonce = parsed.nonce ?? 0;
    if (waiting.some((each) => each.hash === txHash)) return "already-known";
    if (nonce < nonceOf(account)) return "nonce-too-low";
    waiting = waiting.filter(({ sender }) => !(sender?.account === account && sender.nonce === nonce));
    const calls = callsOf(address(parsed.to ?? ""), parsed.data ?? "0x");
    waiting.push({ hash: txHash, sender: { account, nonce }, calls: calls.length, effect: batch(calls) });
    return "accepted";
  }

  function tryCalls(calls: readonly Call[]): readonly CallOutcome[] {
    const mark = tokens.mark();
    const { timestamp } = top().ref;
    const outcomes = calls.map(({ to, data }): CallOutcome => {
      const authorization = authorizationOf(to, data);
      const revert = authorization
        ? tokens.authorized(authorization, timestamp + row.blockTimeSeconds)
        : "unknown";
      return revert === null ? { ok: true, data: "0x" } : { ok: false, revert, data: "0x" };
    });
    tokens.undoTo(mark);
    return outcomes;
  }

  const chain: Chain = {
    row,
    hasSpareCalls: () => true,
    head: async () => top().ref,
    finalized: async () => (blocks.at(-1 - FINAL_AFTER) ?? blocks[0] ?? top()).ref,
    blockAt: async (number) => blocks[number]?.ref ?? null,
    moneyLogs: async (block, ours, followed = row.tokens.map(({ contract }) => contract)) => {
      const mined = blocks[block.number];
      if (mined?.ref.hash !== block.hash) return null;
      const mine = new Set(ours);
      return mined.logs.filter(
        (log) =>
          followed.includes(log.token) &&
          (log.event !== "transfer" || mine.has(log.from) || mine.has(log.to)),
      );
    },
    findAuthorizationUse: async ({ token, payer, nonce, fromBlock }) =>
      blocks.find(
        ({ ref, logs }) =>
          ref.number >= fromBlock &&
          logs.some(
            (log) =>
              log.event === "authorization-used" &&
              log.token === token &&
              log.payer === payer &&
              log.nonce === nonce,
          ),
      )?.ref ?? null,
    readAuthorizations: async (_from, items) =>
      items.map(({ token, payer, nonce, transfer }): AuthorizationState => {
        const [outcome] = tryCalls([transfer]);
        if (!outcome) throw new Error("a call without an outcome");
        return {
          block: top().ref,
          balance: tokens.balanceOf(token, payer),
          used: tokens.isUsed(token, payer, nonce),
          transfer: outcome,
        };
      }),
    simulate: async (_from, calls) => tryCalls(calls),
    nonce: async (account, block) => nonceOf(account, block === "latest" ? undefined : block),
    nativeBalance: async (account, block) => {
      const upTo = block === "latest" ? Number.POSITIVE_INFINITY : block;
      return blocks
        .filter(({ ref }) => ref.number <= upTo)
        .flatMap(({ transactions, receipts }) =>
          transactions.flatMap((each) =>
            each.sender?.account === account ? (receipts.get(each.hash) ?? []) : [],
          ),
        )
        .reduce((left, { gasUsed, effectiveGasPrice }) => left - gasUsed * effectiveGasPrice, RICH);
    },
    tokenBalance: async (token, account, block) => balanceAt(token, account, block),
    tokenBalances: async (token, accounts, block) =>
      accounts.map((account) => balanceAt(token, account, block)),
    code: async () => "0x",
    haveCode: async (accounts) => accounts.map(() => false),
    isValidSignature: async () => false,
    fees: async () => ({ baseFeePerGas: BASE_FEE, maxPriorityFeePerGas: 1_000_000n, hasRoom: true }),
    send,
    routerFacts: async () => ({ hasCode: true, operator: null }),
    receipt: async (txHash) =>
      blocks.map(({ receipts }) => receipts.get(txHash)).find((found) => found !== undefined) ?? null,
    tokenFacts: async () => ({
      hasCode: true,
      codeHash: hash(`0x${"0".repeat(64)}`),
      symbol: null,
      decimals: 6,
      knowsAuthorizations: true,
      hasBytesOverload: true,
      domain: null,
    }),
  };

  function balanceAt(token: Address, account: Address, block: number | "latest"): bigint {
    const now = tokens.balanceOf(token, account);
    if (block === "latest") return now;
    return blocks
      .filter(({ ref }) => ref.number > block)
      .flatMap(({ logs }) => logs)
      .reduce((sum, log) => {
        if (log.event !== "transfer" || log.token !== token) return sum;
        return sum - (log.to === account ? log.amount : 0n) + (log.from === account ? log.amount : 0n);
      }, now);
  }

  mineOne();
  return {
    chain,
    mint: tokens.mint,
    transfer: (token, from, to, amount) =>
      enqueue((state) =>
        state.transfer(token, from, to, amount) === null
          ? [{ event: "transfer", token, from, to, amount }]
          : null,
      ),
    route: ({ token, payer, payTo, amount, paymentRef }) =>
      enqueue((state) =>
        state.transfer(token, payer, payTo, amount) === null
          ? [
              { event: "transfer", token, from: payer, to: payTo, amount },
              { event: "routed", token, payer, payTo, amount, paymentRef },
            ]
          : null,
      ),
    mine(count = 1) {
      for (let i = 0; i < count; i++) mineOne();
    },
    fork(depth, isLost = () => false) {
      const gone = blocks.splice(Math.max(1, blocks.length - depth));
      const [lowest] = gone;
      if (lowest) tokens.undoTo(lowest.mark);
      branch += 1;
      const back = gone.flatMap(({ transactions }) => transactions);
      waiting = [...back.filter((each) => !isLost(each.hash)), ...waiting];
      for (let i = 0; i <= gone.length; i++) mineOne();
    },
    balance: tokens.balanceOf,
    height: () => top().ref.number,
  };
}

function receiptOf(
  { hash: txHash, calls }: Transaction,
  { number, hash: blockHash }: BlockRef,
  succeeded: boolean,
): Receipt {
  const gasUsed = 21_000n + BigInt(calls) * GAS_PER_CALL;
  return { txHash, blockNumber: number, blockHash, succeeded, gasUsed, effectiveGasPrice: BASE_FEE };
}

function callsOf(to: Address, data: Hex): readonly Call[] {
  return unpackCalls(data) ?? [{ to, data }];
}

/** Each call may fail without the others. */
function batch(calls: readonly Call[]): Effect {
  return (tokens, timestamp) =>
    calls.flatMap(({ to, data }): Said[] => {
      const authorization = authorizationOf(to, data);
      if (!authorization || tokens.authorized(authorization, timestamp) !== null) return [];
      const { token, payer, payTo, value, nonce } = authorization;
      return [
        { event: "authorization-used", token, payer, nonce },
        { event: "transfer", token, from: payer, to: payTo, amount: value },
      ];
    });
}

const TRANSFER_SELECTORS = ["0xe3ee160e", "0xcf092995"];

function authorizationOf(token: Address, data: Hex): Authorization | null {
  if (!TRANSFER_SELECTORS.includes(data.slice(0, 10))) return null;
  const word = (at: number) => data.slice(10 + at * 64, 74 + at * 64);
  return {
    token,
    payer: address(`0x${word(0).slice(24)}`),
    payTo: address(`0x${word(1).slice(24)}`),
    value: BigInt(`0x${word(2)}`),
    validAfter: BigInt(`0x${word(3)}`),
    validBefore: BigInt(`0x${word(4)}`),
    nonce: hash(`0x${word(5)}`),
  };
}
