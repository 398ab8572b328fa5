/** Gas keys that are met for the first time. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { trialBalance } from "#ledger";
import type { Chain, Signer } from "../../../../facilitator/chain/port.ts";
import { defaultSettings, type Engine } from "../../../../facilitator/settlement/engine.ts";
import { type Lane, lease } from "../../../../facilitator/settlement/lane/lane.ts";
import { signer } from "../../../../facilitator/settlement/lane/tables.ts";
import { freshDatabase, type TestDatabase } from "../../../support/db.ts";
import { silentLog } from "../../../support/dev-chain.ts";

const key = { address: `0x${"11".repeat(20)}` } as Signer;
let database: TestDatabase;
beforeEach(async () => {
  database = await freshDatabase();
});
afterEach(() => database?.drop());

/** A process of this name. */
function engine(holder: string): Engine {
  return { loopDb: database.db, holder, settings: defaultSettings, log: silentLog } as unknown as Engine;
}

/** A chain on which the key has sent `nonce` transactions and has `wei` left. */
function chainWith(nonce: number, wei: () => Promise<bigint>): Chain {
  const row = { slug: "local", chainId: 31_337 };
  return { row, nonce: async () => nonce, nativeBalance: wei } as unknown as Chain;
}

it("a key that another process has adopted, and spent gas of, meanwhile stays as that one booked it", async () => {
  let taken: Lane | null = null;
  const late = chainWith(6, async () => {
    taken = await lease(
      engine("first"),
      chainWith(5, async () => 100n),
      key,
    );
    return 90n;
  });

  expect(await lease(engine("second"), late, key)).toBeNull();

  expect(taken).toMatchObject({ fence: 1, maySign: true });
  expect(await database.db.pool.select().from(signer)).toMatchObject([
    { nextNonce: 5, leaseHolder: "first", state: "active" },
  ]);
  const booked = await trialBalance(database.db.pool);
  expect(booked.map(({ asset, posted }) => [asset, posted])).toEqual([
    ["ETH@local", 100n],
    ["ETH@local", 100n],
  ]);
});
