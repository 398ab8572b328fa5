/** When the treasury signs nothing: what it has sent is not known for sure. */
import { expect, it } from "vitest";
import { newKey } from "../../../support/authorization.ts";
import { chainFaults } from "../../../support/chain-faults.ts";
import { gate } from "../../../support/gate.ts";
import { rowOf, sharedMerchant, sharedWorld, until } from "../../../support/house.ts";
import { ledgerOf } from "../../../support/records.ts";
import { expectAtRest, newPayment, transfer } from "../../../support/scene.ts";

const faults = chainFaults();
const world = sharedWorld({ wrapChain: faults.wrap });
const merchant = sharedMerchant(world);

const outgoing = () => world.house.facilitator.outgoing;
const status = async (id: string) => (await outgoing().status([id]))[0]?.state;

/** What a payment brought is paid out to a fresh address. */
async function payOut(id: string) {
  expect((await (await newPayment(world, merchant)).settle()).body).toMatchObject({ success: true });
  await expectAtRest(world);
  const { chainId } = rowOf(world.dev);
  const to = { chainId, token: world.dev.usdc, recipient: newKey().address };
  const order = { id, kind: "payout", merchantId: merchant.id, amount: 5_000n, ...to } as const;
  return () => world.database.db.tx((tx) => outgoing().queue(tx, order));
}

it("it is far behind the chain: what it signs later lasts an hour from then", async () => {
  const queue = await payOut("po_behind");
  const followed = gate();
  let looks = 0;
  faults.set({
    blockAt: (real) => async (number) => {
      await followed.passed;
      return real.blockAt(number);
    },
    moneyLogs:
      (real) =>
      async (...asked) => {
        await followed.passed;
        return real.moneyLogs(...asked);
      },
    head: (real) => async () => {
      looks += 1;
      return real.head();
    },
  });
  await world.dev.anvil.rpc("evm_increaseTime", ["0x1c20"]);
  await world.dev.anvil.rpc("anvil_mine", ["0x2"]);
  await until(() => Promise.resolve(looks > 0), "following has begun, and stands still");
  await queue();
  const from = looks;
  await until(() => Promise.resolve(looks > from + 2), "it was thought of three times");
  expect(await status("po_behind")).toBe("queued");
  followed.open();
  faults.clear();
  await until(async () => (await status("po_behind")) === "sent", "it leaves");
  const [claim] = await world.database.query<{ ends: string; included: string }>(
    `SELECT valid_before AS ends, (SELECT timestamp FROM chain_block WHERE hash = included_hash) AS included
     FROM claim WHERE payable_id = 'po_behind'`,
  );
  expect(Number(claim?.ends) - Number(claim?.included)).toBeGreaterThan(3_000);
  await expectAtRest(world);
  expect(await ledgerOf(world.database, "po_behind")).toContain("post out merchant → treasury 5000");
});

it("something of the token left that nothing here explains, also before books and chain were compared", async () => {
  const queue = await payOut("po_after");
  const hash = await transfer(world, world.dev.contracts.treasury.address, newKey().address, 3n);
  await until(async () => (await world.house.operate.strayOutflows()).length > 0, "it is seen");
  let looks = 0;
  faults.set({
    head: (real) => async () => {
      looks += 1;
      return real.head();
    },
  });
  await queue();
  // By the chain's own time: a look for blocks is one of these, too.
  const until60 = looks + 60;
  await until(() => Promise.resolve(looks > until60), "it was thought of");
  expect(await status("po_after")).toBe("queued");
  const [stray] = await world.house.operate.strayOutflows();
  expect(stray?.transaction).toBe(hash);
  await world.dev.anvil.rpc("anvil_mine", ["0x5"]);
  const word = { merchantId: null, reason: "to the bank" };
  await until(
    async () => stray !== undefined && (await world.house.operate.bookOutflow(stray, word)) === null,
    "it is final, and booked",
  );
  await until(async () => (await status("po_after")) === "sent", "it leaves");
  await expectAtRest(world);
});
