import fc from "fast-check";
import { encodeFunctionData } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reasons } from "#facilitator";
import { loadArtifacts } from "../../contracts/index.ts";
import { books, newMerchant, newPayer, type Payer, until } from "../support/house.ts";
import { authorizationRows, fineTimes } from "./bad-input/authorization.ts";
import { optionRows } from "./bad-input/option.ts";
import { inAuthorization, type Row, type SignedRow, stranger } from "./bad-input/row.ts";
import { shapeRows } from "./bad-input/shape.ts";
import { fineForms, signatureRows } from "./bad-input/signature.ts";
import { actsOn, baseOf, openStage, type Stage } from "./bad-input/stage.ts";
import { textRows } from "./bad-input/text.ts";
import { whileBlocksAreHeld } from "./held-blocks.ts";
import { creditsOf } from "./ledger.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.world.stop());
const { chainTime, sceneOf, paymentOf, send, traces, expectNo, expectFine } = actsOn(() => stage);

/** For names that are shown whole. */
const titled = <R extends Row | SignedRow>(rows: readonly R[]) =>
  rows.map((row) => [row.name, row.reason, row] as const);

describe("a payment without fault", () => {
  it("is what every row below differs from in one thing: it verifies", async () => {
    await expectFine(baseOf(stage.resource), await paymentOf(await sceneOf()));
    await expectFine("/x402", await paymentOf(await sceneOf()));
  });

  it.each(fineTimes.map((row) => [row.name, row] as const))("%s", async (_name, { terms }) => {
    const scene = await sceneOf();
    await expectFine(baseOf(stage.resource), await paymentOf(scene, terms?.(scene)));
  });

  it.each(["lower", "upper"] as const)("with its addresses in %s case", async (letters) => {
    const scene = await sceneOf();
    const body = await paymentOf(scene);
    const write = (address: string) =>
      letters === "lower" ? address.toLowerCase() : `0x${address.slice(2).toUpperCase()}`;
    const option = { ...body.paymentRequirements, asset: write(scene.usdc), payTo: write(scene.treasury) };
    const { from, to } = body.paymentPayload.payload.authorization;
    await expectFine(baseOf(stage.resource), {
      ...inAuthorization({ from: write(from), to: write(to) })({
        ...body,
        paymentPayload: { ...body.paymentPayload, accepted: option },
      }),
      paymentRequirements: option,
    });
  });

  it("with its requirements alone, its accepted option alone, or both written differently", async () => {
    const scene = await sceneOf();
    const { paymentPayload, ...body } = await paymentOf(scene);
    const { accepted, ...payload } = paymentPayload;
    await expectFine(baseOf(stage.resource), { ...body, paymentPayload: payload });
    await expectFine(baseOf(stage.resource), { x402Version: 2, paymentPayload });
    const foreign = {
      ...accepted,
      maxTimeoutSeconds: 1,
      asset: scene.usdc.toLowerCase(),
      extra: { note: "mine" },
    };
    await expectFine(baseOf(stage.resource), { ...body, paymentPayload, paymentRequirements: foreign });
  });

  it.each(fineForms)(
    "signed in $name: it settles, and written otherwise it is a duplicate",
    async ({ change }) => {
      const payer = await newPayer(stage.world.dev, 10_000n);
      const scene = await sceneOf(payer);
      const body = await paymentOf(scene);
      const sent = change ? change(body, scene) : body;
      const settled = await send(`${baseOf(stage.resource)}/settle`, sent);
      expect(settled).toMatchObject({ status: 200, body: { success: true } });
      for (const { name, change: other } of fineForms)
        expect(
          await send(`${baseOf(stage.resource)}/settle`, other ? other(body, scene) : body),
          name,
        ).toMatchObject({
          status: 409,
          body: { errorReason: "duplicate_settlement", transaction: settled.body.transaction },
        });
      expect(await creditsOf(stage.world.database, payer.address)).toHaveLength(2);
    },
  );
});

describe("unreadable", () => {
  it.each(titled([...textRows, ...shapeRows]))(
    "%s: %s",
    async (_name, _reason, { change, headers, ...no }) => {
      await expectNo(baseOf(stage.resource), change(await paymentOf(await sceneOf())), no, headers);
    },
  );
});

describe("readable, and not what we sell or take", () => {
  it.each(titled([...optionRows, ...authorizationRows, ...signatureRows]))(
    "%s: %s",
    async (_name, _reason, { terms, change, ...no }) => {
      const scene = await sceneOf();
      const body = await paymentOf(scene, terms?.(scene));
      await expectNo(baseOf(stage.resource), change ? change(body, scene) : body, no);
    },
  );
});

