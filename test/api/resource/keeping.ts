/** Merchants who keep resources, on the app without a chain. */
import { createKey, createMerchant, type Permission } from "#api";
import type { RailFacts } from "#facilitator";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import type { Database } from "#store";
import { findPayables } from "../../../facilitator/payable/find.ts";
import { projectPayable } from "../../../facilitator/payable/project.ts";
import { freshDatabase } from "../../support/db.ts";
import { clock, fakeFacilitator, rail, world } from "../world.ts";

const eurc: RailFacts = {
  ...rail,
  asset: "EURC",
  contract: "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42",
};
const local: RailFacts = { ...rail, chain: "local", network: "eip155:31337", minimum: 50n };
const facilitator = (db: Database) =>
  fakeFacilitator({
    project: projectPayable,
    async quote(target) {
      const [payable] = await findPayables(db.pool, [target]);
      return payable ? { payable, options: [] } : null;
    },
    rails: () => [eurc, rail, local],
    refusedRails: () => [{ chain: "ink", network: "eip155:57073", asset: "USDC", problem: "no domain" }],
  });
const masterSecret = "a master secret for tests";
export const path = "/v1/x402/resources";
const newId = idMaker({ clock: systemClock, random: systemRandom });

interface Body extends Record<string, unknown> {
  readonly id: string;
  readonly url: string;
  readonly resources: readonly { readonly id: string }[];
  readonly errors: readonly { readonly pointer: string }[];
  readonly findings: readonly { readonly code: string }[];
}
export interface Caller {
  readonly merchantId: string;
  readonly key: string;
}

let count = 0;
export const freshUrl = () => `https://api.example.com/endpoint-${++count}`;
export const terms = (changes: object = {}) => ({
  url: freshUrl(),
  price: { amount: "0.01", asset: "USD" },
  ...changes,
});

export type Keeping = Awaited<ReturnType<typeof startKeeping>>;

export async function startKeeping() {
  const database = await freshDatabase();
  const { db } = database;
  const { app } = world({ db, facilitator: facilitator(db) });

  async function caller(permissions?: readonly Permission[], kind: "sk" | "pk" = "sk"): Promise<Caller> {
    const operator = { db, clock, newId, random: systemRandom, masterSecret };
    const { id } = await createMerchant(operator, {
      name: "Shop",
      city: "Oslo",
      countryCode: "NO",
      feeBps: 50,
    });
    const { plaintext } = await createKey(operator, {
      merchantId: id,
      kind,
      name: "test",
      ...(permissions ? { permissions } : {}),
    });
    return { merchantId: id, key: plaintext };
  }

  async function call(
    who: Caller,
    method: string,
    at: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) {
    const response = await app.request(at, {
      method,
      headers: {
        authorization: `Bearer ${who.key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (text === "" ? {} : JSON.parse(text)) as Body,
    };
  }

  return { db, database, caller, call };
}
