/** What one seed stands on: its own chain, payers with money, things for sale, on a database that it shares. */
import { address } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import { gasBudgetsOf } from "../../../facilitator/chain/gas-budgets.ts";
import type { ChainRow } from "../../../facilitator/chain/registry.ts";
import { type Choices, choices } from "../../property/payments/random.ts";
import type { Sale } from "../actors/payments.ts";
import { checkFence, sendingOracle } from "../oracles/sending.ts";
import { Violation } from "../oracles/violation.ts";
import type { Backend } from "./backend.ts";
import { type FaultKind, Faults } from "./faults.ts";
import type { Parts } from "./house.ts";
import { laneAddresses, payers, stranger, treasury } from "./keys.ts";
import { Tree } from "./node.ts";
import { Scheduler } from "./scheduler.ts";

const START = Date.UTC(2026, 7, 11, 9, 30);
const TOKEN = address(`0x${"c1".repeat(20)}`);

export interface Ground extends Parts {
  readonly sales: readonly Sale[];
  /** Facts that were told, by id. */
  readonly told: Map<string, string>;
  readonly problems: Violation[];
}

/** Seeds are told apart by chain: rows of one never meet those of another. */
export async function layGround(
  seed: number,
  backend: Backend,
  {
    chance = choicesOf(seed),
    only = null,
  }: { readonly chance?: Choices; readonly only?: readonly FaultKind[] | null } = {},
): Promise<Ground> {
  const scheduler = new Scheduler(START + seed * 1000);
  const faults = new Faults(chance, only);
  const row = rowOf(seed);
  const signatures = new Map();
  const tree = new Tree(row.slug, Math.floor(scheduler.now / 1000), signatures, chance);
  const problems: Violation[] = [];
  const told = new Map<string, string>();
  const sales = await openShop(backend, row.slug);
  const maySend = sendingOracle(backend, signatures);
  fund(tree, chance.of([1n, 2n, 5n]), sales);
  return {
    contracts: new Set(),
    lanes: laneAddresses.slice(0, chance.chance(0.12) ? 2 : 1),
    ...{ backend, scheduler, faults, chance, row, signatures, tree, sales, problems, told },
    committed: (owner, statements) => noting(problems, checkFence(backend, row.chainId, owner, statements)),
    sending: (transaction, lastRead) => noting(problems, maySend(transaction, lastRead)),
    failed: (what) => problems.push(new Violation("no-bug", what)),
    hear: (facts) => {
      for (const { id, type } of facts) told.set(id, type);
    },
  };
}

function choicesOf(seed: number): Choices {
  return choices(Number.parseInt(sha256(`seed ${seed}`).slice(2, 10), 16));
}

/** What an oracle finds is not the engine's to hear of. */
async function noting(problems: Violation[], oracle: Promise<void>): Promise<void> {
  try {
    await oracle;
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    problems.push(error);
  }
}

function rowOf(seed: number): ChainRow {
  const chainId = 1_000_000 + seed;
  const maxFeePerGasCap = 5_000_000_000n;
  return {
    slug: `sim${seed}`,
    chainId,
    network: `eip155:${chainId}`,
    v1Name: null,
    isLocal: false,
    rpcUrls: [],
    rpcPerSecond: null,
    blockTimeSeconds: 2,
    inclusionSeconds: 2,
    depth: { x402: 1 + (seed % 2), standard: 2, high: 3 },
    treasury,
    router: null,
    tokens: [{ symbol: "USDC", contract: TOKEN, decimals: 6 }],
    multicall: address(`0x${"ca".repeat(20)}`),
    batchLimit: 25,
    transactionGasCap: 16_777_216n,
    maxFeePerGasCap,
    // Budgets are tried elsewhere: payments of a hundred made-up payers must not wait for an hour to end.
    dailyLimits: new Map(),
    approvalsAbove: new Map(),
    gasBudgets: gasBudgetsOf({ isLocal: true, maxFeePerGasCap }),
    explorer: null,
    dustFloor: 1_000n,
  };
}

const CHEAP = 1_000_000n;
/** Above the tier that one confirmation is enough for. */
const DEAR = 2_000_000_000n;

/** Two that can be paid often for the same price, a dear one, and one that can be paid once. */
async function openShop(backend: Backend, slug: string): Promise<readonly Sale[]> {
  const sales = [
    { id: `${slug}-a`, amount: CHEAP, once: false },
    { id: `${slug}-b`, amount: CHEAP, once: false },
    { id: `${slug}-c`, amount: DEAR, once: false },
    { id: `${slug}-d`, amount: CHEAP, once: true },
  ];
  await backend.look(
    `INSERT INTO payable SELECT (jsonb_populate_record(template, jsonb_build_object('id', sale.id,
       'url', 'https://shop.test/' || sale.id, 'price_amount', sale.amount, 'once', sale.once))).*
     FROM payable AS template, jsonb_to_recordset($1) AS sale(id text, amount text, once boolean)
     WHERE template.id = 'template'`,
    [JSON.stringify(sales.map(({ id, amount, once }) => ({ id, amount: `${amount}`, once })))],
  );
  return sales;
}

/** Before the first block: no fork takes it away. */
function fund({ tip: { token } }: Tree, purses: bigint, [cheap, , dear]: readonly Sale[]): void {
  for (const [i, payer] of payers.entries())
    token.balances.set(
      payer.address,
      i % 2 === 0 ? (cheap?.amount ?? 0n) * purses : (dear?.amount ?? 0n) * purses,
    );
  token.balances.set(stranger, DEAR * 10n);
}
