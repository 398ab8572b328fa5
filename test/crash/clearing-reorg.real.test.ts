/** Payments whose block leaves the chain: taken back, and there again when their money is. */
import { describe, expect, it } from "vitest";
import type { Hash, Hex } from "#kernel/bytes";
import { signedTransfer } from "../support/deposits.ts";
import { books, sharedWorld, until } from "../support/house.ts";
import { routeOrder, sharedSeller, statesOf, toldOf } from "../support/payments.ts";
import { ledgerOf } from "../support/records.ts";
import { expectAtRest, newPayment, withMiningHeld } from "../support/scene.ts";

const world = sharedWorld();
const seller = sharedSeller(world);

const send = (raw: Hex) => world.dev.anvil.rpc<Hash>("eth_sendRawTransaction", [raw]);
/** The block of a transaction, and those behind it, in which sweeps may be, are replaced by empty ones; without one the last
 *  block. What was in them is gone from the pool as well. */
async function reorg(transaction?: Hash): Promise<void> {
  const { chain, anvil } = world.dev;
  const receipt = transaction && (await chain.receipt(transaction));
  const depth = receipt ? (await chain.head()).number - receipt.blockNumber + 1 : 1;
  await anvil.rpc("anvil_reorg", [depth, []]);
}
const balance = async () => {
  const found = await books(world.dev, world.database);
  expect(found).toMatchObject({ balanced: true, treasury: found.chain });
};

describe("a settled deposit whose block leaves the chain before it is final", () => {
  it("is reversed: what was settled is voided, what came is taken out; mined again, it settles under a new attempt", async () => {
    const asked = await seller.asked();
    const { id } = asked.paymentIntent;
    const raw = await signedTransfer(world, asked.deposit.address, 10_000_000n);
    const sent = await send(raw);
    const paid = await seller.reaches(id, "settled");
    const first = [
      "single clearing deposit → clearing 10000000",
      "pending net clearing → available 9950000",
      "pending fee clearing → fees 50000",
    ];
    expect(await ledgerOf(world.database, asked.clearing.id)).toEqual(first);
    await withMiningHeld(world, async () => {
      await reorg(sent);
      const gone = await seller.reaches(id, "reversed");
      expect(gone).toMatchObject({
        paymentIntent: {
          status: "failed",
          failureReason: "reorged",
          completedAt: paid.paymentIntent.completedAt,
        },
        clearing: { failure: { code: "reorged" } },
        deposit: { received: { amount: "0.000000" }, deposits: [{ status: "orphaned", confirmations: 0 }] },
      });
      expect((await ledgerOf(world.database, asked.clearing.id)).slice(3).sort()).toEqual([
        "single clearing clearing → deposit 10000000",
        "void fee clearing → fees 50000",
        "void net clearing → available 9950000",
      ]);
      expect(await seller.must("GET", "/v1/balances")).toMatchObject([{ pending: { amount: "0.000000" } }]);
      expect(await toldOf(world.database, asked.clearing.id)).toContain("payment.reversed");
      await balance();
      expect(await seller.retry(id)).toMatchObject({ status: 409, body: { code: "funds_not_received" } });
      await send(raw);
      await world.dev.anvil.mine();
    });
    const again = await seller.reaches(id, "settled");
    expect(again).toMatchObject({
      paymentIntent: {
        status: "completed",
        failureReason: null,
        completedAt: paid.paymentIntent.completedAt,
      },
      clearing: { failure: null, transactionHash: paid.clearing.transactionHash },
      deposit: { deposits: [{ status: "credited" }] },
    });
    expect(statesOf(again).slice(5)).toEqual([
      "settled",
      "reversed",
      "funds-detected",
      "funds-received",
      "settling",
      "settled",
    ]);
    expect((await ledgerOf(world.database, asked.clearing.id)).slice(6)).toEqual(first);
    const keys = await world.database.query<{ key: string }>(
      "SELECT DISTINCT event_key AS key FROM ledger_transfer WHERE subject = $1 AND code = 'clearing-settled' ORDER BY 1",
      [asked.clearing.id],
    );
    expect(keys.map(({ key }) => key)).toEqual([
      `settle:${asked.clearing.id}:1`,
      `settle:${asked.clearing.id}:1:void`,
      `settle:${asked.clearing.id}:2`,
    ]);
    await expectAtRest(world);
    expect((await seller.must("GET", "/v1/balances"))[0].available.amount).toBe("9.950000");
  });

  it("one of two: both are needed, and the one that stayed is kept", async () => {
    const asked = await seller.asked();
    const { id } = asked.paymentIntent;
    await send(await signedTransfer(world, asked.deposit.address, 6_000_000n));
    await seller.reaches(id, "funds-detected");
    const raw = await signedTransfer(world, asked.deposit.address, 4_000_000n);
    const sent = await send(raw);
    await seller.reaches(id, "settled");
    await withMiningHeld(world, async () => {
      await reorg(sent);
      const gone = await seller.reaches(id, "reversed");
      expect(gone.deposit).toMatchObject({ received: { amount: "6.000000" } });
      await balance();
      await send(raw);
      await world.dev.anvil.mine();
    });
    await seller.reaches(id, "settled");
    await expectAtRest(world);
  });
});

