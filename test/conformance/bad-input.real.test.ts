import { once } from "node:events";
import { connect } from "node:net";
import fc from "fast-check";
import { encodeFunctionData } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reasons } from "#facilitator";
import { address } from "#kernel/bytes";
import { loadArtifacts } from "../../contracts/index.ts";
import {
  type Answer,
  books,
  newMerchant,
  newPayer,
  type Payer,
  type Resource,
  startWorld,
  until,
} from "../support/house.ts";
import { authorizationRows, fineTimes } from "./bad-input/authorization.ts";
import { optionRows } from "./bad-input/option.ts";
import {
  type Body,
  inAuthorization,
  type Row,
  type Scene,
  type SignedRow,
  stranger,
} from "./bad-input/row.ts";
import { shapeRows } from "./bad-input/shape.ts";
import { fineForms, signatureRows } from "./bad-input/signature.ts";
import { textRows } from "./bad-input/text.ts";
import { whileBlocksAreHeld } from "./held-blocks.ts";
import { creditsOf, footprint } from "./ledger.ts";
import { signedBy, type Terms } from "./signed.ts";

let world: Awaited<ReturnType<typeof startWorld>>;
let merchant: Awaited<ReturnType<typeof newMerchant>>;
let resource: Resource;
let rich: Payer;

beforeAll(async () => {
  world = await startWorld({ settings: { maxWaitMs: 5_000 } });
  merchant = await newMerchant(world);
  resource = await merchant.register();
  rich = await newPayer(world.dev, 1_000_000n);
});
afterAll(() => world.stop());

const baseOf = ({ id }: Resource) => `/x402/resources/${id}`;
const usdcRail = ({ accepts }: Resource) => {
  const rail = accepts.find(({ asset }) => asset === "USDC");
  if (!rail) throw new Error("the resource has no rail in USDC");
  return rail;
};

async function chainTime(): Promise<bigint> {
  const block = await world.dev.anvil.rpc<{ timestamp: string }>("eth_getBlockByNumber", ["latest", false]);
  return BigInt(block.timestamp);
}

async function sceneOf(payer = rich, sold = resource): Promise<Scene> {
  const rail = usdcRail(sold);
  const { assets } = world.dev.contracts;
  return {
    resource: sold,
    payer,
    treasury: rail.payTo,
    usdc: rail.contract,
    eurc: assets.EURC,
    chainTime: await chainTime(),
  };
}

/** A payment without fault, unless `terms` bring one. */
async function paymentOf(scene: Scene, terms: Partial<Terms> = {}): Promise<Body> {
  const { payer, treasury, usdc, chainTime: now } = scene;
  const domain = { name: "USD Coin", version: "2", chainId: 31_337, verifyingContract: world.dev.usdc };
  const validBefore = now + 300n;
  const payload = await signedBy(payer, { domain, to: treasury, value: 10_000n, validBefore, ...terms });
  const option = {
    scheme: "exact",
    network: "eip155:31337",
    amount: "10000",
    asset: usdc,
    payTo: treasury,
    maxTimeoutSeconds: 300,
    extra: { name: "USD Coin", version: "2" },
  };
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, resource: { url: scene.resource.url }, accepted: option, payload },
    paymentRequirements: option,
  };
}

