/** The webhook room on a real database, without a chain: facts are told and endpoints served when a test says so. */
import { afterEach, beforeEach } from "vitest";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import { outbox } from "#store";
import type { Courier } from "../../../api/webhook/courier.ts";
import type { TestDatabase } from "../../support/db.ts";
import { type MovableClock, movableClock } from "../../support/payments.ts";
import { type Receiver, receiveWebhooks } from "../../support/webhook-receiver.ts";
import { type Caller, caller, newCaller } from "../caller.ts";
import { fakeFacilitator, stillSandbox, world } from "../world.ts";

export interface OfficeOptions {
  /** The merchants' clock; the machine's is the system's. */
  readonly time?: MovableClock;
  readonly allowLocalTargets?: boolean;
}

/** One process. */
export function openOffice(
  database: TestDatabase,
  { time = movableClock(), allowLocalTargets = true }: OfficeOptions = {},
) {
  const sandbox = { ...stillSandbox, clock: { ...stillSandbox.clock, clock: time } };
  const api = world({
    ...{ db: database.db, time: systemClock, sandbox, allowLocalTargets, facilitator: fakeFacilitator() },
    ids: idMaker({ clock: time, random: systemRandom }),
  });
  const courier = api.loops.find(({ name }) => name === "webhooks") as Courier;
  const tell = () =>
    outbox.deliver(database.db, 500, async (tx, facts) => {
      for (const hear of api.hearers) await hear(tx, facts);
    });
  return {
    ...api,
    time,
    courier,
    /** Has waiting facts heard. */
    tell,
    /** Sends what is due now, to the end. */
    async send() {
      await courier.turn();
      await courier.idle();
    },
    async tellAndSend() {
      while ((await tell()) > 0);
      await this.send();
    },
  };
}
export type Office = ReturnType<typeof openOffice>;

/** For each test an empty database with one process on it, and somebody who receives. Empty until the first test begins. */
export function freshOffice(database: TestDatabase): {
  readonly office: Office;
  readonly receiver: Receiver;
} {
  const [office, receiver] = [{} as Office, {} as Receiver];
  beforeEach(async () => {
    await database.query("TRUNCATE outbox, event, webhook_delivery, webhook_endpoint CASCADE");
    Object.assign(office, openOffice(database));
    Object.assign(receiver, await receiveWebhooks());
  });
  afterEach(async () => {
    await office.courier.stop();
    await receiver.stop();
  });
  return { office, receiver };
}

export const factId = (time = systemClock) => idMaker({ clock: time, random: systemRandom })("evt");

/** A merchant, and what it does with its webhooks. */
export async function newListener(database: TestDatabase, office: Office, who?: Caller) {
  const owner = who ?? (await newCaller(database.db));
  const call = caller(office.app, owner);
  let count = 0;
  const must = async (method: string, path: string, body?: unknown) => {
    count += 1;
    const headers = { "idempotency-key": `${owner.keyId}-${count}` };
    const answer = await call(method, path, { headers, ...(body === undefined ? {} : { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  return {
    ...owner,
    call,
    must,
    listen: (url: string, events: readonly string[] = ["*"], more = {}) =>
      must("POST", "/v1/webhook-endpoints", { url, events, ...more }),
    intent: async (): Promise<string> =>
      (await must("POST", "/v1/payment-intents", { amount: { amount: "10.00", asset: "USD" } })).id,
    /** Facts about one intent, in this order. */
    async happens(intentId: string, ...types: readonly string[]): Promise<void> {
      for (const type of types) {
        const payload = { paymentIntentId: intentId, clearingId: null, previous: null };
        const fact = {
          id: factId(office.time),
          type,
          subject: intentId,
          merchantId: owner.merchantId,
          payload,
        };
        await database.db.tx((tx) => outbox.append(tx, [fact]));
      }
    },
    deliveries: (endpointId: string, query = "") =>
      must("GET", `/v1/webhook-endpoints/${endpointId}/deliveries${query}`),
    endpoint: (id: string) => must("GET", `/v1/webhook-endpoints/${id}`),
  };
}
