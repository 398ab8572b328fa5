import type { Hex } from "#kernel/bytes";
import type { Clock } from "#kernel/clock";
import { type Fault, fault } from "#kernel/fault";
import type { Log } from "#kernel/log";
import type { ChainRow } from "../registry.ts";
import { allowance } from "./allowance.ts";
import { MalformedAnswer, quantity } from "./answer.ts";
import { type Post, postTo, type RawReply } from "./post.ts";

/** An error that a node gave as its answer. `data` is what a failed execution returned. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: Hex | null;
}
export type Reply<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: RpcError };
/** One request: `parse` throws on an answer of the wrong shape, which then counts as no answer. */
export interface Question<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly parse: (result: unknown) => T;
}
/** Told of every request that went out: for metrics. */
export type OnRpc = (method: string, ok: boolean, ms: number) => void;

/** One endpoint, tried once; null when it was silent. */
export type Source = <T>(question: Question<T>) => Promise<Reply<T> | null>;

export interface RpcClient {
  /** The answer of the first endpoint that gives a useful one. Rejects with `chain_unavailable`. */
  request<T>(question: Question<T>): Promise<T>;
  /** The same, with a node's own error as a value: it may be a verdict (a revert, an unknown block). */
  ask<T>(question: Question<T>): Promise<Reply<T>>;
  /** Single endpoints, the healthiest first, for what must not be mixed from several: all that do not rest, and of the
   *  others as many as it takes to have `least`. */
  sources(least: number): readonly Source[];
  /** The same by each of these alone, for what takes more than one question. */
  alone(least: number): readonly RpcClient[];
  /** The same by each of the other endpoints alone, those that do not rest, after the one that `ask` asks first. */
  others(): readonly RpcClient[];
  /** Whether more calls are left in this second than those that are kept for what moves money. */
  hasSpareCalls(): boolean;
  unavailable(cause: unknown): Fault;
}

interface Endpoint {
  /** Host only: a path or a query may carry a key. */
  readonly name: string;
  readonly send: Post;
  /** Whether it said the right chain id since it last failed. */
  verified: boolean;
  /** Since it last answered. */
  failures: number;
  restsUntilMs: number;
}
/** An endpoint that failed is asked last for this long, and twice as long each time that it fails again: one that is
 *  slow must not slow down every look at the chain. */
const REST_MS = { first: 5_000, most: 60_000 };
/** Errors about the endpoint, not about the question: another endpoint may answer. */
const TROUBLE = new Set([-32700, -32601, -32603, -32002, -32004, -32005, -32007, 429]);

/** Asks the chain's endpoints, one after the other. Rejects when one of them answers for another chain, and with
 *  `chain_unavailable` when none answers. */
