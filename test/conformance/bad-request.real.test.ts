import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { books, get, startHouse } from "../support/house.ts";
import type { Body } from "./bad-input/row.ts";
import { actsOn, baseOf, expectRefused, openStage, type Stage } from "./bad-input/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.world.stop());
const { sceneOf, paymentOf, send, traces, expectNo, expectFine, raw } = actsOn(() => stage);

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
    const gone = await stage.merchant.register();
    expect((await stage.merchant.call(`/v1/x402/resources/${gone.id}`, { method: "DELETE" })).status).toBe(
      204,
    );
    const body = await paymentOf(await sceneOf(stage.rich, gone));
    const { settled } = await expectNo(baseOf(gone), body, { reason: "invalid_payment_requirements" });
    expect(settled.body.errorMessage).toContain("no longer for sale");
    await expectNo("/x402", body, notFound);
  });

  it("repriced meanwhile: the old price is no option any more, the new one is", async () => {
    const dearer = await stage.merchant.register();
    const body = await paymentOf(await sceneOf(stage.rich, dearer));
    await expectFine(baseOf(dearer), body);
    await stage.merchant.register({ url: dearer.url, price: { amount: "0.02", asset: "USD" } });
    await expectNo(baseOf(dearer), body, { reason: "invalid_payment_requirements" });
  });
});

describe("a price below the chain's dust floor", () => {
  it("is no option any more once the floor is above it", async () => {
    const cheap = await stage.merchant.register({ price: { amount: "0.0005", asset: "USD" } });
    const scene = await sceneOf(stage.rich, cheap);
    const { paymentPayload, paymentRequirements } = await paymentOf(scene, { value: 500n });
    const option = { ...paymentRequirements, amount: "500" };
    const body = {
      x402Version: 2,
      paymentPayload: { ...paymentPayload, accepted: option },
      paymentRequirements: option,
    };
    await expectFine(baseOf(cheap), body);
    // when the same books are served with a higher floor
    const strict = await startHouse(stage.world.dev, stage.world.database, {
      wrapChain: (chain) => ({ ...chain, row: { ...chain.row, dustFloor: 501n } }),
    });
    try {
      const before = await traces();
      const at = `${strict.baseUrl}${baseOf(cheap)}`;
      expectRefused(await send(`${at}/verify`, body), await send(`${at}/settle`, body), {
        reason: "invalid_payment_requirements",
      });
      expect(await traces()).toEqual(before);
      const { body: required } = await get(at, "/payment-required");
      expect(required.accepts).toEqual([]);
    } finally {
      await strict.stop();
    }
  });
});

describe("the base for many resources", () => {
  const at = (url: unknown) => async () => {
    const body = await paymentOf(await sceneOf());
    return { ...body, paymentPayload: { ...body.paymentPayload, resource: { url } } };
  };

  it("finds a URL with query and fragment, with its host in capitals, with its port spelt out", async () => {
    const { host, pathname } = new URL(stage.resource.url);
    for (const url of [
      `${stage.resource.url}?city=Oslo&x=/../`,
      `${stage.resource.url}#top`,
      `HTTPS://${host.toUpperCase()}${pathname}`,
      `https://${host}:443${pathname}`,
    ])
      await expectFine("/x402", await at(url)());
  });

  it.each([
    ["of nobody", () => "https://shop.example/nobody"],
    ["with a slash more", () => `${stage.resource.url}/`],
    ["with its path in capitals", () => stage.resource.url.toUpperCase()],
    ["over http", () => stage.resource.url.replace("https:", "http:")],
    ["on another port", () => stage.resource.url.replace("shop.example", "shop.example:8443")],
    ["with a user name", () => stage.resource.url.replace("https://", "https://user@")],
    ["that is relative", () => new URL(stage.resource.url).pathname],
    ["of a script", () => "javascript:alert(1)"],
    ["that is empty", () => ""],
    ["of 10,000 characters", () => `${stage.resource.url}?${"a".repeat(10_000)}`],
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
      baseOf(stage.resource),
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
      const settled = await send(`${baseOf(stage.resource)}/settle`, first, headers);
      expect(settled.body.success).toBe(true);
      const before = await traces();
      expect(await send(`${baseOf(stage.resource)}/settle`, second, headers)).toMatchObject({
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
      const replayed = await send(`${baseOf(stage.resource)}/settle`, first, headers);
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
        `${baseOf(stage.resource)}/${verb}`,
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
    expect(await raw(`${baseOf(stage.resource)}/settle`, headers, body)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("no Host: 400; headers above 16 KiB: 431", async () => {
    expect(await raw(`${baseOf(stage.resource)}/settle`, ["Content-Length: 2"], "{}", "")).toMatch(
      /^HTTP\/1\.1 400 /,
    );
    const long = [`X-Note: ${"a".repeat(17_000)}`];
    expect(await raw(`${baseOf(stage.resource)}/settle`, long)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it.each(["verify", "settle"])("%s: a body of unannounced length above 32 KiB is 413", async (verb) => {
    const chunk = "a".repeat(8_192);
    const body = `${`2000\r\n${chunk}\r\n`.repeat(5)}0\r\n\r\n`;
    const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked"];
    const before = await traces();
    const answer = await raw(`${baseOf(stage.resource)}/${verb}`, headers, body);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"code":"body_too_large"');
    expect(answer).toContain('"invalid_payload"');
    expect(await traces()).toEqual(before);
  });

  it("another method: 405 that names the right one", async () => {
    for (const verb of ["verify", "settle"]) {
      const answer = await fetch(`${stage.world.baseUrl}${baseOf(stage.resource)}/${verb}`);
      expect(answer.status).toBe(405);
      expect(answer.headers.get("allow")).toBe("POST");
    }
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
