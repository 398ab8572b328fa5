/** A return that was decided of money whose block left the chain and came back before anybody looked. */
import { expect, it } from "vitest";
import { checksum, type Hash, type Hex } from "#kernel/bytes";
import { newKey } from "../../support/authorization.ts";
import { signedTransfer } from "../../support/deposits.ts";
import { sharedWorld, until } from "../../support/house.ts";
import { heldBack, movableClock, sendTo, sharedSeller } from "../../support/payments.ts";
import { expectAtRest, withMiningHeld } from "../../support/scene.ts";

const clock = movableClock();
const world = sharedWorld({ clock });
const seller = sharedSeller(world);

const send = (raw: Hex) => world.dev.anvil.rpc<Hash>("eth_sendRawTransaction", [raw]);

it("is decided anew, and moves the money once: never that of another payment", async () => {
  // given money of another payment in clearing, and a part of what is asked for, which the merchant gives back
  const other = await seller.asked();
  await sendTo(world, other.deposit.address, 5_000_000n);
  await seller.reaches(other.paymentIntent.id, "funds-detected");
  const asked = await seller.asked();
  const { id } = asked.paymentIntent;
  const at = { merchantId: seller.id, id };
  const destination = newKey().address;
  const giveBack = () => seller.review(id, { action: "return", destination: checksum(destination) });
  await world.dev.anvil.mine(5);
  const raw = await signedTransfer(world, asked.deposit.address, 4_000_000n);
  await withMiningHeld(world, async () => {
    const sent = await send(raw);
    await world.dev.anvil.mine(1);
    const stands = async () => (await seller.read(id)).deposit.deposits[0]?.status === "confirmed";
    await until(stands, "it is confirmed");
    clock.forward(45 * 60_000);
    await seller.reaches(id, "in-review");
    expect((await giveBack()).body.clearing.state).toBe("returned");
    // when its block leaves the chain, and it is mined again, in one look
    await heldBack(world, at, async () => {
      const receipt = await world.dev.chain.receipt(sent);
      const depth = (await world.dev.chain.head()).number - (receipt?.blockNumber ?? 0) + 1;
      await world.dev.anvil.rpc("anvil_reorg", [depth, []]);
      await send(raw);
      await world.dev.anvil.mine(1);
      const { deposits } = world.house.facilitator;
      await until(async () => {
        const [seen] = await deposits.arrivals(world.database.db.pool, [asked.clearing.id]);
        return seen?.isCanonical === true && !seen.isTaken && seen.confirmations > 0;
      }, "it is seen anew");
    });
  });
  const returns = () =>
    world.database.query<{ state: string; source: string }>(
      "SELECT state, source FROM clearing_return WHERE clearing_id = $1 ORDER BY id",
      [asked.clearing.id],
    );
  await until(async () => (await returns())[0]?.state === "failed", "what was decided is over");
  await expectAtRest(world);
  const held = () => world.dev.chain.tokenBalance(world.dev.usdc, destination, "latest");
  expect(await held()).toBe(0n);
  expect((await seller.read(id)).deposit.reviewRequired).toBe(true);
  // then it is given back when that is said again, once
  expect((await giveBack()).status).toBe(200);
  await until(async () => {
    await world.dev.anvil.mine();
    return (await returns())[1]?.state === "sent";
  }, "it is given back");
  await expectAtRest(world);
  expect(await returns()).toEqual([
    { state: "failed", source: "clearing" },
    { state: "sent", source: "unmatched" },
  ]);
  expect(await held()).toBe(4_000_000n);
  const [clearing] = await world.database.query<{ left: string }>(
    `SELECT credits_posted - debits_posted AS left FROM ledger_balance JOIN ledger_account ON ledger_account.id = account_id
     WHERE path LIKE 'liability:clearing%' AND asset = 'USDC@local'`,
  );
  expect(clearing?.left).toBe("5000000");
});
