/** A merchant's links, and who opens them; no chain. For all tests of a file. */
import { afterEach, beforeAll } from "vitest";
import { fixedRates, type Rates } from "#api";
import type { Payable } from "#facilitator";
import { sharedDatabase } from "../../support/db.ts";
import { silentLog } from "../../support/dev-chain.ts";
import { shared } from "../../support/shared.ts";
import { type Answer, read as asAnswer, type Caller, caller, newCaller } from "../caller.ts";
import { clock, fakeFacilitator, now, world } from "../world.ts";

export const root = "/v1/payment-links";
export const ten = { amount: "10", asset: "USD" };
export const fixed = { kind: "fixed", amount: ten };

export const codeOf = ({ status, body }: Pick<Answer, "status" | "body">) => [
  status,
  body.code,
  body.errors?.[0]?.pointer,
];

const nothing = async (_id?: string) => {};

export function linkShop() {
  const database = sharedDatabase();
  const owner = shared(() => newCaller(database.db));
  const time = { at: now };
  const projected = new Map<string, Payable>();
  /** What happens while a request is under way: as a payable is told of, and as a rate is asked for. */
  const during = { projecting: nothing, pricing: nothing };
  afterEach(() => Object.assign(during, { projecting: nothing, pricing: nothing }));
  const facilitator = fakeFacilitator({
    project: async (_, payable) => {
      projected.set(payable.id, payable);
      await during.projecting(payable.id);
    },
    offer: async () => null,
  });
  const steady = fixedRates({ clock, log: silentLog });
  const rates: Rates = {
    async rate(pair) {
      await during.pricing();
      return steady.rate(pair);
    },
  };
  let app: ReturnType<typeof world>["app"];
  beforeAll(() => {
    ({ app } = world({ db: database.db, facilitator, rates, time: { ...clock, now: () => time.at } }));
  });

  let count = 0;
  /** Each call with a key of its own, unless one is given. */
  const callAs =
    (who: Caller) =>
    (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      caller(app, who)(method, path, {
        body,
        headers: { "idempotency-key": `k-${++count}`, ...headers },
      });
  const call = callAs(owner);
  async function must(method: string, path: string, body?: unknown) {
    const answer = await call(method, path, body);
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  }
  /** As anybody, without a key of the API. */
  async function visit(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const key: Record<string, string> = { "idempotency-key": `v-${++count}` };
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const response = await app.request(path, {
      method,
      headers: { ...key, ...json, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return asAnswer(response);
  }
  return {
    ...{ database, owner, time, projected, during, facilitator, call, callAs, must, visit },
    link: (body: unknown = fixed) => must("POST", root, body),
    read: (id: string) => must("GET", `${root}/${id}`),
    product: (change: Record<string, unknown> = {}) =>
      must("POST", "/v1/catalog/products", {
        sku: `sku-${++count}`,
        name: "Tea",
        prices: [{ amount: "2.50", asset: "USD" }],
        ...change,
      }),
    checkout: (id: string, body?: unknown, headers?: Record<string, string>) =>
      visit("POST", `${root}/${id}/checkout`, body, headers),
    told: async (id: string) => {
      const rows = await database.query<{ type: string }>(
        "SELECT type FROM outbox WHERE subject = $1 ORDER BY sequence",
        [id],
      );
      return rows.map(({ type }) => type);
    },
  };
}
