/** The way to older rows on a page that came back with a refused form. */
import { beforeAll, expect, it } from "vitest";
import { sharedWorld, until } from "../../support/house.ts";
import { sharedSeller } from "../../support/payments.ts";
import { openSession, type Sent } from "./selling.ts";

/** One more than such a page holds. */
const ROWS = 26;
const world = sharedWorld();
const seller = sharedSeller(world);
let mine: Awaited<ReturnType<typeof openSession>>;
beforeAll(async () => {
  mine = await openSession(world.baseUrl, seller.secretKey);
});

const olderOn = ({ text }: Sent) =>
  /href="[/]dashboard[/]([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";

/** Both are pages of the same thing, and lead to the same older rows. */
async function expectSameOlder(at: string, refused: Sent) {
  const older = olderOn(refused);
  expect(older.split("?")[0]).toBe(at);
  expect(older).toBe(olderOn(await mine.get(at)));
  expect((await mine.get(older)).status).toBe(200);
}

it("of the deliveries of an endpoint", async () => {
  const { id } = await seller.must("POST", "/v1/webhook-endpoints", {
    ...{ url: "http://127.0.0.1:9/none", events: ["payment_link.*"], enabled: true },
  });
  for (let i = 0; i < ROWS; i += 1) await seller.must("POST", `/v1/webhook-endpoints/${id}/test`);
  const at = `webhooks/${id}`;
  await until(async () => olderOn(await mine.get(at)) !== "", "there are two pages of them");
  const refused = await mine.post(`${at}/replay`, { from: "2020-01-01T00:00", to: "2020-01-02T00:00" });
  expect(refused.status).toBe(400);
  await expectSameOlder(at, refused);
});

it("of the payments of a link", async () => {
  const { id } = await seller.must("POST", "/v1/payment-links", {
    ...{ kind: "fixed", amount: { amount: "10.00", asset: "USD" } },
  });
  for (let i = 0; i < ROWS; i += 1) await seller.must("POST", `/v1/payment-links/${id}/checkout`, {});
  const at = `links/${id}`;
  const refused = await mine.post(`${at}/enable`, { once: "" });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  await expectSameOlder(at, refused);
});
