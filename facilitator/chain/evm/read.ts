import type { Address } from "#kernel/bytes";
import { countsParentBlocks } from "../known-chains.ts";
import type { AuthorizationRead, AuthorizationState, Call, CallOutcome } from "../port.ts";
import { MalformedAnswer, toQuantity } from "./answer.ts";
import { newestBlock } from "./blocks.ts";
import { balanceOf, type Execution, execute, uint, view } from "./call.ts";
import {
  type CallResult,
  GET_BASE_FEE,
  GET_BLOCK_NUMBER,
  GET_BLOCK_TIMESTAMP,
  packAggregate3,
  unpackResults,
  word,
} from "./multicall.ts";
import { revertOf } from "./revert.ts";
import type { Room } from "./room.ts";
import { WITNESSES } from "./witnesses.ts";

/** Gas for the reads and the frame, and per item: three times what an item takes. A lone contract wallet that burns
 *  everything leaves enough of it to answer. */
const READ_GAS = 300_000n;
const ITEM_GAS = 150_000n;
/** Calls before those of the items. */
const BLOCK_CALLS = 3;
/** Arbitrum's own block number: arbBlockNumber() of ArbSys. */
const ARB_BLOCK_NUMBER: Call = { to: `0x${word(100).slice(24)}` as Address, data: "0xa3b1b31d" };

/** One endpoint's word lets a payment pass, since the chain has the last one. That it cannot be paid, others are asked
 *  as well, where there are any, until two agree. */
export async function readAuthorizations(
  room: Room,
  from: Address,
  items: readonly AuthorizationRead[],
): Promise<readonly AuthorizationState[]> {
  const views = [await readAll(room, from, items)];
  const isDecided = () => items.every((_, i) => decided(views, i));
  for (const other of views[0]?.every(isPayable) ? [] : room.rpc.others()) {
    if (views.length > 1 && isDecided()) break;
    // All of them: an item behind another of its payer is judged by what that one leaves.
    const view = await readAll({ ...room, rpc: other }, from, items).catch(() => null);
    if (view) views.push(view);
  }
  return items.map((_, i) => decided(views, i) ?? { ...stateIn(views, i), isDisputed: true });
}

type View = readonly AuthorizationState[];

const isPayable = ({ used, transfer, isDisputed = false }: AuthorizationState) =>
  !used && transfer.ok && !isDisputed;

/** What the first view that could read it says if it lets the payment pass or stands alone; else what two views agree on,
 *  if they do. */
function decided(views: readonly View[], i: number): AuthorizationState | undefined {
  const states = views
    .map((_, at) => stateIn(views.slice(at), i))
    .filter(({ isDisputed = false }) => !isDisputed);
  const [first] = states;
  if (!first || isPayable(first) || views.length === 1) return first;
  const [passing, refusing] = [states.filter(isPayable), states.filter((state) => !isPayable(state))];
  return [refusing, passing].find(({ length }) => length >= WITNESSES)?.[0];
}

function stateIn([view]: readonly View[], i: number): AuthorizationState {
  const state = view?.[i];
  if (!state) throw new Error("fewer authorizations were read than were asked for");
  return state;
}

/** One `eth_call` for most groups: the block, the balances that are asked for, then the transfers in order, since a read
 *  behind a transfer sees what the transfer left. One that passes leaves nothing to ask about it: what its payer holds
 *  is enough, and its nonce is not used. Of the others both are asked in a second call. */
async function readAll(
  room: Room,
  from: Address,
  items: readonly AuthorizationRead[],
): Promise<readonly AuthorizationState[]> {
  if (items.length === 0) return [];
  const { multicall } = room.row;
  if (multicall === null) return readOneByOne(room, from, items);
  const batch = { room, from, multicall };
  const asked = balancesOf(items);
  const first = await aggregate(batch, items.length, [
    ...blockCalls(room.row.chainId, multicall),
    ...asked.map(balanceCall),
    ...items.map(({ transfer }) => transfer),
  ]);
  const transfers = first.slice(BLOCK_CALLS + asked.length);
  const failed = items.filter((_, i) => !transfers[i]?.success);
  const facts = await aggregate(batch, failed.length, [...failed.map(balanceCall), ...failed.map(stateCall)]);
  return usable(room, () => {
    const block = blockIn(first);
    const known = new Map<AuthorizationRead, Facts>([
      ...asked.map((item, i) => [item, balanceIn(first[BLOCK_CALLS + i])] as const),
      ...failed.map((item, i) => [item, factsIn(facts, i)] as const),
    ]);
    const readable = new Set(items.filter((item) => known.get(item)?.isDisputed === false).map(tokenOf));
    return items.map((item, i) => ({
      block,
      ...(readable.has(item.token) ? (known.get(item) ?? UNASKED) : UNREAD),
      transfer: transferIn(transfers[i], block.timestamp),
    }));
  });
}

type Facts = Pick<AuthorizationState, "balance" | "used"> & { readonly isDisputed: boolean };
const UNASKED: Facts = { balance: null, used: false, isDisputed: false };
/** Of a token that cannot be read nothing is known: not a word about those of other tokens beside it. */
const UNREAD: Facts = { ...UNASKED, isDisputed: true };
const tokenOf = ({ token }: AuthorizationRead) => token;

/** The balances that are asked for, and one of each token: at an address without code every transfer passes. */
function balancesOf(items: readonly AuthorizationRead[]): readonly AuthorizationRead[] {
  const firsts = new Map([...items].reverse().map((item) => [item.token, item]));
  return items.filter((item) => item.asksBalance || firsts.get(item.token) === item);
}