export async function openClient(parts: {
  readonly row: ChainRow;
  readonly clock: Clock;
  readonly log: Log;
  readonly onRpc?: OnRpc | undefined;
}): Promise<RpcClient> {
  const { row, clock, log, onRpc } = parts;
  const endpoints = row.rpcUrls.map(endpointOf);
  const calls = allowance(clock, row.rpcPerSecond);
  const unavailable = (cause: unknown) => fault("chain_unavailable", { chain: row.slug }, cause);

  /** One request to one endpoint; an `Error` when nothing useful came back. Its message holds no URL. */
  async function send<T>(
    endpoint: Endpoint,
    { method, params, parse }: Question<T>,
  ): Promise<Reply<T> | Error> {
    calls.spend();
    const startedMs = clock.monotonicMs();
    let reply: Reply<T> | Error;
    try {
      const raw = await endpoint.send({ method, params });
      reply = raw.error ? { ok: false, error: errorOf(raw.error) } : { ok: true, value: parse(raw.result) };
    } catch (error) {
      reply = new Error(`${method} at ${endpoint.name}: ${shortly(error)}`);
    }
    onRpc?.(method, !(reply instanceof Error) && reply.ok, clock.monotonicMs() - startedMs);
    return reply;
  }

  async function verify(endpoint: Endpoint): Promise<Error | null> {
    const reply = await send(endpoint, { method: "eth_chainId", params: [], parse: quantity });
    if (reply instanceof Error) return reply;
    if (!reply.ok) return new Error(`eth_chainId at ${endpoint.name}: ${reply.error.message}`);
    if (reply.value !== BigInt(row.chainId)) return new WrongChain(row, endpoint.name, reply.value);
    endpoint.verified = true;
    return null;
  }

  async function tryOne<T>(endpoint: Endpoint, question: Question<T>): Promise<Reply<T> | Error> {
    const doubt = endpoint.verified ? null : await verify(endpoint);
    const reply = doubt ?? (await send(endpoint, question));
    if (reply instanceof Error) {
      if (reply instanceof WrongChain) log.error({ chain: row.slug }, reply.message);
      endpoint.verified = false;
    }
    const failed = reply instanceof Error || (!reply.ok && TROUBLE.has(reply.error.code));
    if (failed) sendToRest(endpoint);
    else Object.assign(endpoint, { failures: 0, restsUntilMs: 0 });
    return reply;
  }

  /** Questions that were under way together fail together: that is one failure. */
  function sendToRest(endpoint: Endpoint): void {
    const nowMs = clock.monotonicMs();
    if (endpoint.restsUntilMs > nowMs) return;
    endpoint.failures += 1;
    endpoint.restsUntilMs = nowMs + restMs(endpoint.failures);
  }

  function byHealth(): { readonly awake: readonly Endpoint[]; readonly resting: readonly Endpoint[] } {
    const nowMs = clock.monotonicMs();
    const rests = ({ restsUntilMs }: Endpoint) => restsUntilMs > nowMs;
    return { awake: endpoints.filter((endpoint) => !rests(endpoint)), resting: endpoints.filter(rests) };
  }

  async function askAmong<T>(among: readonly Endpoint[], question: Question<T>): Promise<Reply<T>> {
    let refusal: Reply<T> | null = null;
    let silence: Error | null = null;
    for (const endpoint of among) {
      const reply = await tryOne(endpoint, question);
      if (reply instanceof Error) silence = reply;
      else if (reply.ok || !TROUBLE.has(reply.error.code)) return reply;
      else refusal = reply;
    }
    if (refusal) return refusal;
    throw unavailable(silence);
  }

  const sourceOf =
    (endpoint: Endpoint): Source =>
    async (question) => {
      const reply = await tryOne(endpoint, question);
      return reply instanceof Error ? null : reply;
    };

  /** A client of those endpoints that `choose` names at the time of each question. */
  function clientOf(choose: () => ReturnType<typeof byHealth>): RpcClient {
    const ask: RpcClient["ask"] = (question) => {
      const { awake, resting } = choose();
      return askAmong([...awake, ...resting], question);
    };
    const atLeast = (least: number): readonly Endpoint[] => {
      const { awake, resting } = choose();
      return [...awake, ...resting.slice(0, Math.max(0, least - awake.length))];
    };
    const only = (endpoint: Endpoint) => clientOf(() => ({ awake: [endpoint], resting: [] }));
    return {
      ask,
      hasSpareCalls: calls.hasSpare,
      unavailable,
      async request(question) {
        const reply = await ask(question);
        if (reply.ok) return reply.value;
        throw unavailable(new Error(`${question.method}: ${reply.error.code} ${reply.error.message}`));
      },
      sources: (least) => atLeast(least).map(sourceOf),
      alone: (least) => atLeast(least).map(only),
      others: () => choose().awake.slice(1).map(only),
    };
  }

  const doubts = await Promise.all(endpoints.map(verify));
  const wrong = doubts.find((doubt) => doubt instanceof WrongChain);
  if (wrong) throw wrong;
  if (doubts.every((doubt) => doubt !== null)) throw unavailable(doubts[0]);
  return clientOf(byHealth);
}

/** A setting that would move money on the wrong chain. */
class WrongChain extends Error {
  constructor(row: ChainRow, endpoint: string, answered: bigint) {
    super(
      `FAREBOX_CHAINS, ${row.slug}: the endpoint ${endpoint} answers for chain id ${answered}, not ${row.chainId}. ` +
        `Set rpcUrls to an endpoint of chain ${row.chainId}, or correct chainId.`,
    );
    this.name = "WrongChain";
  }
}

function endpointOf(url: string): Endpoint {
  return { name: new URL(url).host, send: postTo(url), verified: false, failures: 0, restsUntilMs: 0 };
}

function restMs(failures: number): number {
  return Math.min(REST_MS.first * 2 ** (failures - 1), REST_MS.most);
}

function errorOf(error: NonNullable<RawReply["error"]>): RpcError {
  return {
    code: typeof error.code === "number" ? error.code : 0,
    message: typeof error.message === "string" ? error.message.slice(0, 200) : "",
    data: dataOf(error.data),
  };
}

/** Nodes put what an execution returned into `data` itself, into `data.data`, or behind a word. */
function dataOf(data: unknown): Hex | null {
  if (typeof data === "string") return (/0x(?:[0-9a-f]{2})*$/i.exec(data)?.[0].toLowerCase() as Hex) ?? null;
  return typeof data === "object" && data !== null && "data" in data ? dataOf(data.data) : null;
}

/** A message may quote what was asked; a name and a status do not. */
function shortly(error: unknown): string {
  if (!(error instanceof Error)) return "no answer";
  const status = "status" in error && typeof error.status === "number" ? ` ${error.status}` : "";
  return error instanceof MalformedAnswer ? error.message : `${error.name}${status}`;
}
