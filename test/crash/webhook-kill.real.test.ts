/** The process dies while a webhook is under way; another one sends it again. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedWorld, until } from "../support/house.ts";
import { newSeller } from "../support/payments.ts";
import { startProcess } from "../support/processes.ts";
import { type Receiver, receiveWebhooks, verified } from "../support/webhook-receiver.ts";

const world = sharedWorld({ role: "web" });
let receiver: Receiver;
beforeAll(async () => {
  receiver = await receiveWebhooks();
});
afterAll(async () => {
  await receiver.stop();
});

describe("kill -9 while an endpoint has not answered", () => {
  it("the event is sent again by the next process, when the lease of the dead one is over, with the same id", async () => {
    const shop = await newSeller(world);
    const { id, secret } = await shop.must("POST", "/v1/webhook-endpoints", {
      url: receiver.url,
      events: ["payment.created"],
    });
    // given a process whose request is not answered
    receiver.answerWith(() => {});
    const first = await startProcess(world.dev, world.database);
    await shop.intent();
    await until(async () => receiver.got.length === 1, "the event is sent");
    // when it is killed
    await first.stop();
    receiver.answerWith(200);
    const second = await startProcess(world.dev, world.database);
    // then the next one sends the same, once
    await until(async () => receiver.got.length === 2, "the event is sent again", 60_000);
    const delivered = async () =>
      (await shop.must("GET", `/v1/webhook-endpoints/${id}/deliveries`))[0].state === "succeeded";
    await until(delivered, "it is written down");
    const [before, after] = receiver.got;
    expect(after?.headers["webhook-id"]).toBe(before?.headers["webhook-id"]);
    expect(after?.body).toBe(before?.body);
    expect(after && verified(after, secret)).toMatchObject({ type: "payment.created" });
    expect(receiver.got).toHaveLength(2);
    await second.stop();
  });
});
