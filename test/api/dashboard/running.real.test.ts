/** The forms with which a merchant runs the shop (endpoints, payouts, keys, webhooks, settings), as anybody might send them:
 *  of another site, of another merchant, without permission, twice. */
import { beforeAll, describe, expect, it } from "vitest";
import { createKey } from "#api";
import { checksum } from "#kernel/bytes";
import { systemClock, systemRandom } from "#kernel/system";
import { PING } from "../../../api/webhook/events.ts";
import { newKey } from "../../support/authorization.ts";
import { masterSecret, sharedWorld } from "../../support/house.ts";
import { newSeller, sharedSeller } from "../../support/payments.ts";
import { expectRefusals, openSession, type Session } from "./selling.ts";

let mine: Session;
let stranger: Session;
let reader: Session;
let ids: Record<"resources" | "addresses" | "api-keys" | "webhooks", string>;

const money = { amount: "0.01", asset: "USD" };

const world = sharedWorld();
const seller = sharedSeller(world);
beforeAll(async () => {
  const { db, newId } = world.house;
  const { plaintext } = await createKey(
    { db, newId, clock: systemClock, random: systemRandom, masterSecret },
    {
      ...{ merchantId: seller.id, kind: "sk", name: "reader" },
      permissions: ["merchant:manage", "x402:read", "ledger:read", "events:read"],
    },
  );
  mine = await openSession(world.baseUrl, seller.secretKey);
  stranger = await openSession(world.baseUrl, (await newSeller(world)).secretKey);
  reader = await openSession(world.baseUrl, plaintext);
  const make = async (path: string, body: unknown) => (await seller.must("POST", `/v1/${path}`, body)).id;
  ids = {
    resources: await make("x402/resources", { url: "https://shop.example/tea", price: money, probe: false }),
    addresses: await make("payout-addresses", { chain: "local", address: checksum(newKey().address) }),
    "api-keys": await make("api-keys", { kind: "sk", name: "other", permissions: ["x402:read"] }),
    webhooks: await make("webhook-endpoints", { url: "https://shop.example/hear", events: ["*"] }),
  };
});

const again = { url: "https://shop.example/tea", "price.amount": "0.02", "price.asset": "USD" };
/** Every form, filled in. */
const forms: readonly (readonly [path: string, fields: Readonly<Record<string, string>>])[] = [
  ["resources", { ...again, url: "https://shop.example/cake" }],
  ["resources/:id/edit", again],
  ...["list", "unlist", "try", "archive"].map((word) => [`resources/:id/${word}`, {}] as const),
  ["balances/addresses", { chain: "local", address: checksum(newKey().address) }],
  ["balances/addresses/:id/remove", {}],
  ["api-keys", { kind: "sk", name: "Eve", preset: "full" }],
  ["api-keys/:id/rotate", {}],
  ["api-keys/:id/revoke", {}],
  ["webhooks", { url: "https://eve.example/hear", events: "*" }],
  ["webhooks/:id/edit", { description: "Eve" }],
  ...["enable", "disable", "test", "rotate", "delete"].map((word) => [`webhooks/:id/${word}`, {}] as const),
  ["webhooks/:id/replay", { from: "2026-01-01T00:00" }],
];
const at = (path: string) =>
  path.replace(":id", ids[path.replace("balances/", "").split("/")[0] as keyof typeof ids]);
const stand = () =>
  world.database.query(
    `SELECT (SELECT json_agg(t ORDER BY id) FROM resource t) AS resources,
      (SELECT json_agg(t ORDER BY id) FROM payout_address t) AS addresses,
      (SELECT json_agg(json_build_array(id, name, revoked_at, expires_at) ORDER BY id) FROM api_key t) AS keys,
      (SELECT json_agg(json_build_array(id, url, events, description, enabled, secret, deleted_at) ORDER BY id)
        FROM webhook_endpoint t) AS webhooks,
      (SELECT count(*) FROM webhook_delivery WHERE type = $1) AS pings`,
    // Of deliveries and endpoints only what forms change: a registration is told to them some time later, and fails.
    [PING],
  );

