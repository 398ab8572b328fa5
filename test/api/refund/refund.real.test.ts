import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { books, newMerchant, startWorld, until } from "../../support/house.ts";
import { factsOf, ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { type Merchant, pay, untilFinal, type World } from "./paid.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

async function call(
  merchant: Merchant,
  path: string,
  { method = "POST", body, key }: { method?: string; body?: unknown; key?: string } = {},
) {
  const response = await merchant.call(path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { "Idempotency-Key": key ?? Math.random().toString(36) },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}
const held = (account: string) =>
  world.dev.chain.tokenBalance(world.dev.usdc, account as `0x${string}` & { brand: "address" }, "latest");

describe("POST /v1/payments/{id}/refunds", () => {
  it("201: part of a final payment goes back to who paid: the rows of the worked posting", async () => {
    const merchant = await newMerchant(world);
    const paid = await pay(world, merchant, "49.99");
    await untilFinal(world, paid);
    const before = await books(world.dev, world.database);
    const made = await call(merchant, `/v1/payments/${paid.id}/refunds`, {
      body: { amount: { amount: "20", asset: "USDC" } },
    });
    expect(made).toMatchObject({ status: 201, body: { state: "pending", amount: { amount: "20.000000" } } });
    expect(made.body.destination).toBe(checksum(paid.payer as never));
    await until(async () => (await held(paid.payer)) === 20_000_000n, "the money arrives");
    await expectAtRest(world);
    const read = () => call(merchant, made.headers.get("Location") ?? "", { method: "GET" });
    await until(async () => (await read()).body.state === "succeeded", "it succeeds");
    console.log(
      (await read()).body,
      await ledgerOf(world.database, made.body.id),
      await factsOf(world.database, made.body.id),
    );
    const after = await books(world.dev, world.database);
    console.log(before, after);
  });
});
