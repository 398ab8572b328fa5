/** A chain as this process may use it, with the accounts that its role gives it. */
import {
  addressOf,
  type Chain,
  type ChainRow,
  type Custodian,
  checkRails,
  checkRouter,
  type DepositAccount,
  depositAccountOf,
  isUnavailable,
  localCustodian,
  localOperator,
  localSigner,
  type Meter,
  type OpenChain,
  type Operator,
  openEvmChain,
  type Rail,
  recheckRails,
} from "#facilitator";
import type { Hex } from "#kernel/bytes";
import type { Clock } from "#kernel/clock";
import type { Log } from "#kernel/log";
import { ConfigProblem, type Role } from "./config.ts";
import { deriveDepositSeed, deriveKey } from "./keys.ts";

/** What a chain is opened with. */
export interface ChainParts {
  readonly signerKeys: readonly Hex[];
  /** Null where nothing is sent: refunds and payouts wait. */
  readonly treasuryKey: Hex | null;
  readonly masterSecret: string;
  readonly role: Role;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly onRpc?: (chain: string) => (method: string, ok: boolean, ms: number) => void;
  /** Stands between the engine and a chain: faults in tests. */
  readonly wrapChain?: (chain: Chain) => Chain;
}

/** What the deployment signs with on every chain alike. */
export interface Accounts {
  readonly operator: Operator;
  readonly depositAccount: DepositAccount;
}

export function accountsOf({ masterSecret, role }: Pick<ChainParts, "masterSecret" | "role">): Accounts {
  return {
    operator: localOperator(deriveKey(masterSecret, "operator")),
    depositAccount: depositAccountOf(deriveDepositSeed(masterSecret), { canSign: role !== "web" }),
  };
}

/** A chain whose tokens can be looked at again. */
export interface WatchedChain extends OpenChain {
  /** Pauses the rails whose contracts have changed since boot, and takes those that were refused and are right now. Rejects
   *  when the chain cannot be asked: that is no change. */
  recheckRails(): Promise<void>;
}

/** Opens one configured chain and checks on it what the configuration names. Rejects when it cannot be reached. */
export async function openChain(parts: ChainParts, row: ChainRow, accounts: Accounts): Promise<WatchedChain> {
  const { log } = parts;
  const { chain, routerProblem } = await openWithRouter(parts, row, accounts.operator);
  let rails = await checkRails(chain);
  tellProblems(log, row, rails);
  const signers = parts.role === "web" ? [] : parts.signerKeys.map((key) => localSigner(key, [chain.row]));
  const custodian = parts.role === "web" || !parts.treasuryKey ? null : custodianOf(row, parts.treasuryKey);
  const laneAddresses = parts.signerKeys.map(addressOf);
  return {
    ...{ chain, routerProblem, signers, custodian, ...accounts, laneAddresses },
    get rails() {
      return rails;
    },
    async recheckRails() {
      rails = await recheckRails(chain, rails);
      tellProblems(log, row, rails);
    },
  };
}

function tellProblems(log: Log, { slug: chain }: ChainRow, rails: readonly Rail[]): void {
  for (const rail of rails) {
    const fields = { chain, asset: rail.token.symbol };
    if (!rail.ok) log.error(fields, `rail refused: ${rail.problem}`);
    else if (rail.paused !== null) log.error(fields, `rail paused: ${rail.paused}`);
  }
}

/** A router that is not our operator's would take no order of ours: the chain is opened without it. */
async function openWithRouter(
  parts: ChainParts,
  row: ChainRow,
  operator: Operator,
): Promise<Pick<OpenChain, "chain" | "routerProblem">> {
  const { log, clock, meter, wrapChain = (opened) => opened } = parts;
  const onRpc = parts.onRpc?.(row.slug);
  const onDisagreement = () => meter.count("disagreements", { chain: row.slug });
  const watched = { log, clock, onRpc, onDisagreement };
  const chain = wrapChain(await openEvmChain({ row, ...watched }));
  const routerProblem = await checkRouter(chain, operator.address).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error;
    log.warn(
      { chain: row.slug },
      "whose the router is could not be heard from two endpoints alike: it is taken as configured",
    );
    return null;
  });
  if (routerProblem === null) return { chain, routerProblem };
  log.error({ chain: row.slug }, `router refused: ${routerProblem}`);
  const without = await openEvmChain({ row: { ...row, router: null }, ...watched });
  return { chain: wrapChain(without), routerProblem };
}

/** Rejects a key that is not the treasury's: what it signed would move nothing, and every payout would fail. */
function custodianOf({ slug, treasury }: ChainRow, key: Hex): Custodian {
  const custodian = localCustodian(key);
  if (custodian.address === treasury) return custodian;
  throw new ConfigProblem(
    `FAREBOX_TREASURY_KEY is not the key of ${slug}'s treasury ${treasury}. Set the right key, or the right treasury in FAREBOX_CHAINS.`,
  );
}
