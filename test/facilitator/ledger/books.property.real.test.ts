/** Random events in random orders against a model of the books that fits on a page. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { account, post, resolvePending, trialBalance } from "#ledger";
import { sqlState } from "#store";
import { type Entry, entry, pending, single } from "../../../facilitator/ledger/transfer.ts";
import { sharedDatabase } from "../../support/db.ts";
import { differences } from "./rows.ts";

const books = sharedDatabase();

const ACCOUNTS = 6;
const accountsOf = (asset: string) => [
  account.treasury(asset),
  account.unmatched(asset),
  account.merchantAvailable("mer_a", asset),
  account.merchantAvailable("mer_b", asset),
  account.fees(asset),
  account.funding(asset),
];

const leg = fc
  .record({
    debit: fc.nat({ max: ACCOUNTS - 1 }),
    credit: fc.nat({ max: ACCOUNTS - 1 }),
    amount: fc.oneof(fc.bigInt(1n, 20n), fc.bigInt(1n, 10n ** 30n)),
    phase: fc.constantFrom("single", "pending"),
  })
  .filter(({ debit, credit }) => debit !== credit);
/** `at` points into the events so far, whatever their number. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("post"), legs: fc.array(leg, { minLength: 1, maxLength: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("repeat"), at: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("settle", "void"), at: fc.nat() }) },
);
type Leg = typeof leg extends fc.Arbitrary<infer T> ? T : never;

interface Sides {
  debitsPosted: bigint;
  creditsPosted: bigint;
  debitsPending: bigint;
  creditsPending: bigint;
}
type Model = Map<string, Sides>;

const nothing = (): Sides => ({ debitsPosted: 0n, creditsPosted: 0n, debitsPending: 0n, creditsPending: 0n });

/** The books after these transfers; null when a bounded account would be overdrawn. */
function applied(model: Model, transfers: Entry["transfers"], phase?: "post" | "void"): Model | null {
  const next: Model = new Map([...model].map(([path, sides]) => [path, { ...sides }]));
  const touched = new Set<account.Account>();
  for (const transfer of transfers) {
    const how = phase ?? transfer.phase;
    const posted = how === "single" || how === "post" ? transfer.amount : 0n;
    const waiting = how === "pending" ? transfer.amount : how === "single" ? 0n : -transfer.amount;
    const debit = next.get(transfer.debit.path) ?? nothing();
    next.set(transfer.debit.path, debit);
    debit.debitsPosted += posted;
    debit.debitsPending += waiting;
    const credit = next.get(transfer.credit.path) ?? nothing();
    next.set(transfer.credit.path, credit);
    credit.creditsPosted += posted;
    credit.creditsPending += waiting;
    touched.add(transfer.debit).add(transfer.credit);
  }
  for (const { path, bounded } of touched) {
    const sides = next.get(path) ?? nothing();
    if (bounded && sides.debitsPosted + sides.debitsPending > sides.creditsPosted) return null;
  }
  return next;
}

let run = 0;

class Run {
  readonly asset = `USDC@run-${++run}`;
  readonly events: { readonly entry: Entry; resolved?: "post" | "void" }[] = [];
  model: Model = new Map();
  #count = 0;

  newEvent(legs: readonly Leg[]): Entry {
    const accounts = accountsOf(this.asset);
    this.#count += 1;
    const about = {
      code: "test",
      eventKey: `${this.asset}:${this.#count}`,
      subject: null,
      blockNumber: null,
    };
    return entry(
      about,
      legs.map(({ debit, credit, amount, phase }, at) => {
        const [from, to] = [accounts[debit], accounts[credit]];
        if (!from || !to) throw new Error("no such account");
        return (phase === "single" ? single : pending)(`leg-${at}`, { debit: from, credit: to, amount });
      }),
    );
  }

  async post(legs: readonly Leg[]): Promise<void> {
    const event = this.newEvent(legs);
    const next = applied(this.model, event.transfers);
    const outcome = await books.db.tx((tx) => post(tx, [event])).then(([how]) => how, sqlState);
    expect(outcome).toBe(next ? "created" : "23514");
    if (!next) return;
    this.model = next;
    this.events.push({ entry: event });
  }

  async repeat(at: number): Promise<void> {
    const known = this.events[at % this.events.length];
    if (known) expect(await books.db.tx((tx) => post(tx, [known.entry]))).toEqual(["exists"]);
  }

  async resolve(at: number, how: "post" | "void"): Promise<void> {
    const known = this.events[at % this.events.length];
    if (!known) return;
    const waiting = known.entry.transfers.filter(({ phase }) => phase === "pending");
    const work = books.db.tx((tx) => resolvePending(tx, how, [known.entry.eventKey]));
    if (waiting.length === 0) return expect(work).rejects.toThrow("no pending transfers");
    if (known.resolved && known.resolved !== how) return expect(work).rejects.toThrow();
    await work;
    if (known.resolved) return;
    known.resolved = how;
    const next = applied(this.model, waiting, how);
    if (!next) throw new Error("a resolution overdrew an account");
    this.model = next;
  }

  /** What `trialBalance` should say. */
  expected() {
    return accountsOf(this.asset)
      .flatMap(({ path, type }) => {
        const sides = this.model.get(path);
        if (!sides) return [];
        const sign = type === "asset" || type === "expense" ? 1n : -1n;
        const posted = sign * (sides.debitsPosted - sides.creditsPosted);
        const waiting = sign * (sides.debitsPending - sides.creditsPending);
        return [{ path, type, asset: this.asset, posted, pending: waiting }];
      })
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}

it("whatever happens in whatever order, balances are the fold of the transfers and every asset adds up to zero", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      const it = new Run();
      for (const each of steps) {
        if ("legs" in each) await it.post(each.legs);
        else if (each.kind === "repeat") await it.repeat(each.at);
        else await it.resolve(each.at, each.kind === "void" ? "void" : "post");
      }
      const rows = (await trialBalance(books.db.pool)).filter(({ asset }) => asset === it.asset);
      const touched = it.expected();
      expect(rows).toEqual(touched);
      const total = (column: "posted" | "pending") =>
        rows.reduce((sum, row) => sum + (/asset|expense/.test(row.type) ? row[column] : -row[column]), 0n);
      expect([total("posted"), total("pending")]).toEqual([0n, 0n]);
    }),
    { numRuns: 250 },
  );
  expect(await differences(books)).toEqual({});
});
