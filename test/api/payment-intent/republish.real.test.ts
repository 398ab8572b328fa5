import { expect, it } from "vitest";
import type { Payable } from "#facilitator";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import { republishIntents } from "../../../api/payment-intent/verbs/republish.ts";
import { sharedDatabase } from "../../support/db.ts";
import { caller, newCaller } from "../caller.ts";
import { baseUrl, fakeFacilitator, world } from "../world.ts";

const database = sharedDatabase();

it("does not open to agents anew what was cancelled while others were told of", async () => {
  const projected: Payable[] = [];
  let afterFirst: (() => Promise<unknown>) | undefined;
  const facilitator = fakeFacilitator({
    async project(_tx, payable) {
      projected.push(payable);
      const work = afterFirst;
      afterFirst = undefined;
      await work?.();
    },
  });
  const newId = idMaker({ clock: systemClock, random: systemRandom });
  const api = world({ db: database.db, facilitator, time: systemClock, ids: newId });
  const owner = await newCaller(database.db);
  const call = caller(api.app, owner);
  const post = async (path: string, body?: unknown) => {
    const answer = await call("POST", path, {
      headers: { "idempotency-key": newId("evt") },
      ...(body === undefined ? {} : { body }),
    });
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  };
  const amount = { amount: "10.00", asset: "USD" };
  const first = await post("/v1/payment-intents", { amount });
  const second = await post("/v1/payment-intents", { amount });
  projected.length = 0;
  afterFirst = () => post(`/v1/payment-intents/${second.id}/cancel`);
  const desk = { db: database.db, facilitator, baseUrl, now: systemClock.now };
  await republishIntents(desk, owner.merchantId, new AbortController().signal);
  expect(projected.map(({ id, closedAs }) => [id, closedAs])).toEqual([
    [first.id, null],
    [second.id, "cancelled"],
  ]);
});
