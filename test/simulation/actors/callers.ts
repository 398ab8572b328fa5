/** Callers: they verify, settle, repeat, hang up and lose answers; each ask is looked at when it is answered. */
import { errorFields } from "#kernel/log";
import { outageOf } from "#store";
import { checkAnswer, checkVerdict, isToRest, rests } from "../oracles/answers.ts";
import { Violation } from "../oracles/violation.ts";
import type { Parts, Process } from "../parts/house.ts";
import { type Asked, mannerOf, type Payment, requestFor, type Sale, signPayment } from "./payments.ts";

/** Most payments of a seed: few, so that many seeds fit into a minute. */
const MOST_PAYMENTS = 4;

export class Callers {
  readonly payments: Payment[] = [];
  readonly #parts: Parts;
  readonly #sales: readonly Sale[];
  readonly #checks: (() => Promise<void>)[] = [];
  readonly #waiting = new Set<AbortController>();
  #requests = 0;

  constructor(parts: Parts, sales: readonly Sale[]) {
    this.#parts = parts;
    this.#sales = sales;
  }

  /** Somebody signs, as far as the seed has room. */
  sign(): Payment | null {
    if (this.payments.length >= MOST_PAYMENTS) return null;
    const payment = signPayment(this.#parts, this.#sales, this.payments);
    this.payments.push(payment);
    const { name, sale, terms } = payment;
    this.#parts.scheduler.note(name, `is signed for ${sale.id} until ${terms.validBefore}`);
    return payment;
  }

  /** Somebody signs and asks. */
  begin(at: Process): void {
    const { chance } = this.#parts;
    const payment = this.sign();
    if (!payment) return;
    if (chance.chance(0.3)) this.verify(at, payment);
    else this.ask(at, payment, payment.idempotencyKey ? "with-id" : "plain");
  }

  repeat(at: Process): void {
    const { chance } = this.#parts;
    const [known] = this.payments.length > 0 ? [chance.of(this.payments)] : [];
    if (!known) return;
    if (chance.chance(0.25)) this.verify(at, known);
    else this.ask(at, known, mannerOf(this.#parts, known));
  }

  ask(at: Process, payment: Payment, manner: Asked["manner"]): Asked {
    const { scheduler, faults } = this.#parts;
    const asked = this.#asked(payment, manner);
    payment.asked.push(asked);
    const closed = new AbortController();
    this.#waiting.add(closed);
    scheduler.note(payment.name, `settle ${manner} ${asked.requestId} at ${at.name}`);
    const { facilitator } = at.running;
    facilitator
      .settle(requestFor(this.#parts, payment, asked), { closed: closed.signal })
      .then((answer) => {
        this.#waiting.delete(closed);
        asked.answer = answer;
        asked.isOpen = false;
        scheduler.note(payment.name, `${asked.requestId} is told ${answer.outcome} ${answer.reason ?? ""}`);
        this.#checks.push(() => checkAnswer(this.#parts.backend, payment, asked, answer));
        if (answer.outcome !== "settled" || answer.replayed || manner === "with-id") return;
        if (faults.strikes("answer-not-delivered", 30)) this.#release(at, asked, answer.paymentId ?? "");
      })
      .catch((error) => {
        this.#waiting.delete(closed);
        asked.isOpen = false;
        this.#failed(`settle ${asked.requestId}`, error, payment);
      });
    return asked;
  }

  /** Some answers of success get lost on their last way: who was told so may be told again. */
  lastLosses([at]: readonly Process[]): void {
    const { chance, faults } = this.#parts;
    for (const asked of at ? this.payments.flatMap((payment) => payment.asked) : []) {
      const { answer, manner, released } = asked;
      if (!at || released !== "no" || manner === "with-id" || !chance.chance(0.8)) continue;
      if (answer?.outcome !== "settled" || answer.replayed) continue;
      faults.count("answer-not-delivered");
      this.#release(at, asked, answer.paymentId ?? "");
    }
  }

  /** Who was never told of a success asks once more; so do some who were. */
  lastAsks([at]: readonly Process[]): void {
    const { chance, faults } = this.#parts;
    for (const payment of at ? this.payments : []) {
      const was = payment.asked.some(
        ({ answer, released }) => answer?.outcome === "settled" && released === "no",
      );
      const isPaid = payment.asked.length > 0;
      if (at && isPaid && !was) payment.lastAsk = this.ask(at, payment, "plain");
      else if (at && isPaid && chance.chance(0.3)) {
        faults.count("repeat");
        this.ask(at, payment, "plain");
      }
    }
  }

  #asked(payment: Payment, manner: Asked["manner"]): Asked {
    this.#requests += 1;
    const others = this.#sales.filter(
      ({ id, amount }) => id !== payment.sale.id && amount === payment.sale.amount,
    );
    const sale =
      manner === "other-payable" && others.length > 0 ? this.#parts.chance.of(others) : payment.sale;
    return { manner, sale, requestId: `r${this.#requests}`, answer: null, isOpen: true, released: "no" };
  }

  /** Nobody got the answer: whoever asks next may be told. */
  #release(at: Process, asked: Asked, paymentId: string): void {
    this.#parts.scheduler.note(asked.requestId, "never arrives");
    at.running.facilitator
      .releaseGrant(paymentId, asked.requestId)
      .then(() => {
        asked.released = "yes";
      })
      .catch((error) => {
        asked.released = "perhaps";
        if (!outageOf(error)) this.#failed("a release", error);
      });
  }

  verify(at: Process, payment: Payment, manner = mannerOf(this.#parts, payment)): void {
    const { scheduler } = this.#parts;
    const asked = this.#asked(payment, manner);
    scheduler.note(payment.name, `verify ${manner} at ${at.name}`);
    at.running.facilitator
      .verify(requestFor(this.#parts, payment, asked))
      .then((answer) => {
        scheduler.note(payment.name, `verify ${manner}: ${answer.outcome}`);
        const isKeys = !this.#parts.contracts.has(payment.payer.address);
        this.#checks.push(async () => checkVerdict(payment, { manner, isKeys }, answer));
      })
      .catch((error) => this.#failed("verify", error, payment));
  }

  /** Who has no answer yet, and may go away. */
  get waiting(): readonly AbortController[] {
    return [...this.#waiting];
  }

  hangUp(): void {
    const { chance, faults } = this.#parts;
    if (this.waiting.length > 0 && faults.strikes("hang-up", 9)) chance.of(this.waiting).abort();
  }

  #failed(what: string, error: unknown, payment?: Payment): void {
    const { backend, row, scheduler } = this.#parts;
    this.#checks.push(async () => {
      if (payment && isToRest(error) && (await rests(backend, row.chainId, payment))) {
        scheduler.note(payment.name, `${what}: its payer is told to rest`);
        return;
      }
      throw new Violation("no-bug", `${what} threw ${JSON.stringify(errorFields(error))}`);
    });
  }

  /** Looks at what was answered since the last time. */
  async check(): Promise<void> {
    for (const check of this.#checks.splice(0)) await check();
  }
}
