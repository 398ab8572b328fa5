/** Processes of the service over the simulated parts: each with its own clock, endpoint and pools. */
import { createFacilitator, type Engine, type Running } from "#facilitator";
import { type Address, hash } from "#kernel/bytes";
import type { Clock } from "#kernel/clock";
import { idMaker } from "#kernel/id";
import type { LogFields } from "#kernel/log";
import { type Database, outbox } from "#store";
import { defaultSettings } from "../../../facilitator/settlement/engine.ts";
import { databaseOn } from "../../../facilitator/store/db.ts";
import type { Choices } from "../../property/payments/random.ts";
import { endpointOf, type Surroundings, type View } from "./endpoint.ts";
import { simulatedCustodian, simulatedSigner, treasury } from "./keys.ts";
import { SimulatedPool, type Wiring } from "./pool.ts";
import type { Owner } from "./scheduler.ts";

export interface Parts extends Wiring, Surroundings {
  /** Payers who have become contracts: what their keys signed may be refused with every right. */
  readonly contracts: Set<Address>;
  /** Gas keys: mostly one, since each costs its own rounds. */
  readonly lanes: readonly Address[];
  /** Told of a loop's step that failed by no fault of the world's. */
  readonly failed: (what: string) => void;
  /** Told of facts in the transaction that marks them as delivered. */
  readonly hear: (facts: readonly outbox.Fact[]) => void;
}

export class Process implements Owner {
  readonly name: string;
  skewMs: number;
  readonly view: View = { side: null, behind: 0, lastRead: null };
  readonly running: Running;
  readonly db: Database;
  isAlive = true;
  isStalled = false;
  readonly #pools: readonly SimulatedPool[];
  readonly #parts: Parts;

  constructor(parts: Parts, name: string, skewMs: number) {
    this.name = name;
    this.skewMs = skewMs;
    this.#parts = parts;
    const [requests, loops] = [new SimulatedPool(parts, this), new SimulatedPool(parts, this)];
    this.#pools = [requests, loops];
    this.db = databaseOn(requests as never);
    this.running = createFacilitator(this.#engine(databaseOn(loops as never)));
    this.running.start({ moneyLoops: true });
  }

  #engine(loopDb: Database): Engine {
    const { row, signatures, scheduler, chance, lanes } = this.#parts;
    const clock: Clock = {
      now: () => new Date(scheduler.now + this.skewMs),
      monotonicMs: () => scheduler.now - scheduler.start,
      sleep: (ms, signal) => scheduler.sleep(this, ms, signal),
    };
    const open = {
      chain: endpointOf(this.#parts, this, this.view),
      rails: row.tokens.map((token) => ({
        ok: true as const,
        token,
        domain: domainOf(row),
        hasBytesOverload: true,
        codeHash: hash(`0x${"0".repeat(64)}`),
        paused: null,
      })),
      routerProblem: null,
      signers: lanes.map(simulatedSigner),
      custodian: simulatedCustodian(signatures as Map<string, typeof treasury>),
      operator: { address: treasury, sign: () => Promise.reject(new Error("no orders are signed here")) },
      depositAccount: { addressOf: () => treasury, sign: null },
      laneAddresses: lanes,
    };
    const warn = (fields: LogFields, message: string) => {
      const bug = bugIn(fields, message);
      if (bug) this.#parts.failed(`${this.name}: ${bug}`);
    };
    return {
      db: this.db,
      lookupDb: this.db,
      searchDb: this.db,
      loopDb,
      chains: new Map([[row.chainId, open]]),
      clock,
      newId: idMaker({ clock, random: { bytes: (length) => bytesOf(chance, length) } }),
      log: { info() {}, warn, error: warn },
      meter: { count() {}, time() {} },
      checkpoint: () => Promise.resolve(),
      holder: this.name,
      settings: defaultSettings,
    };
  }

  /** All that it had in hand is dropped; its leases stay. */
  async kill(): Promise<void> {
    this.#parts.scheduler.kill(this);
    for (const pool of this.#pools) await pool.abandon();
  }

  /** Tells the facts that wait. */
  async tellFacts(): Promise<void> {
    const { hear, failed } = this.#parts;
    const tell = async (tx: Parameters<Running["hear"]>[0], facts: readonly outbox.Fact[]) => {
      await this.running.hear(tx, facts);
      hear(facts);
    };
    try {
      await outbox.deliver(this.db, 200, tell);
    } catch (error) {
      const bug = bugIn(fieldsOf(error), "facts could not be told");
      if (bug) failed(bug);
    }
  }
}

export function domainOf({ chainId, tokens }: Surroundings["row"]) {
  const [token] = tokens;
  if (!token) throw new Error("a chain without tokens");
  return { name: "USDC", version: "2", chainId, verifyingContract: token.contract };
}

function bytesOf(chance: Choices, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => chance.below(256));
}

const INJECTED = /^(53300|57014|40001|40P01|25P02)$/;
const OUTAGE = /^(commit_unknown|database_unavailable|chain_unavailable|Connection terminated unexpectedly)/;
const LOUD = /a loop's step failed|facts could not be told|foreign use|replaced blocks|books differ/;

/** What a log line or error tells of a bug; null when the world's faults explain it. */
function bugIn(fields: LogFields, message: string): string | null {
  if (!LOUD.test(message)) return null;
  const isOutage = INJECTED.test(`${fields.code}`) || OUTAGE.test(`${fields.message}`);
  const isLostQuery = "loop" in fields && fields.code === undefined && fields.message === undefined;
  return isOutage || isLostQuery ? null : `${message} ${JSON.stringify(fields)}`;
}

function fieldsOf(error: unknown): LogFields {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, message } = cause as { code?: string; message?: string };
  return { code, message };
}
