/** What payers, strangers, miners and endpoints do. */
import type { Address, Hash, Hex } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import type { Call } from "../../../facilitator/chain/port.ts";
import { keyCall } from "../../../facilitator/scheme/exact-evm/call.ts";
import type { FaultKind } from "../parts/faults.ts";
import { domainOf, type Parts, type Process } from "../parts/house.ts";
import { decodeRaw, signTerms, stranger, type Terms, treasury } from "../parts/keys.ts";
import { FINAL_AFTER, pathBack, type Transaction } from "../parts/node.ts";
import type { Said, Token } from "../parts/token.ts";
import type { Payment } from "./payments.ts";

export class World {
  readonly #parts: Parts;
  readonly #token: Address;
  #transactions = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#token = domainOf(parts.row).verifyingContract;
  }

  #hash(): Hash {
    this.#transactions += 1;
    return sha256(`${this.#parts.row.slug} transaction ${this.#transactions}`);
  }

  #enqueue(transaction: Pick<Transaction, "calls" | "effect">): void {
    this.#parts.tree.waiting.push({ hash: this.#hash(), lane: null, ...transaction });
  }

  #effect(effect: (token: Token) => readonly Said[] | null): void {
    this.#enqueue({ calls: [], effect });
  }

  get #time(): number {
    return Math.floor(this.#parts.scheduler.now / 1000);
  }

  mine(processes: readonly Process[]): void {
    const { tree, faults, scheduler } = this.#parts;
    tree.mine(this.#time, () => faults.strikes("late-inclusion", 3));
    for (const { view } of processes) {
      if (!view.side) continue;
      // A branch that falls behind is left before what it shows could be final.
      const length = pathBack(view.side, FINAL_AFTER).findIndex(({ ref }) => isOn(tree.tip, ref.hash));
      if (length === -1 || length + 1 >= FINAL_AFTER) view.side = null;
      else view.side = tree.build(view.side, this.#time, tree.waiting);
      if (view.side && tree.tip.ref.number - view.side.ref.number >= FINAL_AFTER - 1) view.side = null;
    }
    scheduler.note("chain", `mines ${tree.tip.ref.number}: ${tree.tip.transactions.length} transactions`);
  }

  /** One endpoint follows another branch from the last common block on, or comes back. */
  forkView({ view, name }: Process): void {
    const { tree, faults, scheduler } = this.#parts;
    if (view.side) view.side = null;
    else if (tree.tip.parent?.parent && faults.strikes("forked-view", 6))
      view.side = tree.build(tree.build(tree.tip.parent, this.#time, []), this.#time, []);
    scheduler.note("chain", `${name} sees ${view.side ? "a branch of its own" : "the chain"}`);
  }

  /** Who wins may have heard of a stranger's transaction that the others never had. */
  reorg(processes: readonly Process[], payments: readonly Payment[]): void {
    const { faults } = this.#parts;
    if (!faults.strikes("reorg", 6) || processes.some(({ view }) => view.side)) return;
    for (const payment of payments) if (faults.strikes("front-run", 2)) this.#comeWithMoney(payment);
    this.#forkSomewhere(() => faults.strikes("reorg-that-loses", 9));
  }

  /** The last fault of all, in a world that has come to rest. */
  lastReorg(share: number): boolean {
    const { faults, chance } = this.#parts;
    if (!chance.chance(share)) return false;
    faults.count("reorg");
    this.#forkSomewhere(() => {
      const isLost = chance.chance(0.3);
      if (isLost) faults.count("reorg-that-loses");
      return isLost;
    });
    return true;
  }

  #forkSomewhere(isLost: () => boolean): void {
    this.fork(1 + this.#parts.chance.below(FINAL_AFTER - 1), isLost);
  }

  /** The last `depth` blocks leave, as far as there are so many. */
  fork(depth: number, isLost: (transaction: Transaction) => boolean): void {
    const { tree, scheduler } = this.#parts;
    if (pathBack(tree.tip, depth).length < depth) return;
    tree.fork(depth, this.#time, isLost);
    scheduler.note("chain", `another branch wins, ${depth} blocks leave; now at ${tree.tip.ref.number}`);
  }

  dropTransaction(): void {
    const { tree, faults, chance, scheduler } = this.#parts;
    if (tree.waiting.length === 0 || !faults.strikes("mempool-drop", 9)) return;
    const gone = chance.of(tree.waiting);
    tree.waiting = tree.waiting.filter((each) => each !== gone);
    scheduler.note("chain", `drops ${gone.hash.slice(0, 8)}`);
  }

  /** The last one of its kind: what is under way when everything calms down is forgotten by the chain. */
  lastDrop(): void {
    const { tree, faults, chance } = this.#parts;
    if (!chance.chance(0.3)) return;
    const ours = tree.waiting.filter(({ lane }) => lane);
    for (const _ of ours) faults.count("mempool-drop");
    tree.waiting = tree.waiting.filter(({ lane }) => !lane);
  }

  /** A stranger comes late with what a payer once signed. */
  lastStranger(payments: readonly Payment[], share: number): void {
    const { faults, chance } = this.#parts;
    for (const payment of payments) {
      if (!chance.chance(share)) continue;
      faults.count("front-run");
      this.#comeWithMoney(payment);
    }
  }

  /** By then its payer has the money, whatever became of it. */
  #comeWithMoney(payment: Payment): void {
    this.#parts.scheduler.note(payment.name, "is funded and submitted by a stranger");
    this.fund(payment);
    this.submit(payment);
  }

  /** Something that a payer or a stranger may do. */
  meddle(payment: Payment): void {
    const { faults, scheduler } = this.#parts;
    const acts: readonly (readonly [FaultKind, (payment: Payment) => void])[] = [
      ["front-run", (it) => this.submit(it)],
      ["cancel", (it) => this.cancel(it)],
      ["drain", (it) => this.drain(it)],
      ["second-signature", (it) => this.signTwice(it, this.#otherTerms(it))],
      ["payer-gains-code", (it) => this.gainCode(it)],
    ];
    for (const [kind, act] of acts) {
      if (!faults.strikes(kind, kind === "payer-gains-code" ? 1 : 5)) continue;
      scheduler.note(payment.name, kind);
      act(payment);
    }
  }

  /** A payer takes back at the last moment what is on its way. */
  lastMeddling(payments: readonly Payment[]): void {
    const { chance, faults, scheduler } = this.#parts;
    for (const payment of payments) {
      if (!chance.chance(0.15)) continue;
      const kind = chance.of(["cancel", "second-signature"] as const);
      faults.count(kind);
      scheduler.note(payment.name, kind);
      if (kind === "cancel") this.cancel(payment);
      else this.signTwice(payment, this.#otherTerms(payment));
    }
  }

  #call({ payer, terms, signature }: Pick<Payment, "payer" | "terms" | "signature">): Call {
    return keyCall(this.#token, { method: "eip3009", payer: payer.address, ...terms, signature });
  }

  /** A stranger is faster than we are. */
  submit(payment: Payment): void {
    this.#enqueue({ calls: [this.#call(payment)] });
  }

  /** Bytes of ours are known to more than those whom we sent them to. */
  async submitOurs(): Promise<void> {
    const { backend, row, tree, scheduler } = this.#parts;
    const open = await backend.look<{ raw: Hex }>(
      `SELECT '0x' || encode(raw, 'hex') AS raw FROM attempt JOIN slot ON slot.id = slot_id
       WHERE chain_id = $1 AND open ORDER BY attempt.created_at, seq`,
      [row.chainId],
    );
    for (const { raw } of open) tree.admit(decodeRaw(raw));
    scheduler.note("chain", `has ${open.length} of ours from a stranger`);
  }

  cancel({ payer, terms: { nonce } }: Payment): void {
    const token = this.#token;
    this.#effect((state) => {
      if (state.isUsed(payer.address, nonce)) return null;
      state.used.add(payer.address + nonce);
      return [{ event: "authorization-canceled", token, payer: payer.address, nonce }];
    });
  }

  drain({ payer }: Payment): void {
    this.#effect((state) => {
      const held = state.balanceOf(payer.address);
      return held === 0n ? null : state.move(this.#token, payer.address, stranger, held);
    });
  }

  /** The payer gets money back from somebody. */
  fund({ payer, sale }: Payment): void {
    this.#effect((state) =>
      state.balanceOf(stranger) < sale.amount
        ? null
        : state.move(this.#token, stranger, payer.address, sale.amount),
    );
  }

  /** Money without any authorization. */
  transfer({ payer }: Payment): void {
    this.#effect((state) =>
      state.balanceOf(payer.address) < 7n ? null : state.move(this.#token, payer.address, treasury, 7n),
    );
  }

  #otherTerms({ terms }: Payment): Partial<Terms> {
    return this.#parts.chance.chance(0.5) ? { value: terms.value / 2n } : { payTo: stranger };
  }

  /** The same nonce for other terms, which a stranger submits. */
  signTwice(payment: Payment, other: Partial<Terms>): void {
    const { row, signatures } = this.#parts;
    const terms = { ...payment.terms, ...other };
    const signature = signTerms(payment.payer, domainOf(row), terms, signatures as Map<string, Address>);
    this.#enqueue({ calls: [this.#call({ ...payment, terms, signature })] });
  }

  /** Before anybody is shown a payment, its payer has moved less with its nonce. */
  spendFirst(payment: Payment): void {
    this.#parts.scheduler.note(payment.name, "spent-first");
    this.signTwice(payment, { value: payment.terms.value / 2n });
  }

  gainCode({ payer }: Payment): void {
    this.#parts.contracts.add(payer.address);
    this.#effect((state) => {
      state.code.add(payer.address);
      return [];
    });
  }
}

function isOn(tip: { ref: { hash: Hash }; parent: unknown }, hash: Hash): boolean {
  let at: typeof tip | null = tip;
  for (let i = 0; at && i < 20; i += 1, at = at.parent as typeof tip | null)
    if (at.ref.hash === hash) return true;
  return false;
}
