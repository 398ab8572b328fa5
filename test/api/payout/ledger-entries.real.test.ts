import { describe, expect, it } from "vitest";
import { newMerchant, sharedWorld, until } from "../../support/house.ts";
import { earnersOf } from "./earners.ts";

const world = sharedWorld();
const { call, earned } = earnersOf(world);

describe("GET /v1/ledger/entries", () => {
  it("pages newest first, filters, and speaks CSV", async () => {
    const merchant = await earned();
    const json = await call(merchant, "/v1/ledger/entries");
    expect(json.body.map(({ code }: { code: string }) => code)).toEqual(["x402-credited", "x402-credited"]);
    const page = await call(merchant, "/v1/ledger/entries?limit=1");
    const next = await call(merchant, `/v1/ledger/entries?limit=1&cursor=${page.headers.get("Next-Cursor")}`);
    expect([page.body[0].id, next.body[0].id]).toEqual(json.body.map(({ id }: { id: string }) => id));
    const csv = await call(merchant, "/v1/ledger/entries", { headers: { Accept: "text/csv" } });
    expect(csv.headers.get("Content-Type")).toContain("text/csv");
    expect(csv.text.split("\r\n")).toHaveLength(4);
    expect(csv.text).toContain(",pending,asset:treasury:local,");
    expect(
      (await call(merchant, `/v1/ledger/entries?from=${encodeURIComponent("2100-01-01T00:00:00Z")}`)).body,
    ).toEqual([]);
  });

  it("CSV is for who wants it most, in any letter case, and caches are told", async () => {
    const merchant = await newMerchant(world);
    const typeFor = async (accept: string) => {
      const { headers } = await call(merchant, "/v1/ledger/entries", { headers: { Accept: accept } });
      expect(headers.get("Vary")).toMatch(/\bAccept\b/);
      return headers.get("Content-Type")?.split(";")[0];
    };
    expect(await typeFor("TEXT/CSV")).toBe("text/csv");
    expect(await typeFor("application/json;q=0.5, text/csv")).toBe("text/csv");
    expect(await typeFor("application/json, text/csv;q=0")).toBe("application/json");
    expect(await typeFor("application/json;q=1, text/csv;q=0.1")).toBe("application/json");
    expect(await typeFor("*/*")).toBe("application/json");
  });

  it("finds what is about a payment: its settlement, its refunds", async () => {
    const merchant = await earned();
    await earned();
    const payments = async () => (await call(merchant, "/v1/payments")).body;
    await until(async () => (await payments()).length > 0, "the payment is in the merchant's list");
    const [payment] = await payments();
    const refunded = await call(merchant, `/v1/payments/${payment.paymentIntent.id}/refunds`, {
      method: "POST",
      body: { amount: { amount: "0.004", asset: "USDC" } },
    });
    expect(refunded.status).toBe(201);
    const codesOf = async (subject: string, who = merchant) =>
      (await call(who, `/v1/ledger/entries?subject=${subject}`)).body.map(
        ({ code }: { code: string }) => code,
      );
    const ids = [payment.paymentIntent.id, payment.clearing.id];
    for (const id of ids) {
      const codes = await codesOf(id);
      expect(codes).toEqual(expect.arrayContaining(["x402-credited", "refund-created"]));
      expect(await codesOf(id, await newMerchant(world))).toEqual([]);
    }
    expect(await codesOf(refunded.body.id)).toContain("refund-created");
    expect(await codesOf(refunded.body.id)).not.toContain("x402-credited");
    expect(await codesOf(`pi_${"0".repeat(26)}`)).toEqual([]);
  });

  it("shows nothing of another merchant", async () => {
    await earned();
    const stranger = await newMerchant(world);
    expect((await call(stranger, "/v1/ledger/entries")).body).toEqual([]);
    expect((await call(stranger, "/v1/balances")).body).toEqual([]);
  });
});
