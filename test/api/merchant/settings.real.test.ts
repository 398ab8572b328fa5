import { and, eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { sha256 } from "#kernel/codec";
import { auditEntry } from "../../../api/merchant/tables.ts";
import { projectPayable } from "../../../facilitator/payable/project.ts";
import { outbox } from "../../../facilitator/store/tables.ts";
import { sharedDatabase } from "../../support/db.ts";
import { png } from "../../support/png.ts";
import { type Caller, caller, newCaller } from "../caller.ts";
import { fakeFacilitator, now, world } from "../world.ts";

const database = sharedDatabase();

let shop: Caller;
let call: ReturnType<typeof caller>;
beforeEach(async () => {
  shop = await newCaller(database.db);
  call = caller(world({ db: database.db }).app, shop);
});
const path = "/v1/merchant";
const told = async () => {
  const { pool } = database.db;
  const facts = await pool.select().from(outbox).where(eq(outbox.merchantId, shop.merchantId));
  const notes = await pool.select().from(auditEntry).where(eq(auditEntry.merchantId, shop.merchantId));
  return {
    facts: facts.map(({ type, payload }) => ({ type, payload })),
    notes: notes
      .filter(({ action }) => action === "merchant.updated")
      .map(({ actor, detail }) => ({ actor, detail })),
  };
};

describe("GET /v1/merchant", () => {
  it("200: data and settings, as the operator and the defaults have them", async () => {
    const { status, body } = await call("GET", path);
    expect([status, body]).toEqual([
      200,
      {
        id: shop.merchantId,
        name: "Shop",
        city: "Oslo",
        countryCode: "NO",
        categoryCode: null,
        feeBps: 0,
        allowedOrigins: [],
        rails: [],
        underpaymentToleranceBps: 0,
        spreadBps: 0,
        invoicePrefix: "INV",
        finalAction: "none",
        timeZone: "UTC",
        refundFees: true,
        contactEmail: null,
        taxId: null,
        address: null,
        brandColour: null,
        logo: null,
        suspendedAt: null,
        suspensionReason: null,
        createdAt: now.toISOString(),
        updatedAt: now.toISOString(),
      },
    ]);
  });
});

describe("PATCH /v1/merchant", () => {
  it("200: what is given changes, all else stays; one fact and one note say so", async () => {
    const change = {
      name: "Shop <i>Two</i>",
      categoryCode: "5812",
      taxId: "NO 123 MVA",
      address: "1 Street\n0150 Oslo",
      allowedOrigins: ["https://shop.example"],
      underpaymentToleranceBps: 50,
      spreadBps: 150,
      refundFees: false,
      contactEmail: "help@shop.example",
    };
    const { status, body } = await call("PATCH", path, { body: change });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...change, name: "Shop Two", city: "Oslo", countryCode: "NO", feeBps: 0 });
    expect((await call("GET", path)).body).toEqual(body);
    expect(await told()).toEqual({
      facts: [{ type: "merchant.updated", payload: { changed: Object.keys(change) } }],
      notes: [{ actor: shop.keyId, detail: { ...change, name: "Shop Two" } }],
    });
  });

  it("an address has several lines; neither it nor a tax id is empty or has control characters", async () => {
    const { body } = await call("PATCH", path, { body: { address: " 1 Street\r\n0150 Oslo\n" } });
    expect(body.address).toBe("1 Street\n0150 Oslo");
    for (const [name, value] of [
      ...[" ", "A\u0007B", "x".repeat(501)].map((text) => ["address", text] as const),
      ...[" ", "A\nB", "x".repeat(65)].map((text) => ["taxId", text] as const),
    ])
      expect(await call("PATCH", path, { body: { [name]: value } })).toMatchObject({
        status: 400,
        body: { code: "validation_failed", errors: [{ pointer: `/${name}` }] },
      });
  });

  it("200: what is already so changes nothing and says nothing", async () => {
    const { body: before } = await call("GET", path);
    expect((await call("PATCH", path, { body: { name: "Shop", refundFees: true } })).body).toEqual(before);
    expect((await call("PATCH", path, { body: {} })).body).toEqual(before);
    expect(await told()).toEqual({ facts: [], notes: [] });
  });

  it("tells agents the new name: the fact has the merchant's live resources projected again", async () => {
    const facilitator = fakeFacilitator({ project: projectPayable });
    const { app, jobs } = world({ db: database.db, facilitator });
    const at = caller(app, shop);
    const register = async (url: string) =>
      (await at("POST", "/v1/x402/resources", { body: { url, price: { amount: "1", asset: "USD" } } })).body
        .id;
    const live = await register("https://shop.example/live");
    const archived = await register("https://shop.example/archived");
    await at("DELETE", `/v1/x402/resources/${archived}`);
    await at("PATCH", path, { body: { name: "Renamed" } });
    const [fact] = await database.db.pool
      .select()
      .from(outbox)
      .where(and(eq(outbox.merchantId, shop.merchantId), eq(outbox.type, "merchant.updated")));
    for (const job of jobs.filter(({ hears }) => hears?.includes("merchant.updated")))
      await job.run({ fact: fact as never, stopping: new AbortController().signal });
    const names = await database.query<{ id: string; merchant_name: string }>(
      "SELECT id, merchant_name FROM payable WHERE merchant_id = $1",
      [shop.merchantId],
    );
    expect(new Map(names.map((row) => [row.id, row.merchant_name]))).toEqual(
      new Map([
        [live, "Renamed"],
        [archived, "Shop"],
      ]),
    );
  });

  it("tells of a contact address that was given up, with what it was", async () => {
    await call("PATCH", path, { body: { contactEmail: "old@shop.example" } });
    await call("PATCH", path, { body: { contactEmail: null } });
    const changed = ["contactEmail"];
    expect((await told()).facts.map(({ payload }) => payload)).toEqual([
      { changed },
      { changed, changedAt: now.toISOString(), previous: { contactEmail: "old@shop.example" } },
    ]);
  });

  it("keeps a picture by its sum: told and noted without its bytes", async () => {
    const picture = png({ width: 3, height: 3, colourType: 6 });
    const logo = `data:image/png;base64,${picture.toString("base64")}`;
    const { body } = await call("PATCH", path, { body: { logo, brandColour: "#0A5C36" } });
    const digest = sha256(picture);
    expect(body).toMatchObject({ logo: `/assets/logo-${digest.slice(2)}.png`, brandColour: "#0a5c36" });
    await call("PATCH", path, { body: { logo } });
    expect(await told()).toEqual({
      facts: [{ type: "merchant.updated", payload: { changed: ["brandColour", "logo"] } }],
      notes: [{ actor: shop.keyId, detail: { brandColour: "#0a5c36", logo: digest } }],
    });
    expect((await call("PATCH", path, { body: { logo: null } })).body.logo).toBeNull();
    expect(
      await database.query("SELECT * FROM merchant_logo WHERE merchant_id = $1", [shop.merchantId]),
    ).toEqual([]);
  });

  it("is done once under an Idempotency-Key", async () => {
    const headers = { "idempotency-key": "k" };
    await call("PATCH", path, { body: { city: "Bergen" }, headers });
    await call("PATCH", path, { body: { city: "Tromsø" } });
    const again = await call("PATCH", path, { body: { city: "Bergen" }, headers });
    expect([again.headers.get("idempotent-replayed"), again.body.city]).toEqual(["true", "Bergen"]);
    expect((await call("GET", path)).body.city).toBe("Tromsø");
  });

  it("leaves other merchants as they are", async () => {
    const other = caller(world({ db: database.db }).app, await newCaller(database.db));
    const { body: before } = await other("GET", path);
    await call("PATCH", path, { body: { name: "Mine" } });
    expect((await other("GET", path)).body).toEqual(before);
  });

  it.each([
    ["our fee", { feeBps: 0 }, "/feeBps"],
    ["the id", { id: "mer_1" }, "/id"],
    ["a country that is no code", { countryCode: "no" }, "/countryCode"],
    ["a code that is no country", { countryCode: "ZZ" }, "/countryCode"],
    ["a category that is no code", { categoryCode: "58" }, "/categoryCode"],
    ["a margin above 3 %", { spreadBps: 301 }, "/spreadBps"],
    ["a tolerance above 5 %", { underpaymentToleranceBps: 501 }, "/underpaymentToleranceBps"],
    ["rails by their names", { rails: ["base"] }, "/rails/0"],
    [
      "a rail with more to it",
      { rails: [{ chain: "base", asset: "USDC", contract: "0x" }] },
      "/rails/0/contract",
    ],
    ["a rail without an asset", { rails: [{ chain: "base" }] }, "/rails/0/asset"],
    ["more rails than there are", { rails: Array(51).fill({ chain: "base", asset: "USDC" }) }, "/rails"],
    ["an origin that is none", { allowedOrigins: ["shop.example"] }, "/allowedOrigins/0"],
    ["a zone that is none", { timeZone: "Europe/Atlantis" }, "/timeZone"],
    ["an offset", { timeZone: "+02:00" }, "/timeZone"],
    ["no name", { name: "" }, "/name"],
    ["an address that is none", { contactEmail: "shop" }, "/contactEmail"],
    ["two addresses", { contactEmail: "a@shop.example, b@shop.example" }, "/contactEmail"],
    ["an address with a header", { contactEmail: "a@shop.example\r\nBcc: b@shop.example" }, "/contactEmail"],
    ["an address that is too long", { contactEmail: `${"a".repeat(250)}@shop.example` }, "/contactEmail"],
  ])("400 validation_failed for %s, pointing to it", async (_name, body, pointer) => {
    const answer = await call("PATCH", path, { body });
    expect([answer.status, answer.body.code]).toEqual([400, "validation_failed"]);
    expect(answer.body.errors.map((each: { pointer: string }) => each.pointer)).toEqual([pointer]);
    expect(await told()).toEqual({ facts: [], notes: [] });
  });
});
