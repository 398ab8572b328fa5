/** The whole service inside the test process: real database, real chain, listening on a free port. */
import { createKey, createMerchant } from "#api";
import { type ChainConfig, type ChainRow, chainRow, type Settings } from "#facilitator";
import { type Address, address, checksum, type Hash, type Hex } from "#kernel/bytes";
import { systemClock, systemRandom } from "#kernel/system";
import { imbalance, trialBalance } from "#ledger";
import { compose, type House, type Parts } from "../../src/compose.ts";
import { freePort } from "../../src/dev/free-port.ts";
import { serve } from "../../src/serve.ts";
import { authorize, newKey } from "./authorization.ts";
import { freshDatabase, type TestDatabase } from "./db.ts";
import { type DevChain, masterSecret, silentLog, startDevChain } from "./dev-chain.ts";
import { startSandbox } from "./sandbox.ts";
import { shared } from "./shared.ts";

export { masterSecret };

export interface HouseOptions
  extends Partial<
    Pick<
      Parts,
      | "wrapChain"
      | "checkpoint"
      | "role"
      | "rateLimits"
      | "log"
      | "meter"
      | "clock"
      | "rates"
      | "mail"
      | "signerKeys"
    >
  > {
  readonly settings?: Partial<Settings>;
  /** Wei an hour; those of a local chain unless told otherwise. */
  readonly gasBudgets?: ChainConfig["gasBudgets"];
  /** Decimals by symbol; none unless told otherwise. */
  readonly dailyLimits?: ChainConfig["dailyLimits"];
  readonly approvalsAbove?: ChainConfig["approvalsAbove"];
  /** None unless told otherwise. */
  readonly explorer?: ChainConfig["explorer"];
  /** Chains that it serves beside the first, with the same accounts. */
  readonly beside?: readonly DevChain[];
  /** Gas keys; one unless told otherwise. */
  readonly lanes?: number;
  /** With the test routes of a sandbox and a simulated provider, a process of its own. */
  readonly withSandbox?: boolean;
}

export interface RunningHouse {
  readonly baseUrl: string;
  readonly house: House;
  stop(): Promise<void>;
}

/** Quick leases and waits, so that take-overs and pending answers come within a test's patience; sweeps wait for nobody. */
const settings: Partial<Settings> = {
  leaseSeconds: 2,
  maxWaitMs: 10_000,
  sweepPatienceSeconds: { local: 0, elsewhere: 1_800 },
};

export function rowOf(dev: DevChain): ChainRow {
  return chainRow(dev.config);
}

/** One process's worth of the service on an existing database and chain. */
export async function startHouse(
  dev: DevChain,
  database: TestDatabase,
  options: HouseOptions = {},
): Promise<RunningHouse> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const { lanes = 1, settings: own, withSandbox = false, beside = [], ...others } = options;
  const { gasBudgets, dailyLimits, approvalsAbove, explorer, ...rest } = others;
  const sandbox = withSandbox ? await startSandbox(dev, port) : undefined;
  const house = await compose({
    databaseUrl: database.url,
    chains: [
      chainRow({ ...dev.config, gasBudgets, dailyLimits, approvalsAbove, explorer }),
      ...beside.map(rowOf),
    ],
    signerKeys: dev.contracts.signers.slice(0, lanes).map(({ privateKey }) => privateKey),
    treasuryKey: dev.contracts.treasury.privateKey,
    masterSecret,
    role: "all",
    baseUrl,
    rateLimits: "off",
    version: "0.0.0-test",
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    meter: { count: () => {}, time: () => {} },
    sandbox: sandbox?.parts,
    ...rest,
    settings: { ...settings, ...own },
  });
  await house.start();
  const listening = await serve(house, port);
  return {
    baseUrl,
    house,
    async stop() {
      house.drain();
      await listening.close();
      await house.close();
      await sandbox?.stop();
    },
  };
}

export interface Resource {
  readonly id: string;
  readonly url: string;
  readonly maxTimeoutSeconds: number;
  readonly accepts: readonly {
    readonly asset: string;
    readonly contract: string;
    readonly payTo: string;
    readonly domain: Record<string, unknown>;
  }[];
}

/** A merchant with a key, on an existing house. */
export async function newMerchant({ house, baseUrl }: RunningHouse, feeBps = 50) {
  const operator = {
    db: house.db,
    clock: systemClock,
    newId: house.newId,
    random: systemRandom,
    masterSecret,
  };
  const merchant = await createMerchant(operator, {
    name: "Test Merchant",
    city: "Porto",
    countryCode: "PT",
    feeBps,
  });
  const { plaintext: secretKey } = await createKey(operator, {
    merchantId: merchant.id,
    kind: "sk",
    name: "test",
  });
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${baseUrl}${path}`, {
      ...init,
      headers: { Authorization: `Bearer ${secretKey}`, "Content-Type": "application/json", ...init.headers },
    });
  return {
    id: merchant.id,
    secretKey,
    call,
    async register(body: Record<string, unknown> = {}): Promise<Resource> {
      const url = `https://shop.example/${Math.random().toString(36).slice(2)}`;
      const response = await call("/v1/x402/resources", {
        method: "POST",
        body: JSON.stringify({
          url,
          price: { amount: "0.01", asset: "USD" },
          description: "A thing",
          mimeType: "application/json",
          ...body,
        }),
      });
      if (!response.ok) throw new Error(`registration ${response.status}: ${await response.text()}`);
      return (await response.json()) as Resource;
    },
  };
}

export type Merchant = Awaited<ReturnType<typeof newMerchant>>;

