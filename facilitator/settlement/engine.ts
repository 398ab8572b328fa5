import type { Address } from "#kernel/bytes";
import type { Clock } from "#kernel/clock";
import { fault } from "#kernel/fault";
import type { NewId } from "#kernel/id";
import type { Log } from "#kernel/log";
import type { Database, Presence } from "#store";
import type { Chain, Custodian, DepositAccount, Operator, Rail, Signer } from "../chain/port.ts";

/** A chain this process may use, with its token rails as they were when they were last checked: at boot, then daily. */
export interface OpenChain {
  readonly chain: Chain;
  readonly rails: readonly Rail[];
  /** Why the configured router was refused at boot; the row has none then. */
  readonly routerProblem: string | null;
  /** Gas keys that may become lanes of this process; none in a process that only answers HTTP. */
  readonly signers: readonly Signer[];
  /** Signs what leaves the treasury; null in a process that sends nothing. */
  readonly custodian: Custodian | null;
  readonly operator: Operator;
  readonly depositAccount: DepositAccount;
  /** All lane addresses of the chain, for simulating as one of them. */
  readonly laneAddresses: readonly Address[];
}

/** Counters and timings; labels are closed sets. */
export interface Meter {
  count(name: MeterCount, labels?: Readonly<Record<string, string>>, by?: number): void;
  time(name: MeterStage, seconds: number): void;
}
export type MeterCount =
  | "settlements"
  | "verifications"
  | "batches"
  | "batch_items"
  | "replacements"
  | "reversals"
  | "unmatched"
  | "failed_items"
  | "wasted_gas_wei"
  | "gas_refusals"
  | "rpc_refusals"
  | "disagreements"
  | "loop_errors";
export type MeterStage = "verify" | "claim" | "dispatch" | "include" | "grant" | "final";

/** Where a scripted crash may strike: after each durable step and just before its commit. */
export type Checkpoint =
  | "before-claim"
  | "claimed"
  | "before-slot"
  | "slotted"
  | "sent"
  | "observed"
  | "before-credit"
  | "credited"
  | "before-grant"
  | "granted"
  | "before-final"
  | "final";

/** Everything the engine needs from outside. */
export interface Engine {
  readonly db: Database;
  /** For what every payment is looked up by, new or asked for again: one statement for many of them. */
  readonly lookupDb: Database;
  /** For searches by anybody, without a key: a flood of them waits for its own connections. */
  readonly searchDb: Database;
  /** For the money loops; apart from the pool of requests, so that neither starves the other. */
  readonly loopDb: Database;
  readonly chains: ReadonlyMap<number, OpenChain>;
  readonly clock: Clock;
  /** By which what merchants sell comes to its end, where that is another one: a sandbox's can be moved. */
  readonly merchantClock?: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly meter: Meter;
  readonly checkpoint: (step: Checkpoint) => Promise<void>;
  /** This process, in leases. */
  readonly holder: string;
  /** Shows the others, by that name, that this process lives. Left out, its leases end by time alone. */
  readonly presence?: Presence;
  readonly settings: Settings;
}

export interface Settings {
  readonly leaseSeconds: number;
  /** Longest wait of a settle, whatever the payable allows. */
  readonly maxWaitMs: number;
  /** Longest that a success waits for the house to follow it. */
  readonly toldWithinMs: number;
  readonly pollMs: number;
  /** A settle is late after `ms`, or after so many blocks of its chain where that is longer. Where more than `most` are, new
   *  ones wait outside, for `outsideMs` at most. */
  readonly late: {
    readonly ms: number;
    readonly blocks: number;
    readonly most: number;
    readonly outsideMs: number;
  };
  /** Unmined slots per lane at rest, and under backlog. */
  readonly window: { readonly calm: number; readonly busy: number };
  /** Blocks before a stuck transaction is replaced; doubles with each replacement. */
  readonly patienceBlocks: number;
  readonly maxReplacements: number;
  readonly maxAttempts: number;
  /** Seconds for which a sweep waits for spare room in a payment's transaction before it goes alone. */
  readonly sweepPatienceSeconds: { readonly local: number; readonly elsewhere: number };
}

export const defaultSettings: Settings = {
  leaseSeconds: 15,
  maxWaitMs: 25_000,
  toldWithinMs: 500,
  pollMs: 100,
  // Longer than a restart of the database or the end of a process takes, and far shorter than callers wait. A few may be late
  // by themselves: theirs are payments that hang. One who waits outside costs little; one who is sent away at once comes
  // again at once.
  late: { ms: 10_000, blocks: 4, most: 100, outsideMs: 5_000 },
  window: { calm: 4, busy: 16 },
  patienceBlocks: 3,
  maxReplacements: 6,
  maxAttempts: 3,
  sweepPatienceSeconds: { local: 1, elsewhere: 1_800 },
};

/** When it is for those who sell. */
export function sellersNow({ merchantClock, clock }: Pick<Engine, "merchantClock" | "clock">): Date {
  return (merchantClock ?? clock).now();
}

/** The chain of this slug, where it is served. */
export function namedChain(chains: Engine["chains"], slug: string): OpenChain | undefined {
  return [...chains.values()].find(({ chain }) => chain.row.slug === slug);
}

/** The chain of this id. Fault: `chain_unavailable` where it is not served any more: what is there waits until it is. */
export function servedChain(chains: Engine["chains"], chainId: number): OpenChain {
  const open = chains.get(chainId);
  if (!open) throw fault("chain_unavailable", { chain: `eip155:${chainId}` });
  return open;
}
