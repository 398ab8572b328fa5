/** Blocks that leave the chain. */
import { keccak256 } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import type { Hash } from "#kernel/bytes";
import type { BlockRef } from "../../facilitator/chain/port.ts";
import { chainFaults } from "../support/chain-faults.ts";
import {
  books,
  get,
  newMerchant,
  newPayer,
  sharedMerchant,
  sharedWorld,
  startWorld,
  until,
} from "../support/house.ts";
import { attemptsOf, claimOf, factsOf, ledgerOf, stateOf } from "../support/records.ts";
import {
  cancel,
  expectAtRest,
  newPayment,
  type Place,
  statusOf,
  submitAsStranger,
  transfer,
  withMiningHeld,
} from "../support/scene.ts";

const faults = chainFaults();

const world = sharedWorld({ wrapChain: faults.wrap, settings: { maxWaitMs: 2_000 } });
const merchant = sharedMerchant(world);
afterEach(() => faults.clear());

/** The last `depth` blocks are replaced by empty ones; their transactions are gone from the pool as well. */
async function reorg({ dev }: Place, depth: number): Promise<void> {
  await dev.anvil.rpc("anvil_reorg", [depth, []]);
}

const haltedReason = async ({ database }: Place) =>
  (await database.query<{ reason: string | null }>("SELECT halted_reason AS reason FROM observer"))[0]
    ?.reason ?? null;

/** A branch that replaces the real chain from `height` on, without anything of ours in it. */
function emptyBranchFrom(height: number, on = faults) {
  const other = (hash: Hash) => keccak256(hash) as Hash;
  const onBranch = (block: BlockRef | null) =>
    block && block.number >= height
      ? {
          ...block,
          hash: other(block.hash),
          parentHash: block.number === height ? block.parentHash : other(block.parentHash),
        }
      : block;
  on.set({
    head: (real) => async () => onBranch(await real.head()) as BlockRef,
    blockAt: (real) => async (number) => onBranch(await real.blockAt(number)),
    moneyLogs: (real) => (block, ours) =>
      block.number >= height ? Promise.resolve([]) : real.moneyLogs(block, ours),
  });
}

describe("a transaction that was found in a block just when that block left", () => {
  it("is looked after as one that was never mined, and its lane goes on", async () => {
    const paid = await newPayment(world, merchant);
    await withMiningHeld(world, async () => {
      const settled = paid.settle();
      await until(async () => (await attemptsOf(world.database, paid.nonce)).length > 0, "it is sent");
      await world.database.query(
        "UPDATE slot SET mined_block = 1, mined_hash = decode(repeat('ee', 32), 'hex'), sorted = true WHERE open",
      );
      await world.dev.anvil.mine(1);
      expect((await settled).body).toMatchObject({ success: true });
    });
    await expectAtRest(world);
    const open = await world.database.query(
      "SELECT FROM slot WHERE open AND mined_hash = decode(repeat('ee', 32), 'hex')",
    );
    expect(open).toEqual([]);
  });
});

