import { type Address, type Hash, hash } from "#kernel/bytes";
import type { BlockRef, LogPlace, MoneyLog } from "../port.ts";
import type { ChainRow } from "../registry.ts";
import {
  addressInWord,
  count,
  fields,
  hash32,
  hexData,
  list,
  MalformedAnswer,
  orNull,
  quantity,
} from "./answer.ts";
import type { Source } from "./client.ts";
import { addressWord } from "./multicall.ts";
import type { Room } from "./room.ts";
import { agreed, type Testimony } from "./witnesses.ts";

/** Transfer(address indexed from,address indexed to,uint256 value) */
const TRANSFER = hash("0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
/** AuthorizationUsed(address indexed authorizer,bytes32 indexed nonce) */
export const AUTHORIZATION_USED = hash("0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5");
/** AuthorizationCanceled(address indexed authorizer,bytes32 indexed nonce) */
export const AUTHORIZATION_CANCELED = hash(
  "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81",
);
/** PaymentReceived(bytes32 indexed paymentRef,address indexed payer,address indexed token,address payTo,uint256 amount) */
const PAYMENT_RECEIVED = hash("0xdc9b4d1be872943f8c9f8d2d6e8514c595ab627d643f3a0b87b294bc51526ce0");

/** As many addresses in one filter as endpoints commonly take. */
const FILTER_ADDRESSES = 500;
const UNKNOWN_BLOCK = /unknown (?:block|header)|not found|no (?:such )?block|missing (?:block|header)/i;

type Topics = readonly (readonly string[] | null)[];

/** The logs of exactly this block that are about our money, as two endpoints tell them alike; null when it is not known
 *  there. */
export function moneyLogs(room: Room, block: BlockRef, about: About): Promise<readonly MoneyLog[] | null> {
  return agreed(room, `the logs of block ${block.number}`, (source) => testify(room, source, block, about));
}

interface About {
  readonly ours: readonly Address[];
  readonly tokens: readonly Address[];
}

async function testify(
  { row }: Room,
  source: Source,
  block: BlockRef,
  about: About,
): Promise<Testimony<readonly MoneyLog[]>> {
  // Some nodes answer an unknown hash with no logs instead of an error: the block itself is asked for, too.
  const known = source({
    method: "eth_getBlockByHash",
    params: [block.hash, false],
    parse: orNull((found) => hash32(fields(found).hash) === block.hash),
  });
  const searches = searchesOf(row, about).map(({ emitters, topics, read }) =>
    source({
      method: "eth_getLogs",
      params: [{ blockHash: block.hash, address: emitters, topics }],
      parse: (result) => list(result).map((log) => read(rawLog(log, { block, emitters }))),
    }),
  );
  const replies = await Promise.all([known, ...searches]);
  const logs = new Map<number, MoneyLog>();
  for (const reply of replies) {
    if (reply === null) return "silent";
    if (!reply.ok) return UNKNOWN_BLOCK.test(reply.error.message) ? { said: null } : "silent";
    if (reply.value === null || reply.value === false) return { said: null };
    if (reply.value === true) continue;
    for (const log of reply.value) if (log) logs.set(log.logIndex, log);
  }
  return { said: [...logs.values()].sort((a, b) => a.logIndex - b.logIndex) };
}

/** One question about a block's logs. `read` gives null for a log that only looks like one of ours. */
interface Search {
  readonly emitters: readonly Address[];
  readonly topics: Topics;
  readonly read: (log: RawLog) => MoneyLog | null;
}

function searchesOf({ router }: ChainRow, { ours, tokens }: About): readonly Search[] {
  const ofTokens = topicFilters(ours).map((topics) => ({ emitters: tokens, topics, read: tokenLog }));
  if (!router) return ofTokens;
  const read = (log: RawLog) => routedLog(log, tokens);
  return [...ofTokens, { emitters: [router], topics: [[PAYMENT_RECEIVED]], read }];
}

function topicFilters(ours: readonly Address[]): readonly Topics[] {
  const filters: Topics[] = [[[AUTHORIZATION_USED, AUTHORIZATION_CANCELED]]];
  for (let at = 0; at < ours.length; at += FILTER_ADDRESSES) {
    const some = ours.slice(at, at + FILTER_ADDRESSES).map((address) => `0x${addressWord(address)}`);
    filters.push([[TRANSFER], null, some], [[TRANSFER], some]);
  }
  return filters;
}

/** A log of the right block and emitter, not yet understood. */
interface RawLog {
  readonly emitter: Address;
  readonly place: Omit<LogPlace, "token">;
  readonly topics: readonly Hash[];
  readonly data: unknown;
}

/** Throws on a log that was not asked for. */
function rawLog(
  value: unknown,
  { block, emitters }: { block: BlockRef; emitters: readonly Address[] },
): RawLog {
  const log = fields(value);
  const emitter = emitters.find((contract) => contract === String(log.address).toLowerCase());
  if (!emitter || log.removed === true || hash32(log.blockHash) !== block.hash) {
    throw new MalformedAnswer("a log of another block or contract");
  }
  const place = {
    blockNumber: block.number,
    blockHash: block.hash,
    txHash: hash32(log.transactionHash),
    logIndex: count(log.logIndex),
  };
  return { emitter, place, topics: list(log.topics).map(hash32), data: log.data };
}

/** Null for other indexed fields than the events of our tokens have. */
function tokenLog({ emitter, place, topics, data }: RawLog): MoneyLog | null {
  const [event, first, second, ...more] = topics;
  if (!first || !second || more.length > 0) return null;
  const at = { ...place, token: emitter };
  if (event === TRANSFER) {
    const [from, to] = [addressInWord(first), addressInWord(second)];
    return { ...at, event: "transfer", from, to, amount: quantity(data) };
  }
  const authorization = { payer: addressInWord(first), nonce: second };
  if (event === AUTHORIZATION_USED) return { ...at, event: "authorization-used", ...authorization };
  if (event === AUTHORIZATION_CANCELED) return { ...at, event: "authorization-canceled", ...authorization };
  throw new MalformedAnswer("a log of another event");
}

/** Null for a payment in a token that was not asked for. */
function routedLog({ place, topics, data }: RawLog, tokens: readonly Address[]): MoneyLog | null {
  const [event, paymentRef, payer, paidIn, ...more] = topics;
  if (event !== PAYMENT_RECEIVED || !paymentRef || !payer || !paidIn || more.length > 0) {
    throw new MalformedAnswer("a log of another event");
  }
  const token = tokens.find((contract) => contract === addressInWord(paidIn));
  if (!token) return null;
  const words = hexData(data);
  if (words.length !== 2 + 2 * 64) throw new MalformedAnswer("no payee and amount");
  const payTo = addressInWord(hash32(words.slice(0, 66)));
  const amount = quantity(`0x${words.slice(66)}`);
  return { ...place, token, event: "routed", paymentRef, payer: addressInWord(payer), payTo, amount };
}
