import type { Clock } from "#kernel/clock";
import { fault } from "#kernel/fault";
import { PAYMENT_GAS } from "../../chain/gas-budgets.ts";
import type { Engine } from "../engine.ts";
import { lastMinedTip } from "../lane/fees.ts";
import { least, WALLET_GAS_CAP } from "../lane/gas.ts";
import { shortMemory } from "../verify/short-memory.ts";
import type { Understood } from "../verify/understand.ts";
import type { ClaimsMade } from "./made.ts";
import { OpenAccount } from "./open-account.ts";
import { type Exhausted, exhausted, mostOpenOf, noBurn, payerLimit } from "./policy.ts";
import { burnReader, type Holder, openReader, payerOnChain } from "./standing.ts";
import { type BurnKind, burnKinds } from "./tables.ts";

/** How the budgets stood when they were asked for, just now. */
export interface Standings {
  readonly accounts: readonly OpenAccount[];
  /** Wei per gas that the newest mined transaction of ours gave on top of the base fee; null where none was. */
  readonly tip: bigint | null;
}

/** The same, and what one more payment is reckoned to cost, in wei. */
export interface Priced extends Standings {
  readonly itemWei: bigint;
}

/** Gas budgets per payer, payable, merchant and chain. Rows hold them, for all processes; a payer's come with the read of
 *  its open claims, the others' are remembered for a second. */
export interface Budgets {
  read(it: Understood): Promise<Standings>;
  /** Why there is no room for it, and when to come again; null where there is. */
  refused(it: Understood, priced: Priced): Refused | null;
  /** The same as a fault: `rate_limited`. */
  demand(it: Understood, priced: Priced): void;
  /** The same, and the payment counts as under way until what is returned is called: its claim is then in the rows.
   *  Fault: `rate_limited`. */
  admit(it: Understood, priced: Priced): () => void;
}

/** `why` is public: a clause without its full stop. */
interface Refused {
  readonly budget: Exhausted["budget"] | "rest";
  readonly why: string;
  readonly retryAfterSeconds: number;
}

const REMEMBERED_MS = 1_000;

/** What `it` is reckoned to cost at this base fee: at what the chain asks now, since the mean of the hour tells
 *  nothing of a fee that has jumped. Above the cap nothing is sent. A tip that nobody knows yet counts as much as the
 *  base fee. */
export function priced(standings: Standings, it: Understood, baseFeePerGas: bigint): Priced {
  const price = baseFeePerGas + (standings.tip ?? baseFeePerGas);
  const gas = it.payerHasCode ? WALLET_GAS_CAP : PAYMENT_GAS;
  return { ...standings, itemWei: gas * least(price, it.open.chain.row.maxFeePerGasCap) };
}

export function gasBudgets(
  { db, clock, meter }: Pick<Engine, "db" | "clock" | "meter">,
  made: ClaimsMade,
): Budgets {
  const nameOf = ({ chainId, kind, subject }: Holder) => `${chainId} ${kind} ${subject}`;
  const burnOf = remembered(clock, burnReader(db.pool), nameOf);
  const openOn = remembered(clock, openReader(db.pool), String);
  const tipOn = remembered(clock, (chainId: number) => lastMinedTip(db.pool, chainId), String);
  const entering = new Map<string, number>();

  function refused({ known, open }: Understood, { accounts, itemWei }: Priced): Refused | null {
    const { restSeconds } = known.payer;
    const found =
      restSeconds > 0
        ? { budget: "rest" as const, retryAfterSeconds: restSeconds }
        : exhausted(accounts, itemWei);
    if (!found) return null;
    meter.count("gas_refusals", { chain: open.chain.row.slug, budget: found.budget });
    return { ...found, why: reasons[found.budget] };
  }

  function demand(it: Understood, priced: Priced): void {
    const found = refused(it, priced);
    if (found) throw fault("rate_limited", { ...found });
  }

  return {
    async read({ open: { chain }, payable, known: { payer, madeBefore }, authorization }) {
      const { chainId, gasBudgets: limits } = chain.row;
      const subjects = { payable: payable.id, merchant: payable.merchantId, chain: "" };
      const burnOfKind = (kind: BurnKind) => burnOf({ chainId, kind, subject: subjects[kind] });
      const asked = [openOn(chainId), tipOn(chainId), ...burnKinds.map(burnOfKind)] as const;
      const [underWay, tip, ...burns] = await allKnown(asked);
      const name = payerOnChain(chainId, authorization.payer);
      const ofPayer = new OpenAccount(entering, name, {
        budget: "payer",
        burn: payer,
        limit: payerLimit(limits, payer),
        mostOpen: mostOpenOf(payer),
        underWay: () => payer.open + Math.max(0, made.count(name) - madeBefore),
        claimed: () => made.add(name),
      });
      const others = burnKinds.map((budget, i) => {
        const holder = `${budget} ${subjects[budget]}`;
        const held = () => underWay.get(holder) ?? 0;
        return new OpenAccount(entering, `${chainId} ${holder}`, {
          budget,
          burn: burns[i] ?? noBurn,
          limit: limits[budget],
          mostOpen: null,
          underWay: held,
          // What is remembered does not know of a claim of ours that was made since.
          claimed: () => void underWay.set(holder, held() + 1),
        });
      });
      return { accounts: [ofPayer, ...others], tip };
    },
    refused,
    demand,
    admit(it, standings) {
      demand(it, standings);
      for (const account of standings.accounts) account.enter(1);
      return () => {
        for (const account of standings.accounts) {
          account.enter(-1);
          account.claimed();
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
  open: "as many payments of this payer are under way as may be at once",
  rest: "too many payments of this payer failed on the chain after they had passed every check",
} as const satisfies Record<Refused["budget"], string>;

/** Asked at most once in a while for each key; at once what is remembered, so that a verify need not wait for it. */
function remembered<K, V>(
  clock: Clock,
  ask: (key: K) => Promise<V>,
  nameOf: (key: K) => string,
): (key: K) => V | Promise<V> {
  const memory = shortMemory<{ readonly value: V }>(clock, REMEMBERED_MS);
  const asking = new Map<string, Promise<V>>();
  const renew = async (key: K, name: string) => {
    const value = await ask(key);
    memory.set(name, { value });
    return value;
  };
  return (key) => {
    const name = nameOf(key);
    const known = memory.get(name);
    if (known) return known.value;
    const answer = asking.get(name) ?? renew(key, name).finally(() => asking.delete(name));
    asking.set(name, answer);
    return answer;
  };
}

type Known<T extends readonly unknown[]> = { readonly [I in keyof T]: Awaited<T[I]> };

/** All that was asked; at once when all of it is remembered. */
function allKnown<T extends readonly unknown[]>(asked: T): Known<T> | Promise<Known<T>> {
  return asked.some((answer) => answer instanceof Promise)
    ? Promise.all(asked)
    : (asked as unknown as Known<T>);
}
