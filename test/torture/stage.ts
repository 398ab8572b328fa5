/** What a torture runs on: a chain with a block each second, a PostgreSQL of its own, payers with money, something to
 *  pay for. No part of it knows of vitest. */
import { setTimeout as sleep } from "node:timers/promises";
import { createKey, createMerchant } from "#api";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import { registerResource } from "../../bench/farebox-server.ts";
import { fundPayers, makePayers } from "../../bench/payers.ts";
import { type Offer, Purse } from "../../bench/payments.ts";
import { type Anvil, startAnvil } from "../support/anvil.ts";
import { type DevChain, masterSecret, startDevChain } from "../support/dev-chain.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { buildAll } from "../support/programs.ts";
import { type Instances, startInstances } from "./instances.ts";

export interface Stage {
  readonly dev: DevChain;
  readonly database: OwnPostgres;
  readonly instances: Instances;
  readonly purse: Purse;
  readonly offer: Offer;
  readonly settlePath: string;
  stop(): Promise<void>;
}

export interface StageOptions {
  readonly processes: number;
  readonly payers: number;
  readonly leaseSeconds: number;
}

/** The node keeps the state of so many blocks. Of all that it made, as it does unless told otherwise, it writes most to
 *  disk, and takes a second meanwhile for what is asked of it. */
const RECENT_STATES = "16";
/** Atomic units: enough for a payer to come again and again. */
const EACH_PAYER_HAS = 1_000_000_000n;

export async function openStage({ processes, payers: count, leaseSeconds }: StageOptions): Promise<Stage> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const dev = await startChain(stops);
    const database = await startOwnPostgres();
    stops.push(database.drop);
    await buildAll();
    const settings = { leaseSeconds, maxWaitMs: 25_000, pollMs: 100 };
    const instances = await startInstances(processes, dev, database, { settings });
    stops.push(instances.stop);
    const payers = makePayers(count);
    const { contracts, anvil } = dev;
    await fundPayers(payers, {
      rpcUrl: anvil.rpcUrl,
      chainId: anvil.chainId,
      token: dev.usdc,
      aggregate3: contracts.aggregate3,
      deployerKey: contracts.deployer.privateKey,
      each: EACH_PAYER_HAS,
    });
    const { id, offer } = await register(instances, await newSecretKey(database));
    const settlePath = `/x402/resources/${id}/settle`;
    return { dev, database, instances, purse: new Purse(payers), offer, settlePath, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Forks an empty node: a fork does not reckon the root of the whole state for each block, which took the node a quarter
 *  of a second once 150,000 payments were made. */
async function startChain(stops: (() => Promise<void>)[]): Promise<DevChain> {
  const empty = await startAnvil();
  stops.push(empty.stop);
  const fork = ["--fork-url", empty.rpcUrl, "--no-rate-limit", "--no-storage-caching"];
  const dev = await startDevChain({ args: [...fork, "--prune-history", RECENT_STATES] });
  stops.push(dev.stop);
  await dev.anvil.rpc("evm_setAutomine", [false]);
  stops.push(mineEachSecond(dev.anvil));
  return dev;
}

/** Asked for block by block: a node with a block time of its own of two seconds or less keeps 1,500 states, however few
 *  it was told to, each with a copy of the token's whole storage. */
function mineEachSecond(anvil: Anvil): () => Promise<void> {
  let mining: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    mining ??= anvil
      .rpc("evm_mine")
      .catch(() => undefined) // it is late; the next second asks again
      .finally(() => {
        mining = undefined;
      });
  }, 1_000);
  return async () => {
    clearInterval(timer);
    await mining;
  };
}

/** Again while a process that has just started has no time for it. */
async function register(
  instances: Instances,
  key: string,
  triesLeft = 20,
): ReturnType<typeof registerResource> {
  const [first] = instances.baseUrls();
  if (!first) throw new Error("no process is up");
  return registerResource(first, key).catch(async (error) => {
    if (triesLeft === 0) throw error;
    await sleep(500);
    return register(instances, key, triesLeft - 1);
  });
}

async function newSecretKey({ db }: OwnPostgres): Promise<string> {
  const newId = idMaker({ clock: systemClock, random: systemRandom });
  const operator = { db, newId, clock: systemClock, random: systemRandom, masterSecret };
  const { id: merchantId } = await createMerchant(operator, {
    name: "Torture",
    city: "Porto",
    countryCode: "PT",
    feeBps: 50,
  });
  return (await createKey(operator, { merchantId, kind: "sk", name: "torture" })).plaintext;
}
