import type { Clock } from "#kernel/clock";
import { fault } from "#kernel/fault";
import type { Engine } from "../engine.ts";
import { shortMemory } from "../short-memory.ts";
import type { Understood } from "../understand.ts";
import { type Account, type Budget, exhausted, payerLimit } from "./policy.ts";
import { burnReader, openReader } from "./standing.ts";

/** How the budgets stood when they were asked for, just now. */
export interface Standings {
  readonly accounts: readonly (Account & { readonly holder: string })[];
  /** What one more payment is reckoned to cost. */
  readonly itemWei: bigint;
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
/** Wei for an item where none was sent yet: a batched payment at one gwei. */
const FIRST_ITEM_WEI = 70_000n * 1_000_000_000n;

export function gasBudgets({ db, clock, meter }: Pick<Engine, "db" | "clock" | "meter">): Budgets {
  const readBurn = burnReader(db.pool);
  const readOpen = openReader(db.pool);
  const burnOf = remembered(clock, readBurn, ({ chainId, kind, subject }) => `${chainId} ${kind} ${subject}`);
  const openOn = remembered(clock, readOpen, String);
  const entering = new Map<string, number>();

  function demand({ known, open }: Understood, { accounts, itemWei }: Standings): void {
    const { restSeconds } = known.payer;
    const counted = accounts.map((account) => ({
      ...account,
      open: account.open + (entering.get(account.holder) ?? 0),
    }));
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
    async read({ open, payable, known, authorization }) {
      const { chainId, gasBudgets: limits } = open.chain.row;
      const of = (kind: "payable" | "merchant" | "chain", subject: string) =>
        burnOf({ chainId, kind, subject });
      const [underWay, ofPayable, ofMerchant, ofChain] = await Promise.all([
        openOn(chainId),
        of("payable", payable.id),
        of("merchant", payable.merchantId),
        of("chain", ""),
      ]);
      const account = (budget: Exclude<Budget, "payer">, subject: string, burn: Account["burn"]) => {
        const holder = `${budget} ${subject}`;
        return {
          budget,
          burn,
          limit: limits[budget],
          open: underWay.get(holder) ?? 0,
          holder: `${chainId} ${holder}`,
        };
      };
      const { payer } = known;
      const holder = `${chainId} ${authorization.payer}`;
      return {
        accounts: [
          { budget: "payer", burn: payer, limit: payerLimit(limits, payer), open: payer.open, holder },
          account("payable", payable.id, ofPayable),
          account("merchant", payable.merchantId, ofMerchant),
          account("chain", "", ofChain),
        ],
        itemWei: ofChain.itemWei ?? FIRST_ITEM_WEI,
      };
    },
    demand,
    admit(it, standings) {
      demand(it, standings);
      const step = (by: number) => {
        for (const { holder } of standings.accounts) {
          const count = (entering.get(holder) ?? 0) + by;
          if (count > 0) entering.set(holder, count);
          else entering.delete(holder);
        }
      };
      step(1);
      return () => step(-1);
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
function remembered<K, V extends object>(
  clock: Clock,
  ask: (key: K) => Promise<V>,
  nameOf: (key: K) => string,
): (key: K) => Promise<V> {
  const memory = shortMemory<V>(clock, REMEMBERED_MS);
  return async (key) => {
    const name = nameOf(key);
    const known = memory.get(name);
    if (known) return known;
    const value = await ask(key);
    memory.set(name, value);
    return value;
  };
}
