/** Refunds of what people paid: to whom they go by themselves, in the currency that was asked for, and from a treasury that
 *  has the money. */
import { describe, expect, it } from "vitest";
import { type Address, address, checksum } from "#kernel/bytes";
import { newKey } from "../../support/authorization.ts";
import { books, newPayer, type Payer, sharedWorld, until } from "../../support/house.ts";
import { newSeller, routeOrder, type Seller, sendTo } from "../../support/payments.ts";
import { factsOf, ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { call, held, listed, purse, read, refund, untilSucceeded, usdc } from "./paid.ts";

const world = sharedWorld();
let seller: Seller;

interface Deposited {
  readonly id: string;
  readonly to: Address;
  readonly sender: Address;
}

/** A new seller's payment by deposit, final unless told otherwise; `from` pays, in as many pieces as it is long. */
async function deposited(
  asked: Record<string, unknown> = {},
  { from = [], isFinal = true }: { readonly from?: readonly Payer[]; readonly isFinal?: boolean } = {},
): Promise<Deposited> {
  seller = await newSeller(world);
  const position = await seller.asked({ payment: { chain: "local", asset: "USDC" }, ...asked });
  const { id } = position.paymentIntent;
  const due = BigInt(position.deposit.amount.amount.replace(".", ""));
  const payers = from.length > 0 ? from : [await newPayer(world.dev, 0n)];
  const piece = due / BigInt(payers.length);
  for (const [i, payer] of payers.entries())
    await sendTo(world, position.deposit.address, i === 0 ? due - piece * BigInt(payers.length - 1) : piece, {
      payer,
    });
  await seller.reaches(id, "settled");
  if (isFinal) await expectAtRest(world);
  return { id, to: address(position.deposit.address), sender: payers[0]?.address ?? world.dev.lane };
}

/** From now on there is a contract at this address. */
const build = (at: Address) => world.dev.anvil.rpc("anvil_setCode", [at, "0x00"]);
const give = (id: string, to: string) =>
  call(seller, `/v1/refunds/${id}/destination`, { body: { address: to } });
/** In the order of the alphabet: two that became true at once have no other. */
const told = async (id: string) =>
  (await factsOf(world.database, id)).filter((type) => type.startsWith("refund.")).sort();

describe("a payment by deposit", () => {
  it("goes back to a wallet that sent it, in parts of the price that was asked for", async () => {
    const { id, to, sender } = await deposited({ amount: { amount: "10.00", asset: "USD" } });
    // a stranger's dust at its address does not make the payment the stranger's
    await sendTo(world, to, 1n);
    await until(async () => (await seller.read(id)).deposit.deposits.length === 2, "the dust is seen");
    const first = await refund(seller, id, { amount: { amount: "3.33", asset: "USD" } });
    expect(first).toMatchObject({
      status: 201,
      body: {
        state: "pending",
        destination: checksum(sender),
        amount: { amount: "3.330000", asset: "USDC" },
      },
    });
    const finer = await refund(seller, id, { amount: { amount: "0.001", asset: "USD" } });
    expect(finer).toMatchObject({ status: 400, body: { code: "too_many_decimals" } });
    const other = await refund(seller, id, { amount: { amount: "1", asset: "EUR" } });
    expect(other).toMatchObject({
      status: 422,
      body: { code: "asset_mismatch", detail: expect.stringMatching(/USD,.*USDC,/) },
    });
    await untilSucceeded(world, seller, first.body.id);
    const rest = await refund(seller, id);
    expect(rest.body.amount.amount).toBe("6.670000");
    await untilSucceeded(world, seller, rest.body.id);
    expect(await held(world, sender)).toBe(10_000_000n);
    expect(await ledgerOf(world.database, first.body.id)).toEqual([
      "single net merchant → merchant 3313350",
      "single fee fees → merchant 16650",
      "pending out merchant → treasury 3330000",
      "post out merchant → treasury 3330000",
    ]);
    expect(await purse(seller)).toEqual(["0.000000", "0.000000", "0.000000"]);
  });

  it.each([
    ["yen", "JPY", "1000", ["333", "333", "334"]],
    // a hundredth of it is less than the smallest piece of the coin: what three are cut by is no part of one
    ["rupiah", "IDR", "1000000.00", ["333333.33", "333333.33", "333333.34"]],
  ])(
    "at a rate to %s: parts are rounded down at the rate it was priced at, and the last one takes the remainder",
    async (_, asset, price, asked) => {
      const { id, sender } = await deposited({ amount: { amount: price, asset } });
      const paid = BigInt((await seller.read(id)).clearing.settlementAmount.amount.replace(".", ""));
      const { scaledRate } = (await seller.read(id)).clearing.rate;
      const parts: bigint[] = [];
      for (const amount of asked) {
        const { body } = await refund(seller, id, { amount: { amount, asset } });
        parts.push(BigInt(body.amount.amount.replace(".", "")));
      }
      const [whole = "", fraction = ""] = (asked[0] ?? "").split(".");
      const perPiece = 10n ** BigInt(12 + fraction.length);
      expect(parts[0]).toBe((BigInt(whole + fraction) * BigInt(scaledRate)) / perPiece);
      expect(parts[1]).toBe(parts[0]);
      expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(paid);
      expect(await refund(seller, id)).toMatchObject({ body: { code: "payment_not_refundable" } });
      for (const { id: each } of await listed(seller, id)) await untilSucceeded(world, seller, each);
      expect(await held(world, sender)).toBe(paid);
    },
  );

  it("that is not swept yet: the refund waits for the treasury to have the money", async () => {
    const { id, sender } = await deposited(
      { amount: { amount: "700.00", asset: "USD" } },
      { isFinal: false },
    );
    const made = await refund(seller, id);
    expect(made).toMatchObject({ status: 201, body: { state: "pending" } });
    expect(await ledgerOf(world.database, made.body.id)).toEqual([]);
    await untilSucceeded(world, seller, made.body.id);
    expect(await held(world, sender)).toBe(700_000_000n);
    const after = await books(world.dev, world.database);
    expect(after).toMatchObject({ balanced: true, treasury: after.chain });
  });

  it("from a contract: nobody can tell, so it asks whom to pay; the money is promised meanwhile", async () => {
    const { id, to, sender } = await deposited();
    await build(sender);
    const made = await refund(seller, id);
    expect(made).toMatchObject({ status: 201, body: { state: "requires-destination", destination: null } });
    expect(await told(made.body.id)).toEqual(["refund.created", "refund.requires_destination"]);
    expect(await purse(seller)).toEqual(["9.950000", "0.000000", "0.000000"]);
    // while it waits, nobody looks at it, and nothing else can have the money
    const due = "SELECT due_at AS at FROM refund WHERE id = $1";
    expect(await world.database.query(due, [made.body.id])).toEqual([{ at: null }]);
    const wallet = checksum(newKey().address);
    await call(seller, "/v1/payout-addresses", { body: { chain: "local", address: wallet } });
    const payout = { amount: usdc("0.000001"), chain: "local", destination: wallet };
    expect(await call(seller, "/v1/payouts", { body: payout })).toMatchObject({
      status: 422,
      body: { code: "insufficient_balance" },
    });
    // an address of ours is no answer
    expect(await give(made.body.id, checksum(to))).toMatchObject({
      status: 422,
      body: { code: "recipient_is_ours", errors: [{ pointer: "/address" }] },
    });
    expect(await read(seller, made.body.id)).toEqual(made.body);
    // when the merchant says where
    const given = await give(made.body.id, wallet);
    expect(given).toMatchObject({ status: 200, body: { state: "pending", destination: wallet } });
    expect(await give(made.body.id, wallet)).toMatchObject({ status: 200 });
    expect(await give(made.body.id, checksum(newKey().address))).toMatchObject({
      status: 409,
      body: { code: "refund_has_destination" },
    });
    await untilSucceeded(world, seller, made.body.id);
    expect(await held(world, wallet)).toBe(10_000_000n);
    expect(await held(world, sender)).toBe(0n);
    expect(await told(made.body.id)).toEqual([
      ...["refund.created", "refund.processing", "refund.requires_destination", "refund.succeeded"],
    ]);
  });

  it("that waits for an address can be cancelled, and given one before its payment is final", async () => {
    const { id, sender } = await deposited({}, { isFinal: false });
    await build(sender);
    const cancelled = await refund(seller, id, { amount: usdc("4") });
    expect(await call(seller, `/v1/refunds/${cancelled.body.id}/cancel`)).toMatchObject({
      status: 200,
      body: { state: "cancelled", destination: null },
    });
    const made = await refund(seller, id);
    expect(made.body).toMatchObject({ state: "requires-destination", amount: { amount: "10.000000" } });
    const wallet = checksum(newKey().address);
    expect((await give(made.body.id, wallet)).body.state).toBe("pending");
    expect(await ledgerOf(world.database, made.body.id)).toEqual([]);
    await untilSucceeded(world, seller, made.body.id);
    expect(await held(world, wallet)).toBe(10_000_000n);
  });

  it("from a contract that was named as the payer goes back to it; one that was learned does not", async () => {
    const payer = await newPayer(world.dev, 0n);
    const payment = { chain: "local", asset: "USDC", payerAddress: checksum(payer.address) };
    const { id } = await deposited({ payment }, { from: [payer] });
    await build(payer.address);
    const made = await refund(seller, id);
    expect(made.body).toMatchObject({ state: "pending", destination: checksum(payer.address) });
    await untilSucceeded(world, seller, made.body.id);
    // given another one, whose address was only learned from the money
    const learned = await deposited();
    expect((await seller.read(learned.id)).paymentIntent.payment.payerAddress).toBe(checksum(learned.sender));
    await build(learned.sender);
    expect((await refund(seller, learned.id)).body.state).toBe("requires-destination");
  });

  it("from two senders: nobody can tell whose it is", async () => {
    const from = [await newPayer(world.dev, 0n), await newPayer(world.dev, 0n)];
    const { id } = await deposited({}, { from });
    const made = await refund(seller, id, { amount: usdc("1") });
    expect(made.body).toMatchObject({ state: "requires-destination", destination: null });
    // and where the merchant says it at once, it goes there
    const wallet = newKey().address;
    const said = await refund(seller, id, { amount: usdc("1"), destination: wallet });
    expect(said.body).toMatchObject({ state: "pending", destination: checksum(wallet) });
    await untilSucceeded(world, seller, said.body.id);
    expect(await held(world, wallet)).toBe(1_000_000n);
  });

  it("422 recipient_is_ours for a destination that is an order's address, or the router", async () => {
    const { id, to } = await deposited();
    const { router } = world.dev.config;
    for (const destination of [to, router ?? ""]) {
      const refused = await refund(seller, id, { destination });
      expect(refused).toMatchObject({
        status: 422,
        body: { code: "recipient_is_ours", errors: [{ pointer: "/destination" }] },
      });
    }
    expect(await listed(seller, id)).toEqual([]);
  });
});

describe("a payment through the router", () => {
  it("goes back to who called it", async () => {
    seller = await newSeller(world);
    const position = await seller.asked({ executionPath: "on-chain-contract" });
    const { payer } = await routeOrder(world, position);
    const { id } = position.paymentIntent;
    await seller.reaches(id, "settled");
    const made = await refund(seller, id, { amount: usdc("2.5") });
    expect(made.body).toMatchObject({ state: "pending", destination: checksum(payer.address) });
    await untilSucceeded(world, seller, made.body.id);
    await until(async () => (await held(world, payer.address)) === 2_500_000n, "the money is there");
    expect(await purse(seller)).toEqual(["7.462500", "0.000000", "0.000000"]);
  });
});