describe("any one thing changed at random", () => {
  const places = [
    ["x402Version"],
    ["paymentPayload", "x402Version"],
    ...(["scheme", "network", "amount", "asset", "payTo"] as const).flatMap((word) => [
      ["paymentRequirements", word],
      ["paymentPayload", "accepted", word],
    ]),
    ["paymentPayload", "payload", "signature"],
    ...(["from", "to", "value", "validAfter", "validBefore", "nonce"] as const).map((field) => [
      "paymentPayload",
      "payload",
      "authorization",
      field,
    ]),
  ];
  const replaced = (holder: unknown, [key = "", ...rest]: readonly string[], value: unknown): unknown => ({
    ...(holder as object),
    [key]: rest.length === 0 ? value : replaced((holder as Record<string, unknown>)[key], rest, value),
  });
  const hex = fc
    .integer({ min: 0, max: 70 })
    .chain((bytes) =>
      fc
        .uint8Array({ minLength: bytes, maxLength: bytes })
        .map((all) => `0x${Buffer.from(all).toString("hex")}`),
    );
  const value = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }), fc.bigInt().map(String), hex);

  it("is refused with a typed reason by verify and settle alike, and leaves nothing", async () => {
    const good = await paymentOf(await sceneOf());
    const before = await traces();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), value, async (place, changed) => {
        const bad = replaced(good, place, changed);
        fc.pre(JSON.stringify(bad) !== JSON.stringify(good));
        const verified = await send(`${baseOf(stage.resource)}/verify`, bad);
        const settled = await send(`${baseOf(stage.resource)}/settle`, bad);
        expect([200, 400, 413]).toContain(verified.status);
        expect(settled.status).toBe(verified.status);
        expect(verified.body).toMatchObject({ isValid: false });
        expect(settled.body).toMatchObject({ success: false, transaction: "", network: expect.any(String) });
        expect(reasons).toContain(verified.body.invalidReason);
        expect(settled.body.errorReason).toBe(verified.body.invalidReason);
      }),
      { numRuns: 200 },
    );
    expect(await traces()).toEqual(before);
  });
});

describe("used before", () => {
  it("settled: verify says duplicate, settle is 409 with the transaction, and nothing moves", async () => {
    const body = await paymentOf(await sceneOf());
    const settled = await send(`${baseOf(stage.resource)}/settle`, body);
    expect(settled.body.success).toBe(true);
    const before = await traces();
    const verified = await send(`${baseOf(stage.resource)}/verify`, body);
    const again = await send(`${baseOf(stage.resource)}/settle`, body);
    expect(verified).toMatchObject({
      status: 200,
      body: { isValid: false, invalidReason: "duplicate_settlement" },
    });
    expect(again).toMatchObject({
      status: 409,
      body: { success: false, errorReason: "duplicate_settlement", transaction: settled.body.transaction },
    });
    expect(await traces()).toEqual(before);
  });

  it.each([
    ["for another resource", async () => ({ at: baseOf(await stage.merchant.register()), terms: {} })],
    [
      "for another merchant's resource",
      async () => ({ at: baseOf(await (await newMerchant(stage.world)).register()), terms: {} }),
    ],
    [
      "signed anew with another end",
      async () => ({ at: baseOf(stage.resource), terms: { validBefore: (await chainTime()) + 500n } }),
    ],
  ] as const)(
    "settled, and sent %s: 409 authorization_bound_elsewhere that tells nothing",
    async (_name, again) => {
      const scene = await sceneOf();
      const body = await paymentOf(scene);
      const nonce = body.paymentPayload.payload.authorization.nonce as never;
      const settled = await send(`${baseOf(stage.resource)}/settle`, body);
      expect(settled.body.success).toBe(true);
      const { at, terms } = await again();
      const sent = Object.keys(terms).length === 0 ? body : await paymentOf(scene, { nonce, ...terms });
      const before = await traces();
      expect(await send(`${at}/verify`, sent)).toMatchObject({
        status: 200,
        body: { isValid: false, invalidReason: "authorization_bound_elsewhere" },
      });
      const refused = await send(`${at}/settle`, sent);
      expect(refused).toMatchObject({
        status: 409,
        body: { success: false, errorReason: "authorization_bound_elsewhere", transaction: "" },
      });
      expect(JSON.stringify(refused.body)).not.toContain(settled.body.transaction);
      expect(JSON.stringify(refused.body)).not.toContain(settled.body.extra.paymentId);
      expect(await traces()).toEqual(before);
    },
  );

  it("used on chain to pay somebody else", async () => {
    const scene = await sceneOf();
    const elsewhere = await paymentOf(scene, { to: stranger });
    const { signature, authorization } = elsewhere.paymentPayload.payload;
    const { devToken } = await loadArtifacts();
    const { from, to, value, validAfter, validBefore, nonce } = authorization;
    await stage.world.dev.transact(stage.world.dev.contracts.deployer.address, {
      to: stage.world.dev.usdc,
      data: encodeFunctionData({
        abi: devToken.abi,
        functionName: "transferWithAuthorization",
        args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature],
      }),
    });
    const body = await paymentOf(scene, { nonce: nonce as never });
    await expectNo(baseOf(stage.resource), body, { reason: "invalid_exact_evm_nonce_already_used" });
  });

  it("cancelled on chain", async () => {
    const { usdc, anvil } = stage.world.dev;
    const body = await paymentOf(await sceneOf());
    const { nonce } = body.paymentPayload.payload.authorization;
    const signature = await cancellation(stage.rich, nonce as `0x${string}`, anvil.chainId, usdc);
    const { devToken } = await loadArtifacts();
    await stage.world.dev.transact(stage.world.dev.contracts.deployer.address, {
      to: usdc,
      data: encodeFunctionData({
        abi: devToken.abi,
        functionName: "cancelAuthorization",
        args: [stage.rich.address, nonce, signature],
      }),
    });
    await expectNo(baseOf(stage.resource), body, { reason: "invalid_exact_evm_nonce_already_used" });
  });

  it("by anybody, in whatever way: other payments are still credited", async () => {
    // The two above left events of nonces that are no claim of ours; whoever follows the chain must get past them.
    const settled = await send(`${baseOf(stage.resource)}/settle`, await paymentOf(await sceneOf()));
    expect(settled).toMatchObject({ status: 200, body: { success: true } });
  });
});

