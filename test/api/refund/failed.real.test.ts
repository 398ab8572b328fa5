/** A refund whose transfer the chain never takes. Time is moved here, so nothing else is tested beside it. */
import { describe, expect, it } from "vitest";
import { books, sharedWorld } from "../../support/house.ts";
import { factsOf, ledgerOf } from "../../support/records.ts";
import { held, paidMerchant, read, refund, untilEnded, untilState, untilSucceeded } from "./paid.ts";

const world = sharedWorld();

describe("a refund that fails for good", () => {
  it("gives its money back to both, says why, and can be made again", async () => {
    const { merchant, paid } = await paidMerchant(world, "0.04");
    const before = await books(world.dev, world.database);
    // given a payer whom the token no longer lets receive
    await world.dev.administer("block", [paid.payer]);
    const made = await refund(merchant, paid.id);
    await untilState(merchant, made.body.id, "processing");
    // when the treasury's authorization runs out
    await world.dev.anvil.rpc("evm_increaseTime", [3_700]);
    await untilEnded(world, merchant, made.body.id, "failed");
    // then all is as before, and the refund counts no more
    expect(await read(merchant, made.body.id)).toMatchObject({
      providerReference: null,
      failureReason: expect.stringMatching(/\w+/),
    });
    expect(await ledgerOf(world.database, made.body.id)).toEqual([
      "single net merchant → merchant 39800",
      "single fee fees → merchant 200",
      "single net merchant → available 39800",
      "single fee merchant → fees 200",
    ]);
    expect(await books(world.dev, world.database)).toEqual(before);
    expect(
      (await factsOf(world.database, made.body.id)).filter((type) => type.startsWith("refund.")),
    ).toEqual(["refund.created", "refund.processing", "refund.failed"]);
    await world.dev.administer("unblock", [paid.payer]);
    const again = await refund(merchant, paid.id);
    expect(again).toMatchObject({ status: 201, body: { amount: { amount: "0.040000" } } });
    await untilSucceeded(world, merchant, again.body.id);
    expect(await held(world, paid.payer)).toBe(40_000n);
  });
});