async function send(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${world.baseUrl}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof Buffer ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** What a stranger may never read in an answer. */
const INSIDE = /\n\s+at |node_modules|\.ts\b|select |insert |drizzle|postgres/i;

interface Refusal {
  readonly reason: string;
  readonly status?: number;
  readonly code?: string;
}

/** The documented refusal, in the words of both verbs; settle's may have a status of its own. */
function expectRefused(verified: Answer, settled: Answer, { reason, status = 200, code }: Refusal): void {
  const problem = code === undefined ? {} : { code, status, title: expect.any(String) };
  expect(verified).toMatchObject({
    status,
    body: { ...problem, isValid: false, invalidReason: reason, invalidMessage: expect.stringMatching(/\w/) },
  });
  expect(settled).toMatchObject({
    status,
    body: {
      ...problem,
      success: false,
      errorReason: reason,
      errorMessage: expect.stringMatching(/\w/),
      transaction: "",
      network: expect.any(String),
    },
  });
  for (const { body, headers } of [verified, settled]) {
    expect(JSON.stringify(body)).not.toMatch(INSIDE);
    expect(headers.get("cache-control")).toBe("no-store, private");
    expect(headers.get("content-type")).toBe(
      code === undefined ? "application/json" : "application/problem+json",
    );
  }
}

/** Rows, books and gas keys as they were. */
async function traces() {
  const nonce = (tag: string) => world.dev.anvil.rpc("eth_getTransactionCount", [world.dev.lane, tag]);
  return {
    ...(await footprint(world.database)),
    nonce: await nonce("latest"),
    pending: await nonce("pending"),
    treasury: await world.dev.chain.tokenBalance(
      world.dev.usdc,
      address(world.dev.contracts.treasury.address),
      "latest",
    ),
  };
}

/** Sends the same to verify and to settle, and wants the same no, and nothing to be left of it. */
async function expectNo(base: string, body: unknown, no: Refusal, headers?: Record<string, string>) {
  const before = await traces();
  const verified = await send(`${base}/verify`, body, headers);
  const settled = await send(`${base}/settle`, body, headers);
  expectRefused(verified, settled, no);
  expect(await traces()).toEqual(before);
  return { verified, settled };
}

async function expectFine(base: string, body: unknown) {
  expect(await send(`${base}/verify`, body)).toMatchObject({ status: 200, body: { isValid: true } });
}

/** For names that are shown whole. */
const titled = <R extends Row | SignedRow>(rows: readonly R[]) =>
  rows.map((row) => [row.name, row.reason, row] as const);

describe("a payment without fault", () => {
  it("is what every row below differs from in one thing: it verifies", async () => {
    await expectFine(baseOf(resource), await paymentOf(await sceneOf()));
    await expectFine("/x402", await paymentOf(await sceneOf()));
  });

  it.each(fineTimes.map((row) => [row.name, row] as const))("%s", async (_name, { terms }) => {
    const scene = await sceneOf();
    await expectFine(baseOf(resource), await paymentOf(scene, terms?.(scene)));
  });

  it.each(["lower", "upper"] as const)("with its addresses in %s case", async (letters) => {
    const scene = await sceneOf();
    const body = await paymentOf(scene);
    const write = (address: string) =>
      letters === "lower" ? address.toLowerCase() : `0x${address.slice(2).toUpperCase()}`;
    const option = { ...body.paymentRequirements, asset: write(scene.usdc), payTo: write(scene.treasury) };
    const { from, to } = body.paymentPayload.payload.authorization;
    await expectFine(baseOf(resource), {
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
    await expectFine(baseOf(resource), { ...body, paymentPayload: payload });
    await expectFine(baseOf(resource), { x402Version: 2, paymentPayload });
    const foreign = {
      ...accepted,
      maxTimeoutSeconds: 1,
      asset: scene.usdc.toLowerCase(),
      extra: { note: "mine" },
    };
    await expectFine(baseOf(resource), { ...body, paymentPayload, paymentRequirements: foreign });
  });

  it.each(fineForms)(
    "signed in $name: it settles, and written otherwise it is a duplicate",
    async ({ change }) => {
      const payer = await newPayer(world.dev, 10_000n);
      const scene = await sceneOf(payer);
      const body = await paymentOf(scene);
      const sent = change ? change(body, scene) : body;
      const settled = await send(`${baseOf(resource)}/settle`, sent);
      expect(settled).toMatchObject({ status: 200, body: { success: true } });
      for (const { name, change: other } of fineForms)
        expect(
          await send(`${baseOf(resource)}/settle`, other ? other(body, scene) : body),
          name,
        ).toMatchObject({
          status: 409,
          body: { errorReason: "duplicate_settlement", transaction: settled.body.transaction },
        });
      expect(await creditsOf(world.database, payer.address)).toHaveLength(2);
    },
  );
});

describe("unreadable", () => {
  it.each(titled([...textRows, ...shapeRows]))(
    "%s: %s",
    async (_name, _reason, { change, headers, ...no }) => {
      await expectNo(baseOf(resource), change(await paymentOf(await sceneOf())), no, headers);
    },
  );
});

describe("readable, and not what we sell or take", () => {
  it.each(titled([...optionRows, ...authorizationRows, ...signatureRows]))(
    "%s: %s",
    async (_name, _reason, { terms, change, ...no }) => {
      const scene = await sceneOf();
      const body = await paymentOf(scene, terms?.(scene));
      await expectNo(baseOf(resource), change ? change(body, scene) : body, no);
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
        const verified = await send(`${baseOf(resource)}/verify`, bad);
        const settled = await send(`${baseOf(resource)}/settle`, bad);
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
    const settled = await send(`${baseOf(resource)}/settle`, body);
    expect(settled.body.success).toBe(true);
    const before = await traces();
    const verified = await send(`${baseOf(resource)}/verify`, body);
    const again = await send(`${baseOf(resource)}/settle`, body);
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
    ["for another resource", async () => ({ at: baseOf(await merchant.register()), terms: {} })],
    [
      "for another merchant's resource",
      async () => ({ at: baseOf(await (await newMerchant(world)).register()), terms: {} }),
    ],
    [
      "signed anew with another end",
      async () => ({ at: baseOf(resource), terms: { validBefore: (await chainTime()) + 500n } }),
    ],
  ] as const)(
    "settled, and sent %s: 409 authorization_bound_elsewhere that tells nothing",
    async (_name, again) => {
      const scene = await sceneOf();
      const body = await paymentOf(scene);
      const nonce = body.paymentPayload.payload.authorization.nonce as never;
      const settled = await send(`${baseOf(resource)}/settle`, body);
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
    await world.dev.transact(world.dev.contracts.deployer.address, {
      to: world.dev.usdc,
      data: encodeFunctionData({
        abi: devToken.abi,
        functionName: "transferWithAuthorization",
        args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature],
      }),
    });
    const body = await paymentOf(scene, { nonce: nonce as never });
    await expectNo(baseOf(resource), body, { reason: "invalid_exact_evm_nonce_already_used" });
  });

  it("cancelled on chain", async () => {
    const { usdc, anvil } = world.dev;
    const body = await paymentOf(await sceneOf());
    const { nonce } = body.paymentPayload.payload.authorization;
    const signature = await cancellation(rich, nonce as `0x${string}`, anvil.chainId, usdc);
    const { devToken } = await loadArtifacts();
    await world.dev.transact(world.dev.contracts.deployer.address, {
      to: usdc,
      data: encodeFunctionData({
        abi: devToken.abi,
        functionName: "cancelAuthorization",
        args: [rich.address, nonce, signature],
      }),
    });
    await expectNo(baseOf(resource), body, { reason: "invalid_exact_evm_nonce_already_used" });
  });

  it("by anybody, in whatever way: other payments are still credited", async () => {
    // The two above left events of nonces that are no claim of ours; whoever follows the chain must get past them.
    const settled = await send(`${baseOf(resource)}/settle`, await paymentOf(await sceneOf()));
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
    const payer = await newPayer(world.dev, funds);
    await expectNo(baseOf(resource), await paymentOf(await sceneOf(payer)), { reason: "insufficient_funds" });
  });

  it("money that an open payment will take: insufficient_funds until there is more", async () => {
    const payer = await newPayer(world.dev, 19_999n);
    const scene = await sceneOf(payer);
    const [first, second] = [await paymentOf(scene), await paymentOf(scene)];
    const settled = await whileBlocksAreHeld(world.dev, async (release) => {
      const settling = send(`${baseOf(resource)}/settle`, first);
      await until(async () => {
        const rows = await world.database.query(
          "SELECT 1 FROM claim JOIN slot_item USING (claim_key) WHERE payer = decode($1, 'hex')",
          [payer.address.slice(2)],
        );
        return rows.length === 1;
      }, "the first payment is open");
      await expectNo(baseOf(resource), second, { reason: "insufficient_funds" });
      await release();
      return settling;
    });
    expect(settled.body.success).toBe(true);
    await world.dev.administer("mint", [payer.address, 1n]);
    await expectFine(baseOf(resource), second);
  });

  it("a paused token: invalid_transaction_state, and fine again afterwards", async () => {
    const body = await paymentOf(await sceneOf());
    await world.dev.administer("pause");
    await expectNo(baseOf(resource), body, { reason: "invalid_transaction_state" });
    await world.dev.administer("unpause");
    await expectFine(baseOf(resource), body);
  });

  it("a blocked payer, and a blocked recipient: invalid_transaction_state", async () => {
    const payer = await newPayer(world.dev);
    const scene = await sceneOf(payer);
    for (const account of [payer.address, scene.treasury]) {
      const body = await paymentOf(scene);
      await world.dev.administer("block", [account]);
      await expectNo(baseOf(resource), body, { reason: "invalid_transaction_state" });
      await world.dev.administer("unblock", [account]);
      await expectFine(baseOf(resource), body);
    }
  });

  it.each([
    ["that another key signed for", "invalid_exact_evm_signature", 0],
    ["that burns all gas it is given", "invalid_exact_evm_signature", 1],
    ["that says yes to simulations only", "invalid_exact_evm_signature", 2],
  ] as const)("a contract wallet %s: %s", async (_name, reason, mode) => {
    const { wallet1271 } = await loadArtifacts();
    const owner = await newPayer(world.dev, 0n);
    const wallet = await world.dev.deploy(wallet1271, [mode === 0 ? stranger : owner.address]);
    await world.dev.administer("mint", [wallet, 1_000_000n]);
    await world.dev.transact(world.dev.contracts.deployer.address, {
      to: wallet,
      data: encodeFunctionData({ abi: wallet1271.abi, functionName: "setMode", args: [mode] }),
    });
    const body = await paymentOf(await sceneOf(owner), { from: wallet });
    await expectNo(baseOf(resource), body, { reason });
  });
});

const notFound = { status: 404, code: "not_found", reason: "invalid_payment_requirements" } as const;

describe("a resource that is not there", () => {
  it.each([
    ["an id that nobody has", "x402r_00000000000000000000000000"],
    ["another kind's id", "stl_01K2C0Z0000000000000000000"],
    ["a lower-case id", "x402r_01k2c0z0000000000000000000"],
    ["a word", "weather"],
    ["an escaped slash", "x402r_01K2C0Z0000000000000000000%2Fsettle"],
    ["an escaped way up", "..%2F..%2Fv1"],
    ["an escaped NUL", "x402r_%00"],
    ["a broken escape", "x402r_%E0%A4%A"],
    ["SQL", "x402r_'%20OR%201=1--"],
    ["a very long id", `x402r_${"0".repeat(2_000)}`],
    ["an emoji", "%F0%9F%92%B8"],
  ])("%s: 404", async (_name, id) => {
    await expectNo(`/x402/resources/${id}`, await paymentOf(await sceneOf()), notFound);
  });

  it("archived: no longer for sale, by id; by its URL as if it had never been there", async () => {
    const gone = await merchant.register();
    expect((await merchant.call(`/v1/x402/resources/${gone.id}`, { method: "DELETE" })).status).toBe(204);
    const body = await paymentOf(await sceneOf(rich, gone));
    const { settled } = await expectNo(baseOf(gone), body, { reason: "invalid_payment_requirements" });
    expect(settled.body.errorMessage).toContain("no longer for sale");
    await expectNo("/x402", body, notFound);
  });

  it("repriced meanwhile: the old price is no option any more, the new one is", async () => {
    const dearer = await merchant.register();
    const body = await paymentOf(await sceneOf(rich, dearer));
    await expectFine(baseOf(dearer), body);
    await merchant.register({ url: dearer.url, price: { amount: "0.02", asset: "USD" } });
    await expectNo(baseOf(dearer), body, { reason: "invalid_payment_requirements" });
  });
});

describe("the base for many resources", () => {
  const at = (url: unknown) => async () => {
    const body = await paymentOf(await sceneOf());
    return { ...body, paymentPayload: { ...body.paymentPayload, resource: { url } } };
  };

  it("finds a URL with query and fragment, with its host in capitals, with its port spelt out", async () => {
    const { host, pathname } = new URL(resource.url);
    for (const url of [
      `${resource.url}?city=Oslo&x=/../`,
      `${resource.url}#top`,
      `HTTPS://${host.toUpperCase()}${pathname}`,
      `https://${host}:443${pathname}`,
    ])
      await expectFine("/x402", await at(url)());
  });

  it.each([
    ["of nobody", () => "https://shop.example/nobody"],
    ["with a slash more", () => `${resource.url}/`],
    ["with its path in capitals", () => resource.url.toUpperCase()],
    ["over http", () => resource.url.replace("https:", "http:")],
    ["on another port", () => resource.url.replace("shop.example", "shop.example:8443")],
    ["with a user name", () => resource.url.replace("https://", "https://user@")],
    ["that is relative", () => new URL(resource.url).pathname],
    ["of a script", () => "javascript:alert(1)"],
    ["that is empty", () => ""],
    ["of 10,000 characters", () => `${resource.url}?${"a".repeat(10_000)}`],
  ])("a URL %s: 404", async (_name, url) => {
    await expectNo("/x402", await at(url())(), notFound);
  });

  it.each([
    ["missing", undefined],
    ["null", null],
    ["a number", 7],
    ["an array", ["https://shop.example/"]],
  ])(
    "a URL that is %s: invalid_payload, and the message names the base that needs none",
    async (_name, url) => {
      const { verified } = await expectNo("/x402", await at(url)(), { reason: "invalid_payload" });
      expect(verified.body.invalidMessage).toContain("/x402/resources/{id}");
    },
  );
});

describe("headers", () => {
  it.each([
    ["empty", ""],
    ["of 256 characters", "k".repeat(256)],
    ["that is not ASCII", "clé"],
  ])("an Idempotency-Key %s: 400", async (_name, key) => {
    await expectNo(
      baseOf(resource),
      await paymentOf(await sceneOf()),
      { status: 400, code: "idempotency_key_invalid", reason: "invalid_payload" },
      { "Idempotency-Key": key },
    );
  });

  it.each(["Idempotency-Key", "Payment-Identifier"] as const)(
    "a used %s with another payment: 409, and the second payment stays unsettled",
    async (kind) => {
      const id = `a-used-identifier-${kind}`;
      const withId = (body: Body) =>
        kind === "Idempotency-Key"
          ? body
          : {
              ...body,
              paymentPayload: {
                ...body.paymentPayload,
                extensions: { "payment-identifier": { info: { id } } },
              },
            };
      const headers: Record<string, string> = kind === "Idempotency-Key" ? { [kind]: id } : {};
      const scene = await sceneOf();
      const [first, second] = [withId(await paymentOf(scene)), withId(await paymentOf(scene))];
      const settled = await send(`${baseOf(resource)}/settle`, first, headers);
      expect(settled.body.success).toBe(true);
      const before = await traces();
      expect(await send(`${baseOf(resource)}/settle`, second, headers)).toMatchObject({
        status: 409,
        body: {
          code: "idempotency_key_reused",
          success: false,
          errorReason: "invalid_payload",
          transaction: "",
          network: "",
        },
      });
      // and the first one again is its stored answer
      const replayed = await send(`${baseOf(resource)}/settle`, first, headers);
      expect(replayed.headers.get("idempotent-replayed")).toBe("true");
      expect(replayed).toMatchObject({
        status: 200,
        body: { success: true, transaction: settled.body.transaction, extra: { replayed: true } },
      });
      expect(await traces()).toEqual(before);
    },
  );

  it.each([
    ["Idempotency-Key", "idempotency_key_invalid"],
    ["Authorization", "duplicate_header"],
  ])("%s twice: 400, since a joined value would hide the second", async (name, code) => {
    const body = JSON.stringify(await paymentOf(await sceneOf()));
    const before = await traces();
    for (const [verb, flag] of [
      ["verify", '"isValid":false'],
      ["settle", '"success":false'],
    ] as const) {
      const answer = await raw(
        `${baseOf(resource)}/${verb}`,
        [
          "Content-Type: application/json",
          `${name}: Bearer a`,
          `${name.toLowerCase()}: Bearer b`,
          `Content-Length: ${Buffer.byteLength(body)}`,
        ],
        body,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain(`"code":"${code}"`);
      expect(answer).toContain(flag);
      expect(answer).toContain('"invalid_payload"');
    }
    expect(await traces()).toEqual(before);
  });

  it.each([
    [
      "a length and chunks at once",
      ["Content-Length: 2", "Transfer-Encoding: chunked"],
      "2\r\n{}\r\n0\r\n\r\n",
    ],
    ["two lengths", ["Content-Length: 2", "Content-Length: 3"], "{} "],
    ["a line break inside a header", ["X-Note: a\rb", "Content-Length: 2"], "{}"],
    ["a header without a name", [": b", "Content-Length: 2"], "{}"],
  ])("%s: 400 from the server itself", async (_name, headers, body) => {
    expect(await raw(`${baseOf(resource)}/settle`, headers, body)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("no Host: 400; headers above 16 KiB: 431", async () => {
    expect(await raw(`${baseOf(resource)}/settle`, ["Content-Length: 2"], "{}", "")).toMatch(
      /^HTTP\/1\.1 400 /,
    );
    const long = [`X-Note: ${"a".repeat(17_000)}`];
    expect(await raw(`${baseOf(resource)}/settle`, long)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it.each(["verify", "settle"])("%s: a body of unannounced length above 32 KiB is 413", async (verb) => {
    const chunk = "a".repeat(8_192);
    const body = `${`2000\r\n${chunk}\r\n`.repeat(5)}0\r\n\r\n`;
    const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked"];
    const before = await traces();
    const answer = await raw(`${baseOf(resource)}/${verb}`, headers, body);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"code":"body_too_large"');
    expect(answer).toContain('"invalid_payload"');
    expect(await traces()).toEqual(before);
  });

  it("another method: 405 that names the right one", async () => {
    for (const verb of ["verify", "settle"]) {
      const answer = await fetch(`${world.baseUrl}${baseOf(resource)}/${verb}`);
      expect(answer.status).toBe(405);
      expect(answer.headers.get("allow")).toBe("POST");
    }
  });
});

/** One request as bytes; resolves with all that came back. */
async function raw(path: string, headers: readonly string[], body = "", host = "Host: x"): Promise<string> {
  const { hostname, port } = new URL(world.baseUrl);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (piece) => {
    answer += piece.toString("latin1");
  });
  socket.on("error", () => {});
  const lines = [`POST ${path} HTTP/1.1`, ...(host === "" ? [] : [host]), "Connection: close", ...headers];
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`, "latin1");
  await once(socket, "close");
  return answer;
}

describe("after all of it", () => {
  it("the books balance and equal the chain, and nothing waits for an owner", async () => {
    const after = await books(world.dev, world.database);
    expect(after).toMatchObject({ balanced: true, unmatched: { posted: 0n, pending: 0n } });
    expect(after.treasury).toBe(after.chain);
    expect(after.treasury).toBeGreaterThan(0n);
  });
});
