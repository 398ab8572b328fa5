/** How much a merchant may newly show in discovery, whatever it is. */
import { describe, expect, it } from "vitest";
import { sharedDatabase } from "../../support/db.ts";
import { caller, newCaller } from "../caller.ts";
import { world } from "../world.ts";

const database = sharedDatabase();

type App = ReturnType<typeof world>["app"];
const price = { amount: "10", asset: "USD" };
const dueAt = "2026-09-10T00:00:00Z";

/** What a new merchant does, each write with a key of its own. */
async function shopOn(app: App) {
  const owner = await newCaller(database.db);
  const call = caller(app, owner);
  let count = 0;
  const post = (path: string, body?: unknown) =>
    call("POST", path, { body, headers: { "idempotency-key": `w-${++count}` } });
  const sell = (name: string, listed?: boolean) =>
    post("/v1/x402/resources", { url: `https://${owner.keyId}.example/${name}`, price, listed });
  const made = async (path: string, body: unknown) => {
    const answer = await post(path, body);
    if (answer.status !== 201) throw new Error(answer.text);
    return `${path}/${answer.body.id}`;
  };
  return { owner, post, sell, made };
}

async function listMany({ sell }: Awaited<ReturnType<typeof shopOn>>, many: number) {
  const answers = await Promise.all(Array.from({ length: many }, (_, i) => sell(`${i}`, true)));
  return answers.map(({ status }) => status);
}

describe("a merchant's new listings", () => {
  it("429 beyond the rate, for resources, links and invoices alike, and nothing is listed", async () => {
    const { app } = world({ db: database.db, rateLimits: "on" });
    const shop = await shopOn(app);
    const { owner, post, sell, made } = shop;
    expect(new Set(await listMany(shop, 100))).toEqual(new Set([201]));
    // A new minute may have begun meanwhile, with six more.
    for (let i = 0; i < 6; i += 1) await sell(`more-${i}`, true);
    const refused = await sell("late", true);
    expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.headers.get("ratelimit-policy")).toBe('"listing";q=6;w=60');
    const late = "SELECT 1 FROM resource WHERE merchant_id = $1 AND url LIKE '%/late'";
    expect(await database.query(late, [owner.merchantId])).toEqual([]);

    const lines = [{ name: "Tea", quantity: 1, unitPrice: price }];
    const unlisted = [
      await made("/v1/x402/resources", { url: `https://${owner.keyId}.example/quiet`, price }),
      await made("/v1/payment-links", { kind: "fixed", amount: price }),
      await made("/v1/invoices", { currency: "USD", dueAt, buyer: { name: "B" }, lines }),
    ];
    for (const path of unlisted) expect((await post(`${path}/list`)).status).toBe(429);
    const shown = `SELECT id FROM payment_link WHERE listed AND merchant_id = $1
      UNION ALL SELECT id FROM invoice WHERE listed AND merchant_id = $1`;
    expect(await database.query(shown, [owner.merchantId])).toEqual([]);

    // What is listed may be registered again, and others list as they like.
    expect((await sell("0", true)).status).toBe(200);
    expect((await sell("1")).body.listed).toBe(true);
    expect((await (await shopOn(app)).sell("0", true)).status).toBe(201);
  });

  it("are not counted where request rates are lifted", async () => {
    const { app } = world({ db: database.db });
    expect(new Set(await listMany(await shopOn(app), 110))).toEqual(new Set([201]));
  });
});
