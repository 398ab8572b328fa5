/** The centre on a real database and a made-up chain, moved on turn by turn: nothing happens between turns. */
import { createFacilitator, defaultSettings, type Engine, localCustodian, localSigner } from "#facilitator";
import { type Address, address, hash } from "#kernel/bytes";
import { idMaker } from "#kernel/id";
import { systemRandom } from "#kernel/system";
import { openDatabase } from "#store";
import { chainRow } from "../../facilitator/chain/registry.ts";
import { accountsOf } from "../../src/open-chain.ts";
import { newKey } from "../support/authorization.ts";
import { freshDatabase, type TestDatabase } from "../support/db.ts";
import { silentLog } from "../support/dev-chain.ts";
import { manualClock } from "../support/manual-clock.ts";
import { type SimulatedChain, simulateChain } from "./chain.ts";

export const tokens = {
  USDC: address(`0x${"c1".repeat(20)}`),
  EURC: address(`0x${"c2".repeat(20)}`),
} as const;
const ROUTER = address(`0x${"cc".repeat(20)}`);
const LOCAL = { slug: "local", chainId: 31337, blockTimeSeconds: 1 };
const masterSecret = "a master secret of simulations, long enough";

export type SimulatedWorld = Awaited<ReturnType<typeof simulateWorld>>;

/** A facilitator with one lane and a local chain, unless told otherwise, its loops asleep until `turn`. */
export async function simulateWorld({ lanes = 1, chain = LOCAL } = {}) {
  const database: TestDatabase = await freshDatabase();
  const clock = manualClock();
  const treasury = newKey();
  const keys = Array.from({ length: lanes }, newKey);
  const row = chainRow({
    ...chain,
    rpcUrls: ["http://127.0.0.1:1"],
    treasury: treasury.address,
    router: ROUTER,
    assets: Object.entries(tokens).map(([symbol, contract]) => ({ symbol, contract })),
  });
  const sim: SimulatedChain = simulateChain(row, { timestamp: Math.floor(clock.now().getTime() / 1000) });
  const loopDb = openDatabase({
    url: database.url,
    log: silentLog,
    name: "loops",
    maxConnections: 8,
    role: "farebox_app",
  });
  const engine: Engine = {
    db: database.db,
    lookupDb: database.db,
    searchDb: database.db,
    loopDb,
    chains: new Map([
      [
        row.chainId,
        {
          chain: sim.chain,
          rails: row.tokens.map((token) => ({
            ok: true as const,
            token,
            domain: {
              name: token.symbol,
              version: "2",
              chainId: row.chainId,
              verifyingContract: token.contract,
            },
            hasBytesOverload: true,
            codeHash: hash(`0x${"0".repeat(64)}`),
            paused: null,
          })),
          routerProblem: null,
          signers: keys.map(({ key }) => localSigner(key, [row])),
          custodian: localCustodian(treasury.key),
          ...accountsOf({ masterSecret, role: "all" }),
          laneAddresses: keys.map(({ address }) => address),
        },
      ],
    ]),
    clock,
    newId: idMaker({ clock, random: systemRandom }),
    log: silentLog,
    meter: { count: () => {}, time: () => {} },
    checkpoint: async () => {},
    holder: "simulation",
    settings: defaultSettings,
  };
  const running = createFacilitator(engine);
  running.start({ moneyLoops: true });
  const areAsleep = () => clock.asleep(LOOPS + lanes);
  await areAsleep();

  return {
    database,
    clock,
    engine,
    sim,
    row,
    running,
    /** A second passes, or so many milliseconds; every loop of the engine takes its turns until all sleep again. */
    async turn(ms = 1_000): Promise<void> {
      await clock.advance(ms);
      await areAsleep();
    },
    /** A payer with `amount` atomic units of a token. */
    payer(token: Address, amount: bigint) {
      const made = newKey();
      sim.mint(token, made.address, amount);
      return made;
    },
    async close(): Promise<void> {
      await running.stop();
      await loopDb.close();
      await database.drop();
    },
  };
}

/** Of one chain: watch, send, final, and one for each lane; and the one that answers waits. */
const LOOPS = 4;
