/** A URL that another merchant registered first, and what its host says about that. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Endpoint, serveEndpoint } from "../../support/endpoint.ts";
import {
  type Answer,
  get,
  type Merchant,
  newMerchant,
  newPayer,
  post,
  sharedWorld,
  signPayment,
  until,
} from "../../support/house.ts";

const path = "/v1/x402/resources";

const world = sharedWorld();
let endpoint: Endpoint;
let squatter: Merchant;
let owner: Merchant;
beforeEach(async () => {
  endpoint = await serveEndpoint();
  [squatter, owner] = [await newMerchant(world), await newMerchant(world)];
  await world.database.query("TRUNCATE probed_domain");
});
afterEach(() => endpoint.close());

async function register(who: Merchant, changes: object = {}) {
  const terms = { url: endpoint.url, price: { amount: "0.01", asset: "USD" }, listed: true, ...changes };
  const response = await who.call(path, { method: "POST", body: JSON.stringify(terms) });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}
const statusFor = async (who: Merchant, id: string) => (await who.call(`${path}/${id}`)).status;
const factsOf = (id: string) =>
  world.database.query("SELECT type, merchant_id FROM outbox WHERE subject = $1 ORDER BY occurred_at, id", [
    id,
  ]);
const asked = () => endpoint.requests.filter((request) => request.path === "/.well-known/x402").length;

describe("a URL that another merchant holds", () => {
  it("201 for whom its host names: the other's is archived as by itself, its payments stay", async () => {
    const { body: held } = await register(squatter);
    const { body: payment } = await signPayment(world.dev, await newPayer(world.dev), held);
    const settled = await post(world.baseUrl, `/x402/resources/${held.id}/settle`, payment);
    expect(settled.body).toMatchObject({ success: true });
    endpoint.wellKnown = { merchantId: owner.id };
    // when the owner registers it
    const { status, body } = await register(owner, { price: { amount: "0.02", asset: "USD" } });
    // then it is theirs for whoever asks, and the squatter's is gone, with the fact of any archive
    expect([status, body.merchantId, body.url]).toEqual([201, owner.id, endpoint.url]);
    expect([await statusFor(squatter, held.id), await statusFor(owner, body.id)]).toEqual([404, 200]);
    expect(await factsOf(held.id)).toContainEqual({
      type: "x402.resource.archived",
      merchant_id: squatter.id,
    });
    await until(async () => {
      const { body: shown } = await get(world.baseUrl, "/x402/resources?limit=100");
      const ids = shown.items
        .filter(({ resource }: { resource: string }) => resource === endpoint.url)
        .map(({ id }: { id: string }) => id);
      return ids.join() === body.id;
    }, "the index shows the owner's alone");
    // and what was paid before stays paid
    const paid = await get(world.baseUrl, `/x402/settlements/${settled.body.extra.paymentId}`);
    expect(paid.body).toMatchObject({ status: "settled", chargeable: true });
    // and the squatter does not get it back
    expect(await register(squatter)).toMatchObject({
      status: 409,
      body: { code: "url_registered_elsewhere" },
    });
  });

  it.each([
    ["has no document", () => null],
    ["names nobody", () => ({ version: 1, resources: [] })],
    ["names the holder", () => ({ merchantId: squatter.id })],
    ["names both", () => ({ merchantIds: [owner.id, squatter.id] })],
  ])("409 url_registered_elsewhere while its host %s", async (_name, document) => {
    const { body: held } = await register(squatter);
    endpoint.wellKnown = document();
    const refused = await register(owner);
    expect([refused.status, refused.body.code]).toEqual([409, "url_registered_elsewhere"]);
    expect(refused.body.detail).toContain("/.well-known/x402");
    expect(await statusFor(squatter, held.id)).toBe(200);
    expect((await factsOf(held.id)).map(({ type }) => type)).toEqual(["x402.resource.registered"]);
  });

  it("409 while its host cannot be asked", async () => {
    await register(squatter);
    await endpoint.close();
    expect(await register(owner)).toMatchObject({
      status: 409,
      body: { code: "url_registered_elsewhere" },
    });
  });

  it("one of many whom its host names gets it, once", async () => {
    const { body: held } = await register(squatter);
    const owners = await Promise.all(Array.from({ length: 6 }, () => newMerchant(world)));
    endpoint.wellKnown = { merchantIds: owners.map(({ id }) => id) };
    const answers = await Promise.all(owners.map((each) => register(each)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const archived = (await factsOf(held.id)).filter(({ type }) => type === "x402.resource.archived");
    expect(archived).toHaveLength(1);
  });

  it("its host is asked only where somebody else holds the URL, and no more often than it is probed", async () => {
    await register(squatter, { listed: false });
    await register(squatter, { listed: false });
    expect(endpoint.requests).toEqual([]);
    const statuses: number[] = [];
    for (let i = 0; i < 30; i += 1) statuses.push((await register(owner, { listed: false })).status);
    expect(new Set(statuses)).toEqual(new Set([409, 429]));
    expect(asked()).toBe(statuses.filter((status) => status === 409).length);
  });
});