interface Batch {
  readonly room: Room;
  readonly from: Address;
  readonly multicall: Address;
}

/** Many calls about so many authorizations in one; none where there are none. */
async function aggregate(
  { room, from, multicall }: Batch,
  count: number,
  calls: readonly Call[],
): Promise<readonly CallResult[]> {
  if (calls.length === 0) return [];
  const gas = READ_GAS + ITEM_GAS * BigInt(count);
  const execution = await execute(room, { from, to: multicall, data: packAggregate3(calls), gas });
  return usable(room, () => {
    if (!execution.ok)
      throw new MalformedAnswer(execution.outOfGas ? "a read out of gas" : "a read reverted");
    return unpackResults(execution.data, calls.length);
  });
}

function blockCalls(chainId: number, multicall: Address): readonly Call[] {
  const number = countsParentBlocks(chainId) ? ARB_BLOCK_NUMBER : { to: multicall, data: GET_BLOCK_NUMBER };
  return [number, { to: multicall, data: GET_BLOCK_TIMESTAMP }, { to: multicall, data: GET_BASE_FEE }];
}

function blockIn([number, timestamp, baseFee]: readonly CallResult[]): AuthorizationState["block"] {
  return {
    number: Number(numberIn(number)),
    timestamp: Number(numberIn(timestamp)),
    baseFeePerGas: numberIn(baseFee),
  };
}

/** What was asked about the authorization at place `i`: first all balances, then all nonces. */
function factsIn(facts: readonly CallResult[], i: number): Facts {
  return readableFacts(() => ({
    balance: numberIn(facts[i]),
    used: numberIn(facts[facts.length / 2 + i]) !== 0n,
  }));
}

function balanceIn(result: CallResult | undefined): Facts {
  return readableFacts(() => ({ balance: numberIn(result), used: false }));
}

function readableFacts(read: () => Pick<AuthorizationState, "balance" | "used">): Facts {
  try {
    return { ...read(), isDisputed: false };
  } catch (error) {
    if (error instanceof MalformedAnswer) return UNREAD;
    throw error;
  }
}

function numberIn(result: CallResult | undefined): bigint {
  if (!result?.success) throw new MalformedAnswer("a token that cannot be read");
  return uint(result.data);
}

function transferIn(result: CallResult | undefined, blockTime: number): CallOutcome {
  if (!result) throw new MalformedAnswer("fewer answers than calls");
  const { success, data } = result;
  return success ? { ok: true, data } : { ok: false, revert: revertOf(data, blockTime), data };
}

/** The very batch, or the lone call, as the lane would send it. */
export async function simulate(
  room: Room,
  { from, calls, gasLimit }: { from: Address; calls: readonly Call[]; gasLimit: bigint },
): Promise<readonly CallOutcome[]> {
  const [first, second] = calls;
  if (!first) return [];
  const { multicall } = room.row;
  if (!second) {
    const execution = await execute(room, { from, ...first, gas: gasLimit });
    return [outcomeOf(execution, room.seen?.timestamp ?? 0)];
  }
  if (multicall === null) throw new Error(`${room.row.slug} has no Multicall3: calls go alone`);
  const execution = await execute(room, { from, to: multicall, data: packAggregate3(calls), gas: gasLimit });
  const time = room.seen?.timestamp ?? 0;
  // Every call may fail, so the batch itself fails of one thing only.
  if (!execution.ok) return calls.map(() => ({ ok: false, revert: "out-of-gas", data: execution.data }));
  return usable(room, () =>
    unpackResults(execution.data, calls.length).map(({ success, data }) =>
      outcomeOf(success ? { ok: true, data } : { ok: false, data, outOfGas: false }, time),
    ),
  );
}

async function readOneByOne(
  room: Room,
  from: Address,
  items: readonly AuthorizationRead[],
): Promise<readonly AuthorizationState[]> {
  const { number, timestamp, baseFeePerGas } = await newestBlock(room);
  const at = toQuantity(number);
  const block = { number, timestamp, baseFeePerGas };
  const read = async (call: Call) => (await view(room, call, at)) ?? "0x";
  return Promise.all(
    items.map(async (item) => {
      const [balance, used, execution] = await Promise.all([
        read(balanceCall(item)),
        read(stateCall(item)),
        execute(room, { from, ...item.transfer, gas: READ_GAS + ITEM_GAS }, at),
      ]);
      const transfer = outcomeOf(execution, timestamp);
      const facts = readableFacts(() => ({ balance: uint(balance), used: uint(used) !== 0n }));
      return { block, ...facts, transfer };
    }),
  );
}

function balanceCall({ token, payer }: AuthorizationRead): Call {
  return { to: token, data: balanceOf(payer) };
}

/** authorizationState(address,bytes32) */
function stateCall({ token, payer, nonce }: AuthorizationRead): Call {
  return { to: token, data: `0xe94a0102000000000000000000000000${payer.slice(2)}${nonce.slice(2)}` };
}

function outcomeOf(execution: Execution, blockTime: number): CallOutcome {
  if (execution.ok) return execution;
  const { data, outOfGas } = execution;
  return { ok: false, revert: outOfGas ? "out-of-gas" : revertOf(data, blockTime), data };
}

/** An answer that makes no sense is an outage of ours, not a verdict about anybody. */
function usable<T>(room: Room, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedAnswer) throw room.rpc.unavailable(error);
    throw error;
  }
}
