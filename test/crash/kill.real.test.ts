/** The process dies at every step of a payment; another one goes on from the rows. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Checkpoint } from "#facilitator";
import { type Answer, sharedMerchant, sharedWorld, until } from "../support/house.ts";
import { type ServiceProcess, type StandingBy, standBy } from "../support/processes.ts";
import { attemptsOf, claimOf, ledgerOf, transactionsSent } from "../support/records.ts";
import { expectAtRest, newPayment } from "../support/scene.ts";

let service: ServiceProcess;
let next: StandingBy;

/** The house in this process has no loops: it registers resources and looks. */
const world = sharedWorld({ role: "web" });
const merchant = sharedMerchant(world);
beforeAll(async () => {
  next = await standBy(world.dev, world.database);
  await startNext();
});
afterAll(async () => {
  await Promise.all([service.stop(), next.stop()]);
});

async function startNext(): Promise<void> {
  service = await next.start();
  next = await standBy(world.dev, world.database);
}

/** Whether the caller was answered before the process died: then what dies is the way to finality. */
const steps = {
  "before-claim": "unanswered",
  claimed: "unanswered",
  "before-slot": "unanswered",
  slotted: "unanswered",
  sent: "unanswered",
  observed: "unanswered",
  "before-credit": "unanswered",
  credited: "unanswered",
  "before-grant": "unanswered",
  granted: "unanswered",
  "before-final": "answered",
  final: "answered",
} as const satisfies Record<Checkpoint, "answered" | "unanswered">;

/** Mines block after block, as a chain does. */
async function minedUntil(ended: Promise<void>): Promise<void> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await until(async () => {
    if (!isOver) await world.dev.anvil.mine();
    return isOver;
  }, "the process dies");
}

async function asked(settle: Promise<Answer>): Promise<Answer | null> {
  return settle.catch(() => null);
}

describe("a process killed at a step of a payment", () => {
  for (const [step, when] of Object.entries(steps) as [Checkpoint, "answered" | "unanswered"][]) {
    it(`${step}: the identical request to the next process ends in one payment`, async () => {
      // given a process that will die there
      const paid = await newPayment(world, merchant);
      const before = await transactionsSent(world.dev);
      const id = { "Idempotency-Key": `a settle killed at ${step}` };
      await service.killAt(step);
      // when a settle is sent, and it does
      const first = await asked(paid.settle(id, service.baseUrl));
      expect(first?.body.success ?? null).toBe(when === "answered" ? true : null);
      if (when === "answered") await minedUntil(service.ended);
      await service.ended;
      // then the next process answers the same request with success
      await startNext();
      const again = await paid.settle(id, service.baseUrl);
      expect(again).toMatchObject({ status: 200, body: { success: true } });
      // and it was told as fresh at most once: the answer of a grant that nobody received is replayed
      const isTold = when === "answered" || step === "granted";
      expect(again.headers.get("idempotent-replayed")).toBe(isTold ? "true" : null);
      expect(await paid.settle({}, service.baseUrl)).toMatchObject({
        status: 409,
        body: { errorReason: "duplicate_settlement", transaction: again.body.transaction },
      });
      // and there is one transaction, one credit, and books that equal the chain
      await expectAtRest(world);
      expect(await transactionsSent(world.dev)).toBe(before + 1);
      expect(await claimOf(world.database, paid.nonce)).toMatchObject({
        state: "final",
        credit_epoch: 0,
        settled_by: "farebox",
        included_tx: again.body.transaction,
      });
      const nonces = (await attemptsOf(world.database, paid.nonce)).map(({ nonce }) => nonce);
      expect(new Set(nonces).size).toBe(1);
      expect(await ledgerOf(world.database, again.body.extra.paymentId)).toEqual([
        "pending net treasury → available 9950",
        "pending fee treasury → fees 50",
        "post net treasury → available 9950",
        "post fee treasury → fees 50",
      ]);
    });
  }
});
