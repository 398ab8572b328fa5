import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, it } from "vitest";
import type { Payable } from "#facilitator";
import { whileBlocksAreHeld } from "../../conformance/held-blocks.ts";
import { projectPayable, signRequired } from "../../mcp/world.ts";
import {
  type Answer,
  books,
  get,
  newMerchant,
  newPayer,
  type Payer,
  post,
  sharedWorld,
  until,
} from "../../support/house.ts";

const world = sharedWorld({ settings: { maxWaitMs: 1_500 } });
let merchantId: string;
beforeAll(async () => {
  merchantId = (await newMerchant(world)).id;
});

const project = (changes: Partial<Payable> & Pick<Payable, "kind">) =>
  projectPayable(world, merchantId, changes);
const toHeader = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
const fromHeader = (text: string | null) => JSON.parse(Buffer.from(text ?? "", "base64").toString());

async function visit(url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  const response = await fetch(url, { method, headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

async function sign(payer: Payer, url: string) {
  const { headers } = await visit(url);
  return signRequired(payer, fromHeader(headers.get("payment-required")));
}

describe("the agent URL of a payable", () => {
  it.each(["GET", "POST"])("%s unpaid is 402 with what to sign, and is never stored", async (method) => {
    const { url, id } = await project({ kind: "invoice" });
    const { status, headers, body } = await visit(url, {}, method);
    expect(status).toBe(402);
    expect(headers.get("cache-control")).toBe("no-store, private");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    // Chain 31337 has no name in v1, so there is nothing that a v1 client could pay.
    expect(body).toEqual({});
    expect(fromHeader(headers.get("payment-required"))).toMatchObject({
      x402Version: 2,
      resource: { url: `${world.baseUrl}/x402/payables/${id}` },
      accepts: [{ scheme: "exact", network: "eip155:31337", amount: "10000" }, { amount: "10000" }],
    });
  });

  it("is held by nobody for years: a payment that could still be charged then is refused", async () => {
    const { url, id } = await project({ kind: "invoice" });
    const required = fromHeader((await visit(url)).headers.get("payment-required"));
    const [{ maxTimeoutSeconds }] = required.accepts;
    const signed = async (lifeSeconds: number) =>
      toHeader(await signRequired(await newPayer(world.dev), required, lifeSeconds));
    const refused = await visit(url, { "payment-signature": await signed(maxTimeoutSeconds + 4_000) });
    expect([refused.status, fromHeader(refused.headers.get("payment-required")).error]).toEqual([
      402,
      "invalid_exact_evm_payload_authorization_valid_before",
    ]);
    expect(await world.database.query("SELECT FROM claim WHERE payable_id = $1", [id])).toEqual([]);
    const paid = await visit(url, { "payment-signature": await signed(maxTimeoutSeconds + 3_000) });
    expect([paid.status, paid.body.success]).toEqual([200, true]);
  });

  it("is paid by the stock client, which gets the receipt", async () => {
    const { url, id } = await project({ kind: "payment-intent" });
    const payer = await newPayer(world.dev);
    const pay = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: "eip155:31337", client: new ExactEvmScheme(privateKeyToAccount(payer.key)) }],
      spendControls: { allowedAssets: [{ network: "eip155:31337", asset: world.dev.usdc }] },
    });
    const before = await books(world.dev, world.database);
    const response = await pay(url);
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store, private");
    const receipt = (await response.json()) as Answer["body"];
    expect(receipt).toEqual({
      success: true,
      paymentId: expect.stringMatching(/^stl_/),
      payable: { id, kind: "payment-intent", url },
      amount: { atomic: "10000", decimal: "0.010000", decimals: 6, symbol: "USDC" },
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: "eip155:31337",
      payer: privateKeyToAccount(payer.key).address,
      paidAt: expect.any(String),
      receiptUrl: `${world.baseUrl}/checkout/${id}/receipt.pdf`,
      statusUrl: `${world.baseUrl}/x402/settlements/${receipt.paymentId}`,
    });
    const header = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
    expect(header).toMatchObject({ success: true, transaction: receipt.transaction });
    const after = await books(world.dev, world.database);
    expect(after).toMatchObject({ balanced: true, treasury: before.treasury + 10_000n });
    expect(after.chain).toBe(after.treasury);
    // and it can be paid once
    expect(await visit(url)).toMatchObject({ status: 410, body: { code: "payable_closed", state: "paid" } });
  });

  it("answers the same payment again with 409 and the first transaction, and with a key by the first answer", async () => {
    const { url } = await project({ kind: "invoice" });
    const payment = toHeader(await sign(await newPayer(world.dev), url));
    const key = { "idempotency-key": "a key of this very test" };
    const first = await visit(url, { "payment-signature": payment, ...key });
    expect(first.status).toBe(200);
    const again = await visit(url, { "payment-signature": payment });
    expect(again).toMatchObject({
      status: 409,
      body: { errorReason: "duplicate_settlement", transaction: first.body.transaction },
    });
    expect(again.headers.get("payment-required")).toBeNull();
    const replayed = await visit(url, { "payment-signature": payment, ...key });
    expect({ status: replayed.status, body: replayed.body }).toEqual({ status: 200, body: first.body });
    expect(replayed.headers.get("idempotent-replayed")).toBe("true");
  });

  it("refuses what it would not settle with a fresh challenge that names the reason", async () => {
    const { url } = await project({ kind: "invoice" });
    const payment = await sign(await newPayer(world.dev, 1n), url);
    const { status, headers } = await visit(url, { "payment-signature": toHeader(payment) });
    expect(status).toBe(402);
    expect(fromHeader(headers.get("payment-required"))).toMatchObject({ error: "insufficient_funds" });
    expect(headers.get("payment-response")).toBeNull();
  });

  it.each([
    ["base64url", "ab-_"],
    ["no padding", "YQ"],
    ["no JSON", Buffer.from("hello").toString("base64")],
    ["a key twice", Buffer.from('{"x402Version":2,"x402Version":2}').toString("base64")],
    ["a list", Buffer.from("[]").toString("base64")],
    ["more than 8 kB", Buffer.from(JSON.stringify({ pad: "x".repeat(8_200) })).toString("base64")],
  ])("a header with %s is no payment", async (_, header) => {
    const { url } = await project({ kind: "invoice" });
    const { status, headers } = await visit(url, { "payment-signature": header });
    expect(status).toBe(402);
    expect(fromHeader(headers.get("payment-required")).error).toBe("invalid_payload");
  });

  it("two different payments at once are none", async () => {
    const { url } = await project({ kind: "payment-link" });
    const payer = await newPayer(world.dev);
    const [one, other] = [await sign(payer, url), await sign(payer, url)];
    const both = { "payment-signature": toHeader(one), "x-payment": toHeader(other) };
    const { headers } = await visit(url, both);
    expect(fromHeader(headers.get("payment-required")).error).toBe("invalid_payload");
    const same = { "payment-signature": toHeader(one), "x-payment": toHeader(one) };
    expect((await visit(url, same)).status).toBe(200);
  });

  it.each([
    ["void", { closedAt: new Date(), closedAs: "void" }, "void"],
    ["expired", { expiresAt: new Date(Date.now() - 1_000) }, "expired"],
    ["closed for no named reason", { closedAt: new Date() }, "closed"],
  ])("what is %s is 410 and says so, paid or not", async (_, changes, state) => {
    const open = await project({ kind: "invoice" });
    const payment = toHeader(await sign(await newPayer(world.dev), open.url));
    await project({ ...open, ...changes });
    const gone = { status: 410, body: { code: "payable_closed", state } };
    expect(await visit(open.url)).toMatchObject(gone);
    expect(await visit(open.url, { "payment-signature": payment })).toMatchObject(gone);
  });

  it.each(["inv_01K2C0Z0000000000000000000", "x402r_01K2C0Z0000000000000000000", "nothing", "inv_%00"])(
    "%s is not found",
    async (id) => {
      expect((await visit(`${world.baseUrl}/x402/payables/${id}`)).status).toBe(404);
    },
  );

  it("is found by its URL over the base for many resources, also after it was closed", async () => {
    const { url, ...payable } = await project({ kind: "invoice" });
    const paymentPayload = await sign(await newPayer(world.dev), url);
    const body = { x402Version: 2, paymentPayload, paymentRequirements: paymentPayload.accepted };
    expect((await post(world.baseUrl, "/x402/verify", body)).body).toMatchObject({ isValid: true });
    const settled = await post(world.baseUrl, "/x402/settle", body);
    expect(settled).toMatchObject({ status: 200, body: { success: true } });
    await project({ ...payable, url, closedAt: new Date(), closedAs: "paid" });
    expect(await post(world.baseUrl, "/x402/settle", body)).toMatchObject({
      status: 409,
      body: { errorReason: "duplicate_settlement", transaction: settled.body.transaction },
    });
  });
});