describe("a credited block that leaves the chain before it is final", () => {
  it("is voided and credited again under a new epoch, by the same transaction, and told once as success", async () => {
    const paid = await newPayment(world, merchant);
    const settled = await paid.settle();
    expect(settled.body).toMatchObject({ success: true });
    const { paymentId } = settled.body.extra;
    const first = await attemptsOf(world.database, paid.nonce);
    // when its block is replaced by an empty one
    await withMiningHeld(world, async () => {
      await reorg(world, 1);
      await until(async () => (await statusOf(world, settled)).status === "reversed", "it is reversed");
      expect(await ledgerOf(world.database, paymentId)).toEqual([
        "pending net treasury → available 9950",
        "pending fee treasury → fees 50",
        "void net treasury → available 9950",
        "void fee treasury → fees 50",
      ]);
      expect(await claimOf(world.database, paid.nonce)).toMatchObject({
        state: "submitting",
        credit_state: "none",
        credit_epoch: 1,
        included_tx: null,
        granted: true,
      });
      expect((await paid.verify()).body).toMatchObject({
        invalidReason: "duplicate_settlement",
        invalidMessage: expect.stringContaining("its block has left the chain"),
      });
      const now = await books(world.dev, world.database);
      expect(now).toMatchObject({ balanced: true, treasury: now.chain });
      // then the same bytes are sent again, mined again, and credited anew
      await world.dev.anvil.mine();
      const { transaction } = settled.body;
      await until(
        async () => (await world.dev.anvil.rpc("eth_getTransactionByHash", [transaction])) !== null,
        "the same bytes are sent again",
      );
    });
    await expectAtRest(world);
    expect(await attemptsOf(world.database, paid.nonce)).toEqual(first);
    expect(await ledgerOf(world.database, paymentId)).toEqual([
      "pending net treasury → available 9950",
      "pending fee treasury → fees 50",
      "void net treasury → available 9950",
      "void fee treasury → fees 50",
      "pending net treasury → available 9950",
      "pending fee treasury → fees 50",
      "post net treasury → available 9950",
      "post fee treasury → fees 50",
    ]);
    expect(await factsOf(world.database, paymentId)).toEqual([
      "settlement.credited",
      "settlement.reversed",
      "settlement.credited",
    ]);
    expect(await paid.settle()).toMatchObject({
      status: 409,
      body: { errorReason: "duplicate_settlement", transaction: settled.body.transaction },
    });
  });

  it("and whose payer cancels meanwhile is told as cancelled to whoever asks, though success was told", async () => {
    const paid = await newPayment(world, merchant);
    expect((await paid.settle()).body).toMatchObject({ success: true });
    await reorg(world, 1);
    await cancel(world, paid.payer, paid.nonce);
    await until(async () => {
      await world.dev.anvil.mine();
      return (await stateOf(world.database, paid.nonce)) === "cancelled";
    }, "it is cancelled for good");
    expect(await claimOf(world.database, paid.nonce)).toMatchObject({ granted: true, included_tx: null });
    const { body } = await paid.verify();
    expect(body).toMatchObject({ isValid: false, invalidReason: "invalid_exact_evm_nonce_already_used" });
    expect((await paid.settle()).body).toMatchObject({
      success: false,
      errorReason: body.invalidReason,
      errorMessage: body.invalidMessage,
      extra: { chargeable: false },
    });
    await expectAtRest(world);
  });

  it("that a stranger had submitted: we submit it ourselves", async () => {
    const paid = await newPayment(world, merchant);
    const strangers = await submitAsStranger(world, paid.signed.call);
    expect((await paid.settle()).body).toMatchObject({ success: true, transaction: strangers });
    await reorg(world, 1);
    await until(async () => (await attemptsOf(world.database, paid.nonce)).length > 0, "we send it");
    await expectAtRest(world);
    const [ours] = await attemptsOf(world.database, paid.nonce);
    expect(await claimOf(world.database, paid.nonce)).toMatchObject({
      state: "final",
      credit_epoch: 1,
      settled_by: "farebox",
      included_tx: ours?.tx_hash,
    });
  });

  it("that a stranger had submitted, and that was waiting for its depth: we submit it ourselves", async () => {
    const paid = await newPayment(world, merchant, { dollars: 10_000n });
    await submitAsStranger(world, paid.signed.call);
    expect((await paid.settle()).body).toMatchObject({ errorReason: "settlement_pending", transaction: "" });
    await reorg(world, 1);
    // as if it had waited long enough for the stranger's transaction to come back
    await until(async () => {
      await world.database.query(
        "UPDATE claim SET updated_at = now() - interval '1 minute' WHERE state = 'submitting'",
      );
      await world.dev.anvil.mine();
      return (await attemptsOf(world.database, paid.nonce)).length > 0;
    }, "we send it");
    await expectAtRest(world);
    expect(await claimOf(world.database, paid.nonce)).toMatchObject({
      state: "final",
      settled_by: "farebox",
      credit_epoch: 0,
    });
  });

  it("and holds money nobody asked for: its booking is voided", async () => {
    const giver = await newPayer(world.dev, 55n);
    const before = await books(world.dev, world.database);
    const given = await transfer(world, giver.address, world.dev.contracts.treasury.address, 55n);
    await until(async () => (await ledgerOf(world.database, given)).length === 1, "it is booked");
    await reorg(world, 1);
    await until(async () => (await ledgerOf(world.database, given)).length === 2, "it is voided");
    await expectAtRest(world);
    expect(await ledgerOf(world.database, given)).toEqual([
      "pending in treasury → unmatched 55",
      "void in treasury → unmatched 55",
    ]);
    expect(await books(world.dev, world.database)).toEqual(before);
  });
});

