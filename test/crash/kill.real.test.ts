import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Checkpoint } from "#facilitator";
import { freshDatabase, type TestDatabase } from "../support/db.ts";
import { type DevChain, startDevChain } from "../support/dev-chain.ts";
import {
  books,
  get,
  newMerchant,
  newPayer,
  post,
  type Resource,
  signPayment,
  startHouse,
  until,
} from "../support/house.ts";
import { startProcess } from "../support/processes.ts";

let dev: DevChain;
let database: TestDatabase;
let resource: Resource;

beforeAll(async () => {
  dev = await startDevChain();
  database = await freshDatabase();
  // The chain is followed from here on, and there is something to pay for.
  const first = await startHouse(dev, database);
  resource = await (await newMerchant(first)).register();
  await first.stop();
});
afterAll(async () => {
  await database.drop();
  await dev.stop();
});

/** Every durable step, and the moment right before each commits. */
const steps: Record<Checkpoint, string> = {
  "before-claim": "before the claim commits",
  claimed: "after the claim",
  "before-slot": "before slot and signed bytes commit",
  slotted: "after they are committed and before they are sent",
  sent: "after sending",
  observed: "after a block was recorded",
  "before-credit": "before the credit commits",
  credited: "after the credit",
  "before-grant": "before the success is granted",
  granted: "after the success was granted and before it was told",
  "before-final": "before the final posting commits",
  final: "after the final posting",
};

describe("kill -9, and a start on the same database", () => {
  it.each(Object.entries(steps) as [Checkpoint, string][])(
    "%s (%s): settled once, ledger = chain",
    async (step) => {
      // given a payment, and a process that dies at that step of it
      const before = await books(dev, database);
      const payer = await newPayer(dev, 10_000n);
      const { body } = await signPayment(dev, payer, resource);
      const path = `/x402/resources/${resource.id}/settle`;
      const dying = await startProcess(dev, database, step);
      const lost = post(dying.baseUrl, path, body).catch(() => null);
      const mining = keepMining(dev);
      expect(await dying.ended).toBe("SIGKILL");
      await lost;
      // when another process starts and the payer repeats the identical request until the outcome is known
      const next = await startProcess(dev, database);
      let answer = await post(next.baseUrl, path, body);
      while (answer.body.errorReason === "settlement_pending") answer = await post(next.baseUrl, path, body);
      // then it is settled: the grant is this caller's, unless it was taken before the crash
      const isGranted = answer.body.success === true;
      expect(isGranted ? answer.status : [answer.status, answer.body.errorReason]).toEqual(
        isGranted ? 200 : [409, "duplicate_settlement"],
      );
      if (["granted", "before-final", "final"].includes(step)) expect(isGranted).toBe(false);
      const [claim] = await database.query<{ id: string; attempts: number }>(
        "SELECT id, attempts FROM claim ORDER BY created_at DESC LIMIT 1",
      );
      await until(
        async () => (await get(next.baseUrl, `/x402/settlements/${claim?.id}`)).body.status === "final",
        "the settlement is final",
      );
      mining.stop();
      await next.stop();
      // and it was paid and booked exactly once, in one transaction
      const after = await books(dev, database);
      expect(after).toMatchObject({
        balanced: true,
        chain: before.chain + 10_000n,
        treasury: before.treasury + 10_000n,
      });
      expect(after.available.posted - before.available.posted).toBe(9_950n);
      expect(after.fees.posted - before.fees.posted).toBe(50n);
      expect(await dev.chain.tokenBalance(dev.usdc, payer.address, "latest")).toBe(0n);
      expect(claim?.attempts).toBe(1);
    },
  );
});

/** Blocks go on coming, so that what was sent becomes final. */
function keepMining({ anvil }: DevChain) {
  const timer = setInterval(() => void anvil.mine().catch(() => {}), 100);
  return { stop: () => clearInterval(timer) };
}