describe("every form", () => {
  it.each(forms)("%s changes nothing for a stranger, another site or another key", async (path, fields) => {
    const who = { mine, reader, stranger: path.includes(":id") ? stranger : null };
    await expectRefusals(at(path), fields, who, stand);
  });

  it("of the settings takes no other site and no other session's token", async () => {
    const before = await seller.must("GET", "/v1/merchant");
    const fields = { name: "Eve", city: "Oslo", countryCode: "NO" };
    expect((await mine.post("settings", { ...fields, csrf: "x" })).status).toBe(403);
    expect((await mine.post("settings", fields, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect(await seller.must("GET", "/v1/merchant")).toEqual(before);
  });

  it("of the settings takes the rails that are ticked, and every one when none is", async () => {
    const own = await newSeller(world);
    const session = await openSession(world.baseUrl, own.secretKey);
    const { name, city, countryCode, timeZone, invoicePrefix } = await own.must("GET", "/v1/merchant");
    const rest = {
      name,
      city,
      countryCode,
      timeZone,
      invoicePrefix,
      underpaymentToleranceBps: "0",
      spreadBps: "0",
    };
    const ticked = async () =>
      [...(await session.get("settings")).text.matchAll(/name="rails" value="([^"]+)" checked/g)].map(
        ([, value]) => value,
      );
    expect(await ticked()).toEqual([]);
    expect((await session.post("settings", { ...rest, rails: "local/USDG" })).status).toBe(303);
    expect(await ticked()).toEqual(["local/USDG"]);
    expect(await own.must("GET", "/v1/merchant")).toMatchObject({
      rails: [{ chain: "local", asset: "USDG" }],
    });
    const refused = await session.post("settings", { ...rest, rails: "mars/USDC" });
    expect([refused.status, refused.text.includes(`role="alert"`)]).toEqual([422, true]);
    expect((await session.post("settings", rest)).status).toBe(303);
    expect(await own.must("GET", "/v1/merchant")).toMatchObject({ rails: [] });
  });

  it("of a resource keeps the rails that it names ticked once they are taken no more, and never widens them", async () => {
    const own = await newSeller(world);
    const session = await openSession(world.baseUrl, own.secretKey);
    const named = [{ chain: "local", asset: "USDG" }];
    const url = "https://shop.example/named";
    const { id } = await own.must("POST", "/v1/x402/resources", { url, price: money, rails: named });
    const path = `resources/${id}/edit`;
    const ticked = async () =>
      [...(await session.get(path)).text.matchAll(/name="rails" value="([^"]+)" checked/g)].map(
        ([, value]) => value,
      );
    const rails = async () =>
      (await world.database.query("SELECT rails FROM resource WHERE id = $1", [id]))[0];
    expect(await ticked()).toEqual(["local/USDG"]);
    await own.must("PATCH", "/v1/merchant", { rails: [{ chain: "local", asset: "USDC" }] });
    expect(await ticked()).toEqual(["local/USDG"]);
    expect((await session.get(path)).text).toContain("USDG on local (not offered now)");
    const refused = await session.post(path, { ...again, url, rails: "local/USDG" });
    expect([refused.status, refused.text.includes(`role="alert"`)]).toEqual([422, true]);
    expect(await rails()).toEqual({ rails: named });
    expect((await session.post(path, { ...again, url, rails: "local/USDC" })).status).toBe(303);
    expect(await ticked()).toEqual(["local/USDC"]);
  });

  it.each(
    forms.filter(([path]) => ["resources", "balances/addresses", "api-keys", "webhooks"].includes(path)),
  )("%s counts once however often it is sent, and is refused empty", async (path, fields) => {
    const count = async () => Object.values((await stand())[0] ?? {}).flat().length;
    const before = await count();
    const once = { ...fields, once: `same-${path}` };
    const statuses = [(await mine.post(path, once)).status, (await mine.post(path, once)).status];
    // A secret is on the first answer alone.
    expect([
      [303, 303],
      [200, 303],
    ]).toContainEqual(statuses);
    expect(await count()).toBe(before + 1);
    const empty = await mine.post(path, { surprise: "1" });
    expect([empty.status, empty.text.includes(`role="alert"`)]).toEqual([400, true]);
    expect(await count()).toBe(before + 1);
  });
});

it("no page shows another merchant's thing", async () => {
  for (const path of [
    `resources/${ids.resources}`,
    `resources/${ids.resources}/edit`,
    `balances/addresses/${ids.addresses}/remove`,
    `api-keys/${ids["api-keys"]}/rotate`,
    `webhooks/${ids.webhooks}`,
    `webhooks/${ids.webhooks}/edit`,
  ]) {
    expect([path, (await stranger.get(path)).status]).toEqual([path, 404]);
    expect([path, (await mine.get(path)).status]).toEqual([path, 200]);
  }
});

it("the page of an endpoint shows agents an address that tells its price", async () => {
  const { text } = await mine.get(`resources/${ids.resources}`);
  const shown = /<dt>For agents<\/dt><dd><code[^>]*>([^<]+)</.exec(text)?.[1] ?? "none";
  expect([shown, (await fetch(shown)).status]).toEqual([shown, 200]);
});