describe("what can be paid once", () => {
  it("two payers at once: one pays, the other is refused before money moves", async () => {
    const { url } = await project({ kind: "invoice" });
    const payers = [await newPayer(world.dev), await newPayer(world.dev)];
    const payments = await Promise.all(payers.map(async (payer) => toHeader(await sign(payer, url))));
    const answers = await Promise.all(
      payments.map((payment) => visit(url, { "payment-signature": payment })),
    );
    const won = answers.findIndex(({ status }) => status === 200);
    const lost = answers[1 - won];
    expect([409, 410]).toContain(lost?.status);
    expect(["payment_pending", "payable_closed"]).toContain(lost?.body.code);
    const left = await Promise.all(
      payers.map(({ address }) => world.dev.chain.tokenBalance(world.dev.usdc, address, "latest")),
    );
    expect(left[won]).toBe(990_000n);
    expect(left[1 - won]).toBe(1_000_000n);
  });

  it("challenges nobody while an outcome is open, and the payer's repeat joins", async () => {
    const { url } = await project({ kind: "invoice" });
    const payment = toHeader(await sign(await newPayer(world.dev), url));
    const rival = toHeader(await sign(await newPayer(world.dev), url));
    await whileBlocksAreHeld(world.dev, async () => {
      const pending = await visit(url, { "payment-signature": payment });
      expect(pending).toMatchObject({
        status: 200,
        body: { success: false, errorReason: "settlement_pending", extra: { statusUrl: expect.any(String) } },
      });
      expect(fromHeader(pending.headers.get("payment-response"))).toEqual(pending.body);
      expect(pending.headers.get("retry-after")).toBe("2");
      const { statusUrl } = pending.body.extra;
      for (const headers of [{}, { "payment-signature": rival }]) {
        const busy = await visit(url, headers);
        expect(busy).toMatchObject({ status: 409, body: { code: "payment_pending", statusUrl } });
        expect(busy.headers.get("payment-required")).toBeNull();
      }
    });
    await until(
      async () => (await visit(url, { "payment-signature": payment })).status === 200,
      "the repeat is told that it is paid",
    );
  });
});

