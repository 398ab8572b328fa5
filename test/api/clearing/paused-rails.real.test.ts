/** Every token of a chain is paused: nothing new is taken there, and what is there already comes to its end. */
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { type Address, checksum } from "#kernel/bytes";
import { newKey } from "../../support/authorization.ts";
import { sharedWorld, until } from "../../support/house.ts";
import {
  heldBack,
  isIntentAwaited,
  movableClock,
  newSeller,
  type Seller,
  sendTo,
} from "../../support/payments.ts";
import { tokenChange } from "../../support/token-change.ts";
import { addressOf, arrives, final, idOf } from "./deposit-scene.ts";

const MINUTE = 60_000;
const movable = movableClock();
const issuer = tokenChange(movable);
const world = sharedWorld({ clock: issuer.clock, wrapChain: issuer.wrapChain });
let seller: Seller;
let all: number;
beforeAll(async () => {
  all = world.house.facilitator.rails().length;
});
beforeEach(async () => {
  seller = await newSeller(world);
});
afterEach(() => pause(() => false, all));

/** Only so many rails are offered then. */
const pause = (which: (token: string) => boolean, left: number) =>
  issuer.change(which, () => world.house.facilitator.rails().length === left);
const pauseAll = () => pause(() => true, 0);
const balanceOf = (account: Address) => world.dev.chain.tokenBalance(world.dev.usdc, account, "latest");

it("credits what arrives for an order, for good, and takes no new one", async () => {
  const [asked, { id: unasked }] = [await seller.asked(), await seller.intent()];
  const { required } = asked.deposit;
  await pauseAll();

  expect((await seller.ask("POST", `/v1/payment-intents/${unasked}/confirm`)).status).toBe(422);
  expect(await seller.read(idOf(asked))).toMatchObject({ deposit: { required, uri: null } });
  await sendTo(world, addressOf(asked), 10_000_000n);
  await seller.reaches(idOf(asked), "settled");
  await final(world);
  await until(async () => (await seller.available()) === "9.950000", "it is the merchant's for good");
  const { proof } = await seller.must("GET", `/v1/payments/${idOf(asked)}/proof.json`);
  expect(proof).toMatchObject({ network: "eip155:31337", token: checksum(world.dev.usdc) });
});

it("lets a window end, and settles late money when it is retried", async () => {
  const asked = await seller.asked();
  await pauseAll();
  movable.forward(32 * MINUTE);
  await seller.reaches(idOf(asked), "expired");
  const retried = await heldBack(world, { merchantId: seller.id, id: idOf(asked) }, async (letGo) => {
    await sendTo(world, addressOf(asked), 10_000_000n);
    const { deposits } = world.house.facilitator;
    const arrivals = () => deposits.arrivals(world.database.db.pool, [asked.clearing.id]);
    await until(async () => (await arrivals()).length === 1, "it is seen");
    const answer = seller.retry(idOf(asked));
    await until(() => isIntentAwaited(world), "the retry waits for its turn");
    letGo();
    return answer;
  });
  expect(retried).toMatchObject({ status: 200, body: { clearing: { state: "settled" } } });
});

it("decides on a return, to no token's contract, and sends it once the token is taken again", async () => {
  const asked = await seller.asked();
  await pauseAll();
  await sendTo(world, addressOf(asked), 4_000_000n);
  await arrives(world, addressOf(asked), 4_000_000n);
  await final(world);
  movable.forward(32 * MINUTE);
  await seller.reaches(idOf(asked), "in-review");

  const back = (destination: Address) =>
    seller.review(idOf(asked), { action: "return", destination: checksum(destination) });
  expect(await back(world.dev.usdc)).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: "/destination", detail: expect.stringContaining("token") }] },
  });
  const { address: payer } = newKey();
  expect(await back(payer)).toMatchObject({ status: 200 });
  const queued = () =>
    world.database.query("SELECT signed_at FROM outgoing WHERE subject = $1", [asked.clearing.id]);
  await until(async () => (await queued()).length === 1, "the return waits to be signed");
  expect(await queued()).toEqual([{ signed_at: null }]);
  expect(await balanceOf(payer)).toBe(0n);

  await pause(() => false, all);
  await until(async () => {
    await world.dev.anvil.mine();
    return (await balanceOf(payer)) === 4_000_000n;
  }, "it was sent");
});

it("takes no payout to the contract of a token that is paused", async () => {
  const add = () =>
    seller.ask("POST", "/v1/payout-addresses", { chain: "local", address: checksum(world.dev.usdc) });
  await pause((token) => token === world.dev.usdc, all - 1);
  expect(await add()).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: "/address", detail: expect.stringContaining("token") }] },
  });
});
