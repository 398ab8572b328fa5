/** A merchant's colour and picture, on every page of its payments and on what is printed. */
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, openTab, photograph, sharedBrowser } from "../../support/browser.ts";
import { sharedWorld } from "../../support/house.ts";
import { newSeller, sendTo, sharedSeller } from "../../support/payments.ts";
import { png } from "../../support/png.ts";

const world = sharedWorld();
const browser = sharedBrowser();
const seller = sharedSeller(world);

const picture = png({ width: 120, height: 40, colourType: 2, value: 90 });
const asData = (bytes: Buffer) => `data:image/png;base64,${bytes.toString("base64")}`;
const ten = { amount: "10.00", asset: "USD" };

/** Addresses of a page of each kind. */
async function pages(): Promise<readonly (readonly [name: string, path: string])[]> {
  const { paymentIntent, deposit } = await seller.asked();
  await sendTo(world, deposit.address, 10_000_000n);
  await seller.reaches(paymentIntent.id, "settled");
  const { id: chosen } = await seller.intent();
  const { paymentIntent: waiting } = await seller.asked();
  const link = await seller.must("POST", "/v1/payment-links", { kind: "fixed", amount: ten });
  const invoice = await seller.must("POST", "/v1/invoices", {
    buyer: { name: "Ada Lovelace" },
    currency: "USD",
    lines: [{ name: "Tea", unitPrice: ten, quantity: 1 }],
    issue: true,
  });
  return [
    ["choose", `/checkout/${chosen}`],
    ["waiting", `/checkout/${waiting.id}`],
    ["paid", `/checkout/${paymentIntent.id}`],
    ["refund", `/checkout/${paymentIntent.id}/refund`],
    ["link", `/checkout/${link.id}`],
    ["invoice", `/invoices/${invoice.id}/view`],
  ];
}

describe("a merchant with a colour and a picture", () => {
  // The grey on which neither black nor white stands out far.
  const colour = "#777777";
  let shown: Awaited<ReturnType<typeof pages>>;
  let logo: string;
  beforeAll(async () => {
    ({ logo } = await seller.must("PATCH", "/v1/merchant", { brandColour: colour, logo: asData(picture) }));
    shown = await pages();
  });

  it.each(["light", "dark"] as const)(
    "shows them on every page on %s paper, and all can be read",
    async (colorScheme) => {
      const tab = await openTab(browser, { colorScheme });
      const loaded = new Set<string>();
      tab.page.on("request", (request) => loaded.add(new URL(request.url()).origin));
      for (const [name, path] of shown) {
        await tab.page.goto(`${world.baseUrl}${path}`);
        await tab.page.waitForFunction("document.querySelector('img.logo').naturalWidth === 120");
        expect(await tab.page.locator("img.logo").getAttribute("src")).toBe(logo);
        const stub = await tab.page.evaluate(
          "getComputedStyle(document.querySelector('.stub')).backgroundImage",
        );
        expect([name, stub]).toEqual([name, expect.stringContaining("rgb(119, 119, 119)")]);
        await expectAccessible(tab);
        await photograph(tab, `brand-${name}-${colorScheme}`);
      }
      expect([...loaded]).toEqual([world.baseUrl]);
      expect(tab.faults).toEqual([]);
    },
  );

  it("is served the picture and nothing else, for ever; another merchant has none of it", async () => {
    expect((await seller.must("GET", "/v1/merchant")).logo).toBe(logo);
    expect(logo).toBe(`/assets/logo-${createHash("sha256").update(picture).digest("hex")}.png`);
    const response = await fetch(`${world.baseUrl}${logo}`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      "cache-control": expect.stringContaining("immutable"),
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(picture)).toBe(true);
    expect((await fetch(`${world.baseUrl}/assets/logo-${"0".repeat(64)}.png`)).status).toBe(404);
    expect((await fetch(`${world.baseUrl}/assets/brand-zzzzzz.css`)).status).toBe(404);
    const other = await newSeller(world);
    const { id } = await other.intent();
    const page = await (
      await fetch(`${world.baseUrl}/checkout/${id}`, { headers: { Accept: "text/html" } })
    ).text();
    expect(page).not.toMatch(/logo-|brand-/);
  });

  it("has them on its receipt, whose bytes are the same each time; without them they are gone", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    await sendTo(world, deposit.address, 10_000_000n);
    await seller.reaches(paymentIntent.id, "settled");
    const receipt = async () =>
      Buffer.from(await (await seller.call(`/v1/payments/${paymentIntent.id}/receipt.pdf`)).arrayBuffer());
    const branded = await receipt();
    expect(branded.includes("/Subtype /Image")).toBe(true);
    expect(branded.equals(await receipt())).toBe(true);
    expect(await seller.must("PATCH", "/v1/merchant", { brandColour: null, logo: null })).toMatchObject({
      brandColour: null,
      logo: null,
    });
    expect((await receipt()).includes("/Subtype /Image")).toBe(false);
  });

  it.each([
    ["a picture from elsewhere", { logo: "https://shop.example/logo.png" }, "/logo"],
    [
      "a drawing that can run",
      { logo: `data:image/svg+xml;base64,${Buffer.from("<svg/>").toString("base64")}` },
      "/logo",
    ],
    ["a PNG in name only", { logo: asData(Buffer.from("<script>alert(1)</script>")) }, "/logo"],
    ["one that is too large", { logo: asData(png({ width: 2_000, height: 10 })) }, "/logo"],
    ["a colour by name", { brandColour: "red" }, "/brandColour"],
    ["a colour with more to it", { brandColour: "#00aa00;background:url(//evil.example)" }, "/brandColour"],
  ])("400 for %s", async (_, body, pointer) => {
    const refused = await seller.ask("PATCH", "/v1/merchant", body);
    expect([refused.status, refused.body.code]).toEqual([400, "validation_failed"]);
    expect(refused.body.errors.map((each: { pointer: string }) => each.pointer)).toEqual([pointer]);
  });
});
