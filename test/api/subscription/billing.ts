/** Merchants and their subscriptions without a chain: a clock that is set, turns and facts when the test says so. */
import { beforeEach } from "vitest";
import type { Clock } from "#kernel/clock";
import { systemClock } from "#kernel/system";
import { type Database, outbox } from "#store";
import { projectPayable } from "../../../facilitator/payable/project.ts";
import type { TestDatabase } from "../../support/db.ts";
import { type Answer, type Caller, caller, newCaller } from "../caller.ts";
import { fakeFacilitator, world } from "../world.ts";

export interface SetClock extends Clock {
  set(at: string): void;
  forward(ms: number): void;
}
export function setClock(start: string): SetClock {
  let at = new Date(start).getTime();
  return {
    now: () => new Date(at),
    monotonicMs: () => systemClock.monotonicMs(),
    sleep: systemClock.sleep,
    set(to) {
      at = new Date(to).getTime();
    },
    forward(ms) {
      at += ms;
    },
  };
}

/** What a worker is that is killed now and then: its transaction did everything, and never committed. */
export function killed(db: Database, kills: () => boolean): Database {
  let dead = 0;
  return {
    ...db,
    // Who is dead tidies nothing up.
    get pool() {
      if (dead === 0) return db.pool;
      dead -= 1;
      throw new Error("killed");
    },
    tx: (work) =>
      db.tx(async (tx) => {
        const done = await work(tx);
        if (!kills()) return done;
        dead += 1;
        throw new Error("killed before its commit");
      }),
  };
}

/** A process of the service: its app, and the turns it would take. */
export function worker({ db }: { readonly db: Database }, time: Clock) {
  const facilitator = fakeFacilitator({ project: projectPayable });
  const mail = {
    mailer: { send: () => Promise.reject(new Error("nothing is sent here")) },
    from: "no-reply@pay.example",
  };
  const api = world({ db, time, facilitator, mail, isSandbox: true });
  const loop = (name: string) => {
    const found = api.loops.find((each) => each.name === name);
    if (!found) throw new Error(`there is no loop ${name}`);
    return found;
  };
  async function rest(name: string): Promise<number> {
    let total = 0;
    for (let done = 1; done > 0; total += done) done = await loop(name).turn();
    return total;
  }
  return {
    ...api,
    /** One turn of a loop. */
    turn: (name: string) => loop(name).turn(),
    /** Turns until there is nothing left to do. */
    rest,
    bill: () => rest("subscriptions"),
    /** Due dates, reminders, ends, and everybody who hears of them. */
    async settle(): Promise<void> {
      for (let moved = 1; moved > 0; ) {
        moved = (await rest("invoices-due")) + (await rest("subscriptions-end"));
        moved += await outbox.deliver(db, 500, async (tx, facts) => {
          for (const hear of api.hearers) await hear(tx, facts);
        });
        moved += await rest("invoices");
      }
    },
  };
}
type Worker = ReturnType<typeof worker>;

/** For each test a clock of its own and one worker that goes by it. Empty until the first test begins. */
export function freshBilling(
  database: TestDatabase,
  start = "2027-12-31T10:00:00.000Z",
): { readonly time: SetClock; readonly house: Worker } {
  const [time, house] = [{} as SetClock, {} as Worker];
  beforeEach(() => {
    Object.assign(time, setClock(start));
    Object.assign(house, worker(database, time));
  });
  return { time, house };
}

let keys = 0;
// biome-ignore lint/suspicious/noExplicitAny: answers off the wire, compared whole by the tests
type Body = any;

/** A merchant of its own, who calls one worker. */
export async function newBiller({ db }: TestDatabase, { app }: Worker, given?: Caller) {
  const owner = given ?? (await newCaller(db));
  const call = caller(app, owner);
  const ask = (method: string, path: string, body?: unknown, headers = {}): Promise<Answer> => {
    keys += 1;
    return call(method, path, {
      headers: { "idempotency-key": `key-${keys}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
  };
  const must = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await ask(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  return {
    ...owner,
    ask,
    must,
    subscribe: (over: Record<string, unknown> = {}): Promise<Body> =>
      must("POST", "/v1/subscriptions", {
        customer: { name: "Ada", email: "ada@buyer.example" },
        description: "Hosting",
        amount: { amount: "10.00", asset: "USD" },
        interval: "month",
        ...over,
      }),
    read: (id: string): Promise<Body> => must("GET", `/v1/subscriptions/${id}`),
    /** First and last day of each cycle that was issued, oldest first. */
    async periods(id: string): Promise<readonly string[]> {
      const { cycles } = await must("GET", `/v1/subscriptions/${id}`);
      return cycles
        .map(
          ({ cycle }: Body) => `${cycle.index}: ${cycle.startsAt.slice(0, 10)} ${cycle.endsAt.slice(0, 10)}`,
        )
        .reverse();
    },
  };
}

/** Of an invoice: the reminders that went out. */
export async function remindersOf(database: TestDatabase, invoiceId: string): Promise<readonly unknown[]> {
  return (await facts(database, invoiceId))
    .filter(({ type }) => type === "invoice.reminder_due")
    .map(({ payload }) => payload.template);
}

export async function facts(
  { query }: TestDatabase,
  subject: string,
): Promise<readonly { readonly type: string; readonly payload: Body }[]> {
  return query("SELECT type, payload FROM outbox WHERE subject = $1 ORDER BY sequence", [subject]);
}