describe("a block that leaves the chain and comes back", () => {
  it("a payment in it is credited, voided and credited again", async () => {
    const paid = await newPayment(world, merchant);
    const settled = await paid.settle();
    const { paymentId } = settled.body.extra;
    const { number } = await world.dev.chain.head();
    emptyBranchFrom(number);
    await until(async () => (await statusOf(world, settled)).status === "reversed", "it is reversed");
    faults.clear();
    await expectAtRest(world);
    expect(await ledgerOf(world.database, paymentId)).toEqual([
      ...["pending net treasury → available 9950", "pending fee treasury → fees 50"],
      ...["void net treasury → available 9950", "void fee treasury → fees 50"],
      ...["pending net treasury → available 9950", "pending fee treasury → fees 50"],
      ...["post net treasury → available 9950", "post fee treasury → fees 50"],
    ]);
  });

  it("money nobody asked for is booked again, each time it comes back", async () => {
    const giver = await newPayer(world.dev, 66n);
    const given = await transfer(world, giver.address, world.dev.contracts.treasury.address, 66n);
    const booked = async (rows: number) =>
      until(async () => (await ledgerOf(world.database, given)).length === rows, `${rows} rows`);
    await booked(1);
    const { number } = await world.dev.chain.head();
    emptyBranchFrom(number);
    await booked(2);
    faults.clear();
    await booked(3);
    emptyBranchFrom(number);
    await booked(4);
    faults.clear();
    await expectAtRest(world);
    expect(await ledgerOf(world.database, given)).toEqual([
      ...["pending in treasury → unmatched 66", "void in treasury → unmatched 66"],
      ...["pending in treasury → unmatched 66", "void in treasury → unmatched 66"],
      ...["pending in treasury → unmatched 66", "post in treasury → unmatched 66"],
    ]);
  });
});

describe("a chain that was replaced whole, at the same height", () => {
  it("is halted, with the reason; an endpoint that cannot say what it has halts nothing", async () => {
    const swapped = chainFaults();
    const place = await startWorld({ wrapChain: swapped.wrap });
    try {
      const seller = await newMerchant(place);
      const paid = await newPayment(place, seller);
      const settled = await paid.settle();
      await expectAtRest(place);
      const rows = await ledgerOf(place.database, settled.body.extra.paymentId);
      // given a view with another head that knows no other block
      const { number } = await place.dev.chain.head();
      await until(async () => {
        const [at] = await place.database.query<{ cursor: string }>(
          "SELECT cursor_number AS cursor FROM observer",
        );
        return Number(at?.cursor) === number;
      }, "it is followed to its head");
      let asked = 0;
      emptyBranchFrom(number, swapped);
      const { head } = swapped.now();
      swapped.set({
        ...(head ? { head } : {}),
        blockAt: () => async () => {
          asked += 1;
          return null;
        },
      });
      await until(async () => asked > 3, "it is asked several times");
      expect(await haltedReason(place)).toBeNull();
      // when every block of ours is another one
      emptyBranchFrom(0, swapped);
      await until(async () => (await haltedReason(place)) !== null, "the chain is halted");
      // then the operator is told why, and no row of the books was touched
      expect(await haltedReason(place)).toMatch(
        /^The chain local has no block in common with .* `npm run reset`/,
      );
      expect(await ledgerOf(place.database, settled.body.extra.paymentId)).toEqual(rows);
      expect(await stateOf(place.database, paid.nonce)).toBe("final");
    } finally {
      await place.stop();
    }
  });
});

/** Last: the chain is halted for good. */
describe("a final block that leaves the chain", () => {
  it("stops crediting and sending, and no row of the books is touched", async () => {
    const paid = await newPayment(world, merchant);
    const settled = await paid.settle();
    await expectAtRest(world);
    const rows = await ledgerOf(world.database, settled.body.extra.paymentId);
    const { number } = await world.dev.chain.finalized();
    await until(async () => {
      const [row] = await world.database.query<{ at: string }>("SELECT finalized_number AS at FROM observer");
      return Number(row?.at) >= number;
    }, "its finality is followed");
    await reorg(world, 4);
    await until(async () => (await haltedReason(world)) !== null, "the chain is halted");
    expect(await haltedReason(world)).toContain("npm run reset");
    const later = await newPayment(world, merchant);
    // nothing is claimed that would only hang, by either road, and nobody is blamed
    const networks = async () => (await get(world.baseUrl, "/x402/supported")).body.kinds;
    await until(async () => (await networks()).length === 0, "the chain leaves supported");
    const refused = await later.settle();
    expect(refused.body).toMatchObject({ success: false, errorReason: "unexpected_settle_error" });
    expect(refused.headers.get("Retry-After")).not.toBeNull();
    expect(await later.verify()).toMatchObject({
      status: 200,
      body: { isValid: false, invalidReason: "unexpected_verify_error" },
    });
    expect(await claimOf(world.database, later.nonce)).toBeNull();
    expect(await attemptsOf(world.database, later.nonce)).toEqual([]);
    // what was settled before is still told as it is
    expect(await paid.settle()).toMatchObject({ status: 409, body: { errorReason: "duplicate_settlement" } });
    expect(await ledgerOf(world.database, settled.body.extra.paymentId)).toEqual(rows);
    expect(await stateOf(world.database, paid.nonce)).toBe("final");
  });
});