function cancellation(payer: Payer, nonce: `0x${string}`, chainId: number, token: `0x${string}`) {
  return privateKeyToAccount(payer.key).signTypedData({
    domain: { name: "USD Coin", version: "2", chainId, verifyingContract: token },
    types: {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    primaryType: "CancelAuthorization",
    message: { authorizer: payer.address, nonce },
  });
}

describe("signed rightly, and nothing would move", () => {
  it.each([
    ["no money at all", 0n],
    ["one unit too little", 9_999n],
  ])("%s: insufficient_funds", async (_name, funds) => {
    const payer = await newPayer(stage.world.dev, funds);
    await expectNo(baseOf(stage.resource), await paymentOf(await sceneOf(payer)), {
      reason: "insufficient_funds",
    });
  });

  it("money that an open payment will take: insufficient_funds until there is more", async () => {
    const payer = await newPayer(stage.world.dev, 19_999n);
    const scene = await sceneOf(payer);
    const [first, second] = [await paymentOf(scene), await paymentOf(scene)];
    const settled = await whileBlocksAreHeld(stage.world.dev, async (release) => {
      const settling = send(`${baseOf(stage.resource)}/settle`, first);
      await until(async () => {
        const rows = await stage.world.database.query(
          "SELECT 1 FROM claim JOIN slot_item USING (claim_key) WHERE payer = decode($1, 'hex')",
          [payer.address.slice(2)],
        );
        return rows.length === 1;
      }, "the first payment is open");
      await expectNo(baseOf(stage.resource), second, { reason: "insufficient_funds" });
      await release();
      return settling;
    });
    expect(settled.body.success).toBe(true);
    await stage.world.dev.administer("mint", [payer.address, 1n]);
    await expectFine(baseOf(stage.resource), second);
  });

  it("a paused token: invalid_transaction_state, and fine again afterwards", async () => {
    const body = await paymentOf(await sceneOf());
    await stage.world.dev.administer("pause");
    await expectNo(baseOf(stage.resource), body, { reason: "invalid_transaction_state" });
    await stage.world.dev.administer("unpause");
    await expectFine(baseOf(stage.resource), body);
  });

  it("a blocked payer, and a blocked recipient: invalid_transaction_state", async () => {
    const payer = await newPayer(stage.world.dev);
    const scene = await sceneOf(payer);
    for (const account of [payer.address, scene.treasury]) {
      const body = await paymentOf(scene);
      await stage.world.dev.administer("block", [account]);
      await expectNo(baseOf(stage.resource), body, { reason: "invalid_transaction_state" });
      await stage.world.dev.administer("unblock", [account]);
      await expectFine(baseOf(stage.resource), body);
    }
  });

  it.each([
    ["that another key signed for", "invalid_exact_evm_signature", 0],
    ["that burns all gas it is given", "invalid_exact_evm_signature", 1],
    ["that says yes to simulations only", "invalid_exact_evm_signature", 2],
  ] as const)("a contract wallet %s: %s", async (_name, reason, mode) => {
    const { wallet1271 } = await loadArtifacts();
    const owner = await newPayer(stage.world.dev, 0n);
    const wallet = await stage.world.dev.deploy(wallet1271, [mode === 0 ? stranger : owner.address]);
    await stage.world.dev.administer("mint", [wallet, 1_000_000n]);
    await stage.world.dev.transact(stage.world.dev.contracts.deployer.address, {
      to: wallet,
      data: encodeFunctionData({ abi: wallet1271.abi, functionName: "setMode", args: [mode] }),
    });
    const body = await paymentOf(await sceneOf(owner), { from: wallet });
    await expectNo(baseOf(stage.resource), body, { reason });
  });
});

describe("after all of it", () => {
  it("the books balance and equal the chain, and nothing waits for an owner", async () => {
    const after = await books(stage.world.dev, stage.world.database);
    expect(after).toMatchObject({ balanced: true, unmatched: { posted: 0n, pending: 0n } });
    expect(after.treasury).toBe(after.chain);
    expect(after.treasury).toBeGreaterThan(0n);
  });
});