export interface Payer {
  readonly address: Address;
  readonly key: Hex;
}

/** A fresh account with `amount` atomic units of dev USDC. */
export async function newPayer(dev: DevChain, amount = 1_000_000n): Promise<Payer> {
  const { key, address: account } = newKey();
  if (amount > 0n) await dev.administer("mint", [account, amount]);
  return { key, address: account };
}

export interface PaymentTerms {
  readonly amount?: bigint;
  readonly validAfter?: bigint;
  readonly validBefore?: bigint;
  readonly to?: string;
  /** A contract wallet in place of the key's own account. */
  readonly from?: Address;
  /** A fresh one unless told otherwise. */
  readonly nonce?: Hash;
  readonly extensions?: Record<string, unknown>;
}

/** A signed payment for a resource as the body of verify and settle, v2. */
export async function signPayment(dev: DevChain, payer: Payer, resource: Resource, terms: PaymentTerms = {}) {
  const usdc = resource.accepts.find(({ contract }) => address(contract) === dev.usdc);
  if (!usdc) throw new Error("the resource has no rail in dev USDC");
  const amount = terms.amount ?? 10_000n;
  // Whoever mines while he waits takes the chain's time ahead of the wall's, and payments expire by the chain's.
  const { timestamp } = await dev.chain.head();
  const now = Math.max(Math.floor(Date.now() / 1000), timestamp);
  const authorization = {
    from: terms.from ?? payer.address,
    to: terms.to ?? usdc.payTo,
    value: amount,
    validAfter: terms.validAfter ?? 0n,
    validBefore: terms.validBefore ?? BigInt(now + 300),
  };
  const signed = await authorize({
    domain: { name: "USD Coin", version: "2", chainId: dev.anvil.chainId, verifyingContract: dev.usdc },
    key: payer.key,
    ...(terms.from ? { from: terms.from } : {}),
    ...(terms.nonce ? { nonce: terms.nonce } : {}),
    to: authorization.to,
    value: authorization.value,
    validAfter: authorization.validAfter,
    validBefore: authorization.validBefore,
  });
  const accepted = {
    scheme: "exact",
    network: `eip155:${dev.anvil.chainId}`,
    amount: "10000",
    asset: usdc.contract,
    payTo: usdc.payTo,
    maxTimeoutSeconds: resource.maxTimeoutSeconds,
    extra: { name: "USD Coin", version: "2" },
  };
  const body = {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: { url: resource.url },
      accepted,
      payload: {
        signature: signed.signature,
        authorization: {
          from: checksum(authorization.from),
          to: authorization.to,
          value: amount.toString(),
          validAfter: authorization.validAfter.toString(),
          validBefore: authorization.validBefore.toString(),
          nonce: signed.nonce,
        },
      },
      ...(terms.extensions ? { extensions: terms.extensions } : {}),
    },
    paymentRequirements: accepted,
  };
  return { body, signed };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer off the wire, compared whole by the tests
  readonly body: any;
}

export async function post(
  baseUrl: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${baseUrl}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

export async function get(baseUrl: string, path: string): Promise<Answer> {
  const response = await fetch(`${baseUrl}${path}`);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

export interface WorldOptions extends HouseOptions {
  readonly blockTimeSeconds?: number;
  readonly chainId?: number;
}
export type World = Awaited<ReturnType<typeof startWorld>>;

/** Everything one test file needs: chain, database and one running house. */
export async function startWorld(options: WorldOptions = {}) {
  const { blockTimeSeconds, chainId, ...rest } = options;
  const dev = await startDevChain({
    ...(blockTimeSeconds === undefined ? {} : { blockTimeSeconds }),
    ...(chainId === undefined ? {} : { chainId }),
  });
  const database = await freshDatabase();
  const running = await startHouse(dev, database, rest);
  return {
    dev,
    database,
    ...running,
    async stop() {
      await running.stop();
      await database.drop();
      await dev.stop();
    },
  };
}

/** One for all tests of the file. */
export function sharedWorld(options?: WorldOptions): World {
  return shared(
    () => startWorld(options),
    (world) => world.stop(),
  );
}

/** The same for a merchant. */
export function sharedMerchant(place: RunningHouse): Merchant {
  return shared(() => newMerchant(place));
}

/** Resolves when `holds` does; asks every 50 ms, since what it waits for is a row or a block. */
export async function until(holds: () => Promise<boolean>, what: string, timeoutMs = 40_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Ledger and chain side by side: the treasury's posted and pending money, and what the token says; and that the books
 *  balance. Atomic units of dev USDC. */
export async function books(dev: DevChain, database: TestDatabase) {
  const accounts = await trialBalance(database.db.pool);
  const differences = (await imbalance(database.db.pool)).filter(({ difference }) => difference !== 0n);
  const usdc = accounts.filter(({ asset }) => asset === `USDC@${rowOf(dev).slug}`);
  const sum = (path: string, column: "posted" | "pending") =>
    usdc
      .filter((account) => account.path.includes(path))
      .reduce((total, account) => total + account[column], 0n);
  return {
    balanced: differences.length === 0,
    treasury: sum("asset:treasury", "posted") + sum("asset:treasury", "pending"),
    chain: await dev.chain.tokenBalance(dev.usdc, rowOf(dev).treasury, "latest"),
    available: { posted: sum(":available", "posted"), pending: sum(":available", "pending") },
    fees: { posted: sum("income:fees", "posted"), pending: sum("income:fees", "pending") },
    unmatched: {
      posted: sum("liability:unmatched", "posted"),
      pending: sum("liability:unmatched", "pending"),
    },
  };
}