describe("a deposit seen and not settled", () => {
  it("whose block leaves the chain leaves the order waiting", async () => {
    const asked = await seller.asked();
    const { id } = asked.paymentIntent;
    const sent = await send(await signedTransfer(world, asked.deposit.address, 3_000_000n));
    await seller.reaches(id, "funds-detected");
    await withMiningHeld(world, async () => {
      await reorg(sent);
      const waiting = await seller.reaches(id, "awaiting-funds");
      expect(statesOf(waiting)).toEqual(["created", "awaiting-funds", "funds-detected", "awaiting-funds"]);
    });
    const visit = await fetch(`${world.baseUrl}/x402/payables/${id}`);
    expect(visit.status).toBe(402);
    await expectAtRest(world);
  });
});

describe("other rails", () => {
  it("through the router: reversed, and settled again under its new block", async () => {
    const asked = await seller.asked({ executionPath: "on-chain-contract" });
    const { id } = asked.paymentIntent;
    const first = await routeOrder(world, asked);
    await seller.reaches(id, "settled");
    await withMiningHeld(world, async () => {
      await reorg();
      const gone = await seller.reaches(id, "reversed");
      expect(gone.deposit).toMatchObject({ deposits: [{ txHash: first.txHash, status: "orphaned" }] });
    });
    // the contract does not know of it any more, and takes the order once more
    const second = await routeOrder(world, asked);
    const again = await seller.reaches(id, "settled");
    expect(again.clearing.transactionHash).toBe(second.txHash);
    const settled = [
      "single clearing treasury → clearing 10000000",
      "pending net clearing → available 9950000",
      "pending fee clearing → fees 50000",
    ];
    const rows = await ledgerOf(world.database, asked.clearing.id);
    expect([rows.slice(0, 3), rows.slice(6, 9)]).toEqual([settled, settled]);
    await expectAtRest(world);
  });

  it("an agent's payment of a resource: reversed, and settled again when it is mined again", async () => {
    const { settle, resource } = await newPayment(world, seller);
    expect(await settle()).toMatchObject({ body: { success: true } });
    const found = async () =>
      (await seller.must("GET", "/v1/payments?source=x402")).find(
        ({ paymentIntent }: { paymentIntent: { metadata: { resourceId: string } } }) =>
          paymentIntent.metadata.resourceId === resource.id,
      );
    await until(async () => (await found())?.clearing.state === "settled", "it is settled");
    const { id } = (await found()).paymentIntent;
    await withMiningHeld(world, async () => {
      await reorg();
      const gone = await seller.reaches(id, "reversed");
      expect(gone.paymentIntent).toMatchObject({ status: "failed", failureReason: "reorged" });
    });
    await until(async () => {
      await world.dev.anvil.mine();
      return (await seller.read(id)).clearing.state === "settled";
    }, "the same bytes are sent again, and mined");
    const again = await seller.reaches(id, "settled");
    expect(statesOf(again).slice(6)).toEqual([
      "reversed",
      "funds-detected",
      "funds-received",
      "settling",
      "settled",
    ]);
    await expectAtRest(world);
  });
});
