/** A payment while one of the chain's endpoints fails or lies. With two, what moves money waits until they agree; with a
 *  third one it goes on. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { freshDatabase, type TestDatabase } from "../support/db.ts";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import {
  type Answer,
  books,
  type Merchant,
  newMerchant,
  type RunningHouse,
  startHouse,
} from "../support/house.ts";
import { attemptsOf, claimOf, factsOf, ledgerOf } from "../support/records.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { expectAtRest, newPayment, type Payment, type Place } from "../support/scene.ts";
import { faults } from "./endpoint-faults.ts";

vi.setConfig({ testTimeout: 180_000 });

const BLOCK_MS = 1_000;
/** A loaded machine is slow; what is asked here is whether it gets there. */
const PATIENCE_MS = 90_000;
const UNDER_FAULT_MS = 1_500;

describe.each([
  ["one honest endpoint of two", 1],
  ["two honest endpoints of three", 2],
])("%s", (_, honest) => {
  let dev: DevChain;
  let database: TestDatabase;
  let house: RunningHouse;
  let place: Place;
  let faulty: RpcProxy;
  let merchant: Merchant;
  let blocks: NodeJS.Timeout;

  // Not the id of local chains: those alone may become shorter.
  beforeAll(async () => {
    [dev, database] = await Promise.all([startDevChain({ chainId: 31_338 }), freshDatabase()]);
    faulty = await startRpcProxy(dev.anvil.rpcUrl);
    const rpcUrls = [faulty.url, ...Array<string>(honest).fill(dev.anvil.rpcUrl)];
    const settings = { maxWaitMs: UNDER_FAULT_MS };
    house = await startHouse({ ...dev, config: { ...dev.config, rpcUrls } }, database, { settings });
    merchant = await newMerchant(house);
    place = { dev, database, baseUrl: house.baseUrl };
    blocks = setInterval(() => void dev.anvil.mine(), BLOCK_MS);
  });
  afterEach(() => faulty.clear());
  afterAll(async () => {
    clearInterval(blocks);
    await faulty?.stop();
    await house?.stop();
    await database?.drop();
    await dev?.stop();
  });

  /** Repeats the identical request, as a client does, until it is told success. */
  async function insist(paid: Payment, told: Answer[]): Promise<void> {
    while (!told.at(-1)?.body.success) told.push(await paid.settle());
  }

  for (const [what, make] of Object.entries(faults)) {
    it(`the other ${what}: nothing wrong is booked or told, and the payment settles once`, async () => {
      // given
      const told: Answer[] = [];
      faulty.set(await make(dev));
      const paid = await newPayment(place, merchant);
      // when it is paid while the fault lasts, and after it where it has to wait
      if (honest === 1) {
        for (let i = 0; i < 2 && !told.at(-1)?.body.success; i += 1) told.push(await paid.settle());
        const { treasury, chain } = await books(dev, database);
        expect(treasury).toBeLessThanOrEqual(chain);
        faulty.clear();
      }
      await insist(paid, told);
      // then nobody was told an open outcome as a failure
      const words = told.map(
        ({ status, body }) => `${status} ${body.success ? "success" : body.errorReason}`,
      );
      const open = ["200 settlement_pending", "503 settlement_pending", "503 unexpected_settle_error"];
      expect(words.filter((word) => word !== "200 success" && !open.includes(word))).toEqual([]);
      // and there is one transaction, one credit that was never taken back, and books that equal the chain
      await expectAtRest(place, PATIENCE_MS);
      const claim = await claimOf(database, paid.nonce);
      expect(claim).toMatchObject({ state: "final", credit_epoch: 0 });
      const nonces = (await attemptsOf(database, paid.nonce)).map(({ nonce }) => nonce);
      expect(new Set(nonces).size).toBe(1);
      expect(await ledgerOf(database, claim?.id ?? "")).toEqual([
        "pending net treasury → available 9950",
        "pending fee treasury → fees 50",
        "post net treasury → available 9950",
        "post fee treasury → fees 50",
      ]);
      expect(await factsOf(database, claim?.id ?? "")).not.toContain("settlement.failed");
      expect(await database.query("SELECT halted_reason FROM observer")).toEqual([{ halted_reason: null }]);
      expect(await database.query("SELECT state FROM signer")).toEqual([{ state: "active" }]);
    });
  }
});
