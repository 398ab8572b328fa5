/** Views of a chain from which blocks only seem to be gone. */
import { afterEach, describe, expect, it } from "vitest";
import type { BlockRef, Chain } from "../../facilitator/chain/port.ts";
import { chainFaults } from "../support/chain-faults.ts";
import { newMerchant, sharedMerchant, sharedWorld, startWorld, until } from "../support/house.ts";
import { attemptsOf, claimOf, ledgerOf, stateOf } from "../support/records.ts";
import { expectAtRest, newPayment } from "../support/scene.ts";

const faults = chainFaults();
const world = sharedWorld({ wrapChain: faults.wrap, settings: { maxWaitMs: 2_000 } });
const merchant = sharedMerchant(world);
afterEach(() => faults.clear());

const haltedReason = async () =>
  (await world.database.query<{ reason: string | null }>("SELECT halted_reason AS reason FROM observer"))[0]
    ?.reason ?? null;

describe("a view that is only behind", () => {
  it("takes nothing back", async () => {
    // given a chain that is not local, where a shorter view is a lagging node
    const lagging = chainFaults();
    const place = await startWorld({ chainId: 31_338, wrapChain: lagging.wrap });
    try {
      const notYetFinal = { finalized: (real: Chain) => async () => (await real.blockAt(1)) as BlockRef };
      lagging.set(notYetFinal);
      const seller = await newMerchant(place);
      const paid = await newPayment(place, seller);
      const settling = paid.settle();
      await until(async () => (await attemptsOf(place.database, paid.nonce)).length === 1, "it is sent");
      await place.dev.anvil.mine(11);
      const settled = await settling;
      expect(settled.body).toMatchObject({ success: true });
      const rows = await ledgerOf(place.database, settled.body.extra.paymentId);
      // when the endpoint shows a chain that ends before the payment
      let asked = 0;
      const { number } = await place.dev.chain.head();
      lagging.set({
        ...notYetFinal,
        head: (real) => async () => {
          asked += 1;
          return (await real.blockAt(number - 20)) as BlockRef;
        },
        blockAt: (real) => async (height) => (height > number - 20 ? null : real.blockAt(height)),
      });
      await until(async () => asked > 3, "it is asked several times");
      // then nothing has changed, and the rest comes when the view does
      expect(await ledgerOf(place.database, settled.body.extra.paymentId)).toEqual(rows);
      expect((await claimOf(place.database, paid.nonce))?.credit_epoch).toBe(0);
      lagging.clear();
      await expectAtRest(place);
      expect(await stateOf(place.database, paid.nonce)).toBe("final");
    } finally {
      await place.stop();
    }
  });

  it("takes nothing back on a local chain either: it is one whose last blocks are just being replaced", async () => {
    const paid = await newPayment(world, merchant);
    const settled = await paid.settle();
    expect(settled.body).toMatchObject({ success: true });
    const rows = await ledgerOf(world.database, settled.body.extra.paymentId);
    const { number } = await world.dev.chain.head();
    // given a chain without its last block, which holds the payment and is not final
    let asked = 0;
    faults.set({
      head: (real) => async () => {
        asked += 1;
        return (await real.blockAt(number - 1)) as BlockRef;
      },
      blockAt: (real) => async (height) => (height >= number ? null : real.blockAt(height)),
    });
    await until(async () => asked > 3, "it is asked several times");
    // then nothing has changed
    expect(await haltedReason()).toBeNull();
    expect(await ledgerOf(world.database, settled.body.extra.paymentId)).toEqual(rows);
    // when another block stands there
    faults.clear();
    await world.dev.anvil.rpc("anvil_reorg", [1, []]);
    // then it is a reorganisation, and the payment is credited again
    await until(async () => (await claimOf(world.database, paid.nonce))?.credit_epoch === 1, "it is voided");
    await expectAtRest(world);
    expect(await stateOf(world.database, paid.nonce)).toBe("final");
  });
});
