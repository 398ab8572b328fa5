import { describe, expect, it, vi } from "vitest";
import { checksum } from "#kernel/bytes";
import { newKey } from "../../support/authorization.ts";
import { books, type Merchant, newMerchant, rowOf, sharedWorld, until } from "../../support/house.ts";
import { earnersOf } from "./earners.ts";

const world = sharedWorld();
const { call, earned, available } = earnersOf(world);

async function payee(merchant: Merchant) {
  const { address } = newKey();
  const added = await call(merchant, "/v1/payout-addresses", {
    method: "POST",
    body: { chain: "local", address: checksum(address) },
  });
  expect(added).toMatchObject({ status: 201, body: { chain: "local", address: checksum(address) } });
  return address;
}

describe("POST /v1/payouts", () => {
  it("reserves the money, sends it from the treasury, and posts it when final; ledger = chain", async () => {
    // given a merchant with money and an address
    const merchant = await earned();
    const destination = await payee(merchant);
    // when 0.004 USDC are paid out
    const created = await call(merchant, "/v1/payouts", {
      method: "POST",
      body: { amount: { amount: "0.004", asset: "USDC" }, chain: "local", destination },
    });
    expect(created).toMatchObject({
      status: 201,
      body: { state: "pending", amount: { amount: "0.004000" }, destination: checksum(destination) },
    });
    expect((await call(merchant, "/v1/balances")).body).toMatchObject([
      { available: { amount: "0.005950" }, reserved: { amount: "0.004000" } },
    ]);
    // then it arrives, and the payout succeeds once its block is final
    const arrived = () => world.dev.chain.tokenBalance(world.dev.usdc, destination, "latest");
    await until(async () => (await arrived()) === 4_000n, "the money arrives");
    await world.dev.anvil.mine(3);
    const read = async () => (await call(merchant, created.headers.get("Location") ?? "")).body;
    await until(async () => (await read()).state === "succeeded", "the payout succeeds");
    expect(await read()).toMatchObject({
      transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      failureReason: null,
    });
    // and the rows are the worked postings, the merchant's side of them
    const entries = (await call(merchant, `/v1/ledger/entries?subject=${created.body.id}`)).body;
    expect(
      entries.map((entry: { code: string; transfers: { phase: string; amount: { amount: string } }[] }) => [
        entry.code,
        entry.transfers.map(({ phase, amount }) => `${phase} ${amount.amount}`),
      ]),
    ).toEqual([
      ["reserved-sent", ["post 0.004000"]],
      ["reserved-sent", ["pending 0.004000"]],
      ["payout-created", ["single 0.004000"]],
    ]);
    expect((await call(merchant, "/v1/balances")).body).toMatchObject([
      { available: { amount: "0.005950" }, reserved: { amount: "0.000000" } },
    ]);
    const after = await books(world.dev, world.database);
    expect(after).toMatchObject({ balanced: true });
    expect(after.treasury).toBe(after.chain);
  });

  it("422 insufficient_balance: more than is available is refused and nothing is reserved", async () => {
    const merchant = await earned();
    const destination = await payee(merchant);
    const before = (await call(merchant, "/v1/balances")).body;
    const refused = await call(merchant, "/v1/payouts", {
      method: "POST",
      body: { amount: { amount: "0.009951", asset: "USDC" }, chain: "local", destination },
    });
    expect(refused).toMatchObject({
      status: 422,
      body: { code: "insufficient_balance", errors: [{ pointer: "/amount/amount" }] },
    });
    expect((await call(merchant, "/v1/balances")).body).toEqual(before);
    expect((await call(merchant, "/v1/payouts")).body).toEqual([]);
  });

  it("422 amount_too_small for less than the chain takes, and nothing is reserved", async () => {
    const merchant = await earned();
    const destination = await payee(merchant);
    const { facilitator } = world.house;
    const rails = facilitator.rails().map((rail) => ({ ...rail, minimum: 5_000n }));
    vi.spyOn(facilitator, "rails").mockReturnValue(rails);
    const ask = (amount: string) =>
      call(merchant, "/v1/payouts", {
        method: "POST",
        body: { amount: { amount, asset: "USDC" }, chain: "local", destination },
      });
    expect(await ask("0.004999")).toMatchObject({
      status: 422,
      body: {
        ...{ code: "amount_too_small", detail: "The amount must be at least 0.005000 USDC." },
        errors: [{ pointer: "/amount/amount" }],
      },
    });
    expect((await call(merchant, "/v1/payouts")).body).toEqual([]);
    expect((await call(merchant, "/v1/balances")).body).toMatchObject([{ reserved: { amount: "0.000000" } }]);
    expect((await ask("0.005")).status).toBe(201);
  });

  it.each([
    ["a currency that is no token", { amount: { amount: "1", asset: "USD" } }, "/amount/asset"],
    ["a token that no chain here has", { amount: { amount: "1", asset: "DAI" } }, "/amount/asset"],
    ["a chain that is not served", { chain: "base" }, "/chain"],
  ])("422 rail_unsupported for %s, which is named", async (_, over, pointer) => {
    const merchant = await newMerchant(world);
    const destination = await payee(merchant);
    const body = { amount: { amount: "1", asset: "USDC" }, chain: "local", destination, ...over };
    expect(await call(merchant, "/v1/payouts", { method: "POST", body })).toMatchObject({
      status: 422,
      body: { code: "rail_unsupported", errors: [{ pointer }] },
    });
  });

  it("422 rail_unsupported for an address on a chain that is not served", async () => {
    const body = { chain: "base", address: newKey().address };
    expect(
      await call(await newMerchant(world), "/v1/payout-addresses", { method: "POST", body }),
    ).toMatchObject({
      status: 422,
      body: { code: "rail_unsupported", errors: [{ pointer: "/chain" }] },
    });
  });

  it("two payouts that race for the same money: one is made", async () => {
    const merchant = await earned();
    const destination = await payee(merchant);
    const body = { amount: { amount: "0.006", asset: "USDC" }, chain: "local", destination };
    const both = await Promise.all([1, 2].map(() => call(merchant, "/v1/payouts", { method: "POST", body })));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect((await call(merchant, "/v1/balances")).body).toMatchObject([
      { available: { amount: "0.003950" } },
    ]);
  });

  it("the same key and body answers the same payout; another body is 409", async () => {
    const merchant = await earned();
    const destination = await payee(merchant);
    const headers = { "Idempotency-Key": "payout-of-today" };
    const body = { amount: { amount: "0.001", asset: "USDC" }, chain: "local", destination };
    const first = await call(merchant, "/v1/payouts", { method: "POST", body, headers });
    const again = await call(merchant, "/v1/payouts", { method: "POST", body, headers });
    expect(again).toMatchObject({ status: 201, text: first.text });
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    const other = await call(merchant, "/v1/payouts", {
      method: "POST",
      body: { ...body, chain: "eip155:31337" },
      headers,
    });
    expect(other).toMatchObject({ status: 409, body: { code: "idempotency_key_reused" } });
    expect((await call(merchant, "/v1/payouts")).body).toHaveLength(1);
  });

  it("422 payout_address_unknown for an address outside the book, a removed one, and another merchant's", async () => {
    const merchant = await earned();
    const stranger = await newMerchant(world);
    const theirs = await payee(stranger);
    const body = (destination: string) => ({
      amount: { amount: "0.001", asset: "USDC" },
      chain: "local",
      destination,
    });
    for (const destination of [newKey().address, theirs, "pad_00000000000000000000000000"]) {
      expect(await call(merchant, "/v1/payouts", { method: "POST", body: body(destination) })).toMatchObject({
        status: 422,
        body: { code: "payout_address_unknown" },
      });
    }
    const { body: book } = await call(stranger, "/v1/payout-addresses");
    expect(await call(merchant, `/v1/payout-addresses/${book[0].id}`, { method: "DELETE" })).toMatchObject({
      status: 404,
    });
    expect(await call(stranger, `/v1/payout-addresses/${book[0].id}`, { method: "DELETE" })).toMatchObject({
      status: 204,
    });
    expect(await call(stranger, "/v1/payout-addresses")).toMatchObject({ body: [] });
  });

  it.each(["0x12", `0x${"0".repeat(40)}`, "0xE888594dc07Be88299C5D7e1762750fa0E4466fF"])(
    "400 for %s as an address, and says what one is",
    async (address) => {
      const merchant = await newMerchant(world);
      const answer = await call(merchant, "/v1/payout-addresses", {
        method: "POST",
        body: { chain: "local", address },
      });
      expect(answer).toMatchObject({
        status: 400,
        body: {
          code: "validation_failed",
          errors: [
            { pointer: "/address", detail: expect.stringMatching(/40 hex digits.*checksum.*not all zero/) },
          ],
        },
      });
      expect((await call(merchant, "/v1/payout-addresses")).body).toEqual([]);
    },
  );

  it("400 for a token's contract, 422 recipient_is_ours for our treasury, and neither is in the book", async () => {
    const merchant = await newMerchant(world);
    const add = (address: Parameters<typeof checksum>[0]) =>
      call(merchant, "/v1/payout-addresses", {
        method: "POST",
        body: { chain: "local", address: checksum(address) },
      });
    expect(await add(world.dev.usdc)).toMatchObject({
      status: 400,
      body: {
        code: "validation_failed",
        errors: [{ pointer: "/address", detail: expect.stringContaining("token") }],
      },
    });
    expect(await add(rowOf(world.dev).treasury)).toMatchObject({
      status: 422,
      body: { code: "recipient_is_ours", errors: [{ pointer: "/address" }] },
    });
    expect((await call(merchant, "/v1/payout-addresses")).body).toEqual([]);
  });

  it("409 payout_address_limit beyond a thousand, which are read whole; one that is there comes back, and room is made", async () => {
    const merchant = await newMerchant(world);
    const add = (address: string) =>
      call(merchant, "/v1/payout-addresses", { method: "POST", body: { chain: "local", address } });
    const first = await add(newKey().address);
    await world.database.query(
      `INSERT INTO payout_address (merchant_id, id, chain, address, label, usable_from, created_at)
       SELECT merchant_id, 'pad_' || i, chain, substr(sha256(i::text::bytea), 1, 20), label, usable_from, created_at
       FROM payout_address, generate_series(1, 998) AS i WHERE id = $1`,
      [first.body.id],
    );
    const both = [newKey().address, newKey().address] as const;
    const answers = await Promise.all(both.map(add));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body.code).toBe("payout_address_limit");
    expect((await call(merchant, "/v1/payout-addresses")).body).toHaveLength(1_000);
    expect(await add(first.body.address)).toMatchObject({ status: 201, body: { id: first.body.id } });
    await call(merchant, `/v1/payout-addresses/${first.body.id}`, { method: "DELETE" });
    expect(await add(newKey().address)).toMatchObject({ status: 201 });
  });

  it("400 for a payout to a token's contract that the book has from before, and nothing is reserved", async () => {
    const merchant = await earned();
    const before = (await call(merchant, "/v1/balances")).body;
    const { address } = newKey();
    await call(merchant, "/v1/payout-addresses", { method: "POST", body: { chain: "local", address } });
    await world.database.query(
      `UPDATE payout_address SET address = '\\x${world.dev.usdc.slice(2)}' WHERE address = '\\x${address.slice(2)}'`,
    );
    const refused = await call(merchant, "/v1/payouts", {
      method: "POST",
      body: { amount: { amount: "0.001", asset: "USDC" }, chain: "local", destination: world.dev.usdc },
    });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "validation_failed", errors: [{ pointer: "/destination" }] },
    });
    expect((await call(merchant, "/v1/balances")).body).toEqual(before);
  });

  it("409 payout_not_cancellable once the treasury has signed", async () => {
    const merchant = await earned();
    const destination = await payee(merchant);
    const { body } = await call(merchant, "/v1/payouts", {
      method: "POST",
      body: { amount: { amount: "0.001", asset: "USDC" }, chain: "local", destination },
    });
    await until(
      async () => (await call(merchant, `/v1/payouts/${body.id}`)).body.state !== "pending",
      "it is signed",
    );
    expect(await call(merchant, `/v1/payouts/${body.id}/cancel`, { method: "POST" })).toMatchObject({
      status: 409,
      body: { code: "payout_not_cancellable" },
    });
  });
});

