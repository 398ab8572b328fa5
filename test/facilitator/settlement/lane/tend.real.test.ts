/** A transaction that is not mined, of a lane that this process holds. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { address, type Hash, type Hex, hash } from "#kernel/bytes";
import type { ChainRow } from "../../../../facilitator/chain/registry.ts";
import { localSigner } from "../../../../facilitator/index.ts";
import { claimKey } from "../../../../facilitator/scheme/claim-key.ts";
import { claim } from "../../../../facilitator/settlement/claim/tables.ts";
import { defaultSettings, type Engine } from "../../../../facilitator/settlement/engine.ts";
import type { Lane } from "../../../../facilitator/settlement/lane/lane.ts";
import type { Slot } from "../../../../facilitator/settlement/lane/mined.ts";
import { attempt, slot, slotItem } from "../../../../facilitator/settlement/lane/tables.ts";
import { tend } from "../../../../facilitator/settlement/lane/tend.ts";
import type { ObserverRow } from "../../../../facilitator/settlement/observer/observer.ts";
import { newKey } from "../../../support/authorization.ts";
import { freshDatabase, type TestDatabase } from "../../../support/db.ts";
import { silentLog } from "../../../support/dev-chain.ts";

const CHAIN = 31_337;
const TOKEN = address(`0x${"c1".repeat(20)}`);
const TREASURY = address(`0x${"44".repeat(20)}`);
const MULTICALL = address(`0x${"ca".repeat(20)}`);
const GWEI = 1_000_000_000n;
const SENT_AT = 100;
const bytes = (n: number) => hash(`0x${n.toString(16).padStart(64, "0")}`);
const gasKey = newKey();

let database: TestDatabase;
let sent: Hex[];
let warned: string[];
beforeEach(async () => {
  database = await freshDatabase();
  [sent, warned] = [[], []];
});
afterEach(() => database.drop());

function engine(): Engine {
  const log = { ...silentLog, warn: (_: unknown, text: string) => void warned.push(text) };
  return {
    ...{ loopDb: database.db, settings: defaultSettings, log },
    meter: { count: () => {}, time: () => {} },
  } as unknown as Engine;
}

/** The lane as it is configured now. */
function laneWith(row: Partial<ChainRow>): Lane {
  const now = {
    ...{ slug: "local", chainId: CHAIN, multicall: MULTICALL, batchLimit: 50 },
    ...{ transactionGasCap: 16_777_216n, maxFeePerGasCap: 100n * GWEI, tokens: [{ contract: TOKEN }] },
    ...row,
  } as unknown as ChainRow;
  const chain = {
    row: now,
    send: async (raw: Hex) => sent.push(raw),
    fees: async () => ({ baseFeePerGas: GWEI, maxPriorityFeePerGas: 1n, hasRoom: true }),
  };
  return { chain, signer: localSigner(gasKey.key, [now]), fence: 1, maySign: true } as unknown as Lane;
}

async function claimed(n: number): Promise<Hash> {
  const parts = { chainId: CHAIN, nonceDomain: TOKEN, payer: newKey().address, nonce: bytes(n) };
  const key = claimKey(parts);
  await database.db.pool.insert(claim).values({
    ...{ claimKey: key, ...parts, method: "eip3009", id: `stl_${n}`, kind: "x402", state: "submitting" },
    ...{ merchantId: "mer_1", payableId: `x402r_${n}`, token: TOKEN, payTo: TREASURY, amount: 10n, fee: 0n },
    ...{ validAfter: 0n, validBefore: 2n ** 40n, signature: `0x${"11".repeat(64)}1b`, payerHasCode: false },
    ...{ fingerprint: bytes(n), slotId: "stored" },
  });
  return key;
}

/** A batch of two that was signed and stored when there was room for it. */
async function storedBatch(gasLimit = 196_000n): Promise<Slot> {
  const keys = [await claimed(1), await claimed(2)];
  const [made] = await database.db.pool
    .insert(slot)
    .values({ id: "stored", chainId: CHAIN, signer: gasKey.address, nonce: 0, sentAtBlock: SENT_AT })
    .returning();
  await database.db.pool
    .insert(slotItem)
    .values(keys.map((key, idx) => ({ slotId: "stored", claimKey: key, idx })));
  await database.db.pool.insert(attempt).values({
    ...{ slotId: "stored", seq: 1, txHash: bytes(7), raw: "0x02" as Hex, gasLimit },
    ...{ maxFee: 2n * GWEI, tip: 1n },
  });
  return made as Slot;
}

const attempts = () => database.db.pool.select().from(attempt).orderBy(attempt.seq);
/** When it is stuck. */
const late = { cursorNumber: SENT_AT + defaultSettings.patienceBlocks } as ObserverRow;

it("is sent again at a higher fee when it is stuck", async () => {
  const open = await storedBatch();
  await tend(engine(), laneWith({}), open, late, false);
  const [, second] = await attempts();
  expect(second).toMatchObject({ seq: 2, maxFee: (2n * GWEI * 115n) / 100n + 2n });
  expect(sent).toEqual([second?.raw]);
});

it.each<[string, Partial<ChainRow>, bigint?]>([
  ["has more payments than a batch may have now", { batchLimit: 1 }],
  ["is a batch where no batch can be sent now", { multicall: null, batchLimit: 1 }],
  ["takes more gas than a transaction may now", { transactionGasCap: 100_000n }],
  ["is of a token that is not listed now", { tokens: [] }],
])("is sent again as it is when it is stuck and %s", async (_, row) => {
  const open = await storedBatch();
  await tend(engine(), laneWith(row), open, late, false);
  expect(sent).toEqual(["0x02"]);
  expect(await attempts()).toHaveLength(1);
  expect(warned).toEqual(["a stuck transaction cannot be replaced: it is sent again as it is"]);
});
