import type { Clock } from "#kernel/clock";
import { fault } from "#kernel/fault";
import { PAYMENT_GAS } from "../../chain/gas-budgets.ts";
import type { Chain } from "../../chain/port.ts";
import type { Engine } from "../engine.ts";
import { presentPrice } from "../fees.ts";
import { WALLET_GAS_CAP } from "../gas.ts";
import { shortMemory } from "../short-memory.ts";
import type { Understood } from "../understand.ts";
import { type Account, type Budget, exhausted, payerLimit } from "./policy.ts";
import { burnReader, type Holder, openReader } from "./standing.ts";
import type { BurnKind } from "./tables.ts";

/** How the budgets stood when they were asked for, just now. */
export interface Standings {
  readonly accounts: readonly Open[];
  /** What one more payment is reckoned to cost. */
  readonly itemWei: bigint;
}

/** A budget whose payments under way are counted when it is asked. */
interface Open extends Omit<Account, "open"> {
  readonly open: () => number;
  /** One more, or one less, that is about to be claimed. */
  readonly enter: (by: number) => void;
  /** One more that is claimed. */
  readonly claimed: () => void;
}

/** Gas budgets per payer, payable, merchant and chain. Rows hold them, for all processes; a payer's come with the read of
 *  its open claims, the others' are remembered for a second. */
export interface Budgets {
  read(it: Understood): Promise<Standings>;
  /** Fault: `rate_limited`. */
  demand(it: Understood, standings: Standings): void;
  /** The same, and the payment counts as under way until what is returned is called: its claim is then in the rows.
   *  Fault: `rate_limited`. */
  admit(it: Understood, standings: Standings): () => void;
}

const REMEMBERED_MS = 1_000;

export function gasBudgets({ db, clock, meter }: Pick<Engine, "db" | "clock" | "meter">): Budgets {
  const nameOf = ({ chainId, kind, subject }: Holder) => `${chainId} ${kind} ${subject}`;
  const burnOf = remembered(clock, burnReader(db.pool), nameOf);
  const openOn = remembered(clock, openReader(db.pool), String);
  const priceOn = remembered(
    clock,
    (chain: Chain) => presentPrice(db.pool, chain),
    ({ row }) => String(row.chainId),
  );
  const entering = new Map<string, number>();

  function counts(name: string, underWay: () => number, claimed = () => {}) {
    return {
      open: () => underWay() + (entering.get(name) ?? 0),
      enter(by: number) {
        const count = (entering.get(name) ?? 0) + by;
        if (count > 0) entering.set(name, count);
        else entering.delete(name);
      },
      claimed,
    };
  }

  function demand({ known, open }: Understood, { accounts, itemWei }: Standings): void {
    const { restSeconds } = known.payer;
    const counted = accounts.map((account) => ({ ...account, open: account.open() }));
    const found =
      restSeconds > 0
        ? { budget: "rest" as const, retryAfterSeconds: restSeconds }
        : exhausted(counted, itemWei);
    if (!found) return;
    const { budget, retryAfterSeconds } = found;
    meter.count("gas_refusals", { chain: open.chain.row.slug, budget });
    throw fault("rate_limited", { budget, why: reasons[budget], retryAfterSeconds });
  }

  return {
    async read({ open: { chain }, payable, known: { payer }, authorization, payerHasCode }) {
      const { chainId, gasBudgets: limits } = chain.row;
      const account = async (budget: BurnKind, subject: string) => {
        const [underWay, burn] = await Promise.all([
          openOn(chainId),
          burnOf({ chainId, kind: budget, subject }),
        ]);
        const holder = `${budget} ${subject}`;
        const held = () => underWay.get(holder) ?? 0;
        // What is remembered does not know of a claim of ours that was made since.
        const claimed = () => void underWay.set(holder, held() + 1);
        return { budget, burn, limit: limits[budget], ...counts(`${chainId} ${holder}`, held, claimed) };
      };
      const [price, ...others] = await Promise.all([
        priceOn(chain),
        account("payable", payable.id),
        account("merchant", payable.merchantId),
        account("chain", ""),
      ]);
      const ofPayer = counts(`${chainId} ${authorization.payer}`, () => payer.open);
      const limit = payerLimit(limits, payer);
      return {
        accounts: [{ budget: "payer", burn: payer, limit, ...ofPayer }, ...others],
        itemWei: price * (payerHasCode ? WALLET_GAS_CAP : PAYMENT_GAS),
      };
    },
    demand,
    admit(it, standings) {
      demand(it, standings);
      for (const { enter } of standings.accounts) enter(1);
      return () => {
        for (const { enter, claimed } of standings.accounts) {
          enter(-1);
          claimed();
        }
      };
    },
  };
}

const reasons = {
  payer: "the gas that this payer's payments may burn within an hour is used up",
  payable: "the gas that payments of this resource may burn within an hour is used up",
  merchant: "the gas that payments of this merchant may burn within an hour is used up",
  chain: "the gas that payments on this chain may burn within an hour is used up",
  rest: "too many payments of this payer failed on the chain after they had passed every check",
} as const satisfies Record<Budget | "rest", string>;

/** Asked at most once in a while for each key. */
function remembered<K, V>(
  clock: Clock,
  ask: (key: K) => Promise<V>,
  nameOf: (key: K) => string,
): (key: K) => Promise<V> {
  const memory = shortMemory<V>(clock, REMEMBERED_MS);
  const asking = new Map<string, Promise<V>>();
  const renew = async (key: K, name: string) => {
    const value = await ask(key);
    memory.set(name, value);
    return value;
  };
  return async (key) => {
    const name = nameOf(key);
    const known = memory.get(name);
    if (known !== null) return known;
    const answer = asking.get(name) ?? renew(key, name).finally(() => asking.delete(name));
    asking.set(name, answer);
    return answer;
  };
}