describe("32 at once", () => {
  it("are all made, and each cancel is answered: a write needs one connection", async () => {
    const merchant = await earned();
    const destination = await payee(merchant);
    const each = Array.from({ length: 32 });
    const made = await Promise.all(
      each.map(() =>
        call(merchant, "/v1/payouts", {
          method: "POST",
          body: { amount: { amount: "0.0001", asset: "USDC" }, chain: "local", destination },
        }),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual(each.map(() => 201));
    const cancels = await Promise.all(
      made.map(({ body }) => call(merchant, `/v1/payouts/${body.id}/cancel`, { method: "POST" })),
    );
    const answers = cancels.map(({ status, body }) => body.state ?? `${status} ${body.code}`);
    expect(answers.filter((is) => is !== "cancelled" && is !== "409 payout_not_cancellable")).toEqual([]);
    // what was cancelled is free again, and what was not is reserved or gone
    const cancelled = answers.filter((is) => is === "cancelled").length;
    const left = 99_50n - 100n * BigInt(32 - cancelled);
    expect(await available(merchant)).toBe(`0.00${left.toString().padStart(4, "0")}`);
    expect(await books(world.dev, world.database)).toMatchObject({ balanced: true });
  });
});

describe("reconciliation", () => {
  it("finds books and chain equal; a transfer out that nothing explains breaks the asset and stops its payouts", async () => {
    const merchant = await earned();
    const destination = await payee(merchant);
    const reports = async () =>
      world.database.query<{ status: string }>(
        "SELECT status FROM reconciliation WHERE asset = 'USDC@local' ORDER BY id DESC LIMIT 1",
      );
    const run = () => world.house.reconcile();
    await world.dev.anvil.mine(3);
    expect((await run()).filter(({ status }) => status !== "equal")).toEqual([]);
    // when somebody takes money out of the treasury past us
    const treasury = rowOf(world.dev).treasury;
    await world.dev.anvil.rpc("anvil_setBalance", [treasury, "0xde0b6b3a7640000"]);
    await world.dev.transact(treasury, {
      to: world.dev.usdc,
      data: `0xa9059cbb${"1".padStart(64, "0")}${"1".padStart(64, "0")}`,
    });
    await world.dev.anvil.mine(3);
    await until(
      async () => (await run()).some(({ status }) => status === "different"),
      "the difference is found",
    );
    expect(await reports()).toEqual([{ status: "different" }]);
    // then a payout of that asset waits
    const { body } = await call(merchant, "/v1/payouts", {
      method: "POST",
      body: { amount: { amount: "0.001", asset: "USDC" }, chain: "local", destination },
    });
    await world.dev.anvil.mine(2);
    const head = await world.dev.chain.head();
    const followed = () => world.database.query<{ at: string }>("SELECT cursor_number AS at FROM observer");
    await until(
      async () => Number((await followed())[0]?.at) >= head.number,
      "two more blocks have been looked at",
    );
    expect((await call(merchant, `/v1/payouts/${body.id}`)).body.state).toBe("pending");
    // and it can be taken back, whole
    expect(await call(merchant, `/v1/payouts/${body.id}/cancel`, { method: "POST" })).toMatchObject({
      status: 200,
      body: { state: "cancelled" },
    });
    expect(await available(merchant)).toBe("0.009950");
  });
});