describe("GET /x402/payables", () => {
  it("lists what is listed, payable and not expired, with the person's page and no intent", async () => {
    const listed = { listed: true, price: { amount: 20_000n, asset: "USDC" } } as const;
    const pageUrl = `${world.baseUrl}/checkout/x`;
    const invoice = await project({
      ...listed,
      kind: "invoice",
      number: "2026-7",
      dueAt: new Date(0),
      pageUrl,
    });
    const link = await project({ ...listed, kind: "payment-link", title: "A coffee <b>now</b>" });
    await project({ ...listed, kind: "invoice", expiresAt: new Date(Date.now() - 1) });
    await project({ ...listed, kind: "invoice", closedAt: new Date() });
    await project({ kind: "invoice", price: listed.price });
    const paid = await project({ ...listed, kind: "invoice" });
    const payment = toHeader(await sign(await newPayer(world.dev), paid.url));
    expect((await visit(paid.url, { "payment-signature": payment })).status).toBe(200);

    const { status, body, headers } = await get(world.baseUrl, "/x402/payables?currency=USDC");
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("public, max-age=30");
    expect(headers.get("etag")).not.toBeNull();
    expect(body.pagination).toEqual({ limit: 20, offset: 0, total: 2, cursor: null });
    expect(body.payables).toEqual(body.items);
    expect(body.items).toMatchObject([
      {
        id: invoice.id,
        kind: "invoice",
        type: "http",
        resource: invoice.url,
        url: pageUrl,
        number: "2026-7",
        dueAt: "1970-01-01T00:00:00.000Z",
        amount: { amount: "0.020000", asset: "USDC" },
        accepts: [{ amount: "20000" }],
      },
      { id: link.id, kind: "payment-link", title: "A coffee now", url: null },
    ]);
    const one = await get(world.baseUrl, "/x402/payables?currency=USDC&kind=invoice&limit=1");
    expect(one.body.items.map(({ id }: { id: string }) => id)).toEqual([invoice.id]);
    const first = await get(world.baseUrl, "/x402/payables?currency=USDC&limit=1");
    const { cursor } = first.body.pagination;
    const second = await get(world.baseUrl, `/x402/payables?currency=USDC&limit=1&cursor=${cursor}`);
    expect(second.body.items.map(({ id }: { id: string }) => id)).toEqual([link.id]);
    expect((await get(world.baseUrl, "/x402/payables?type=mcp")).body.items).toEqual([]);
  });
});
