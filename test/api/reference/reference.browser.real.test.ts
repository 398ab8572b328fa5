/** The reference in a browser: with and without its script, narrow and wide, by day and by night. */
import { serve } from "@hono/node-server";
import type { BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, openTab, photograph, sharedBrowser, type Tab } from "../../support/browser.ts";
import { stillSandbox, world } from "../world.ts";
import { pagesOf } from "./pages.ts";

const { app } = world({ sandbox: stillSandbox });
let server: ReturnType<typeof serve>;
let origin = "";
const browser = sharedBrowser();
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
      origin = `http://127.0.0.1:${port}`;
      resolve();
    });
  });
});
afterAll(async () => {
  server?.close();
});

async function open(path: string, options: BrowserContextOptions = {}): Promise<Tab> {
  const tab = await openTab(browser, options);
  await tab.page.goto(`${origin}${path}`);
  return tab;
}
const unfold = ({ page }: Tab) =>
  page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
const phone = { width: 360, height: 740 };
/** One of each kind, in every light and width, and with all that unfolds. */
const kinds = {
  overview: "/docs",
  errors: "/docs/errors",
  "payment-intents": "/docs/payment-intents",
  events: "/docs/events",
};

/** What gives a page its colours. */
const classesOf = async ({ page }: Tab) =>
  (await page.evaluate(
    "[...new Set([...document.querySelectorAll('[class]')].flatMap((each) => [...each.classList]))]",
  )) as readonly string[];

describe("a page of the reference", () => {
  const checked = new Set<string>();

  it.each(Object.entries(kinds))(
    "%s: everybody can use it with all that unfolds, in both lights, and narrow",
    async (name, path) => {
      for (const colorScheme of ["light", "dark"] as const) {
        const tab = await open(path, { colorScheme });
        await photograph(tab, `docs-${name}-${colorScheme}`);
        await unfold(tab);
        await expectAccessible(tab);
        for (const each of await classesOf(tab)) checked.add(each);
        await tab.page.setViewportSize(phone);
        // A light moves nothing.
        if (colorScheme === "light") await expectAccessible(tab, { contrast: false });
        expect(await tab.page.evaluate("document.documentElement.scrollWidth")).toBe(phone.width);
        expect(tab.faults).toEqual([]);
        await tab.page.close();
      }
    },
  );

  it("of every other room: everybody can use it as it comes", async () => {
    const seen = new Set<string>(Object.values(kinds));
    const others = [...(await pagesOf(app)).keys()].filter((path) => !seen.has(path));
    expect(others.length).toBeGreaterThan(15);
    const tab = await openTab(browser);
    for (const path of others) {
      await tab.page.goto(`${origin}${path}`);
      await photograph(tab, path.slice(1).replace("/", "-"));
      const classes = await classesOf(tab);
      await expectAccessible(tab, { contrast: classes.some((each) => !checked.has(each)) });
      for (const each of classes) checked.add(each);
      expect([path, tab.faults]).toEqual([path, []]);
    }
  });

  it("is there without a script, and no button that would do nothing", async () => {
    const tab = await open("/docs", { javaScriptEnabled: false });
    await tab.page.getByRole("heading", { name: "Authentication" }).waitFor();
    expect(await tab.page.getByRole("button").count()).toBe(0);
    expect(await tab.page.getByLabel("Find a call").isVisible()).toBe(false);
    await tab.page.getByRole("link", { name: "Refund a payment, or part of it" }).click();
    await tab.page.getByRole("heading", { name: "Refund a payment, or part of it" }).waitFor();
    await tab.page.getByRole("figure", { name: "Request: Refund a payment, or part of it" }).waitFor();
    await tab.page.getByText("Refusals,").first().click();
    await tab.page.getByRole("link", { name: "permission_denied" }).first().click();
    await tab.page.waitForURL(`${origin}/docs/errors#permission_denied`);
  });

  it("loads a style sheet and less than ten kilobytes of script, from here alone", async () => {
    const tab = await openTab(browser);
    const loaded: { readonly url: string; readonly bytes: Promise<number> }[] = [];
    tab.page.on("response", (response) => {
      loaded.push({ url: response.url(), bytes: response.body().then(({ length }) => length) });
    });
    await tab.page.goto(`${origin}/docs/payments`, { waitUntil: "networkidle" });
    const files = loaded.filter(({ url }) => !url.startsWith("data:"));
    expect(files.map(({ url }) => url.replace(/-[\w-]{16}[.]/, "."))).toEqual([
      `${origin}/docs/payments`,
      `${origin}/docs/assets/reference.css`,
      `${origin}/docs/assets/reference.js`,
    ]);
    expect(await files[2]?.bytes).toBeLessThan(10_000);
  });
});

describe("by keyboard", () => {
  it("the content is one step away, and program text can be reached and scrolled", async () => {
    const { page } = await open("/docs/payment-intents");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent.trim()")).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("location.hash")).toBe("#main");
    const text = page.getByRole("figure", { name: /^Answer: / }).first();
    await text.focus();
    await page.keyboard.press("ArrowDown");
    await expect
      .poll(() => text.evaluate((figure) => (figure as unknown as { scrollTop: number }).scrollTop))
      .toBeGreaterThan(0);
  });

  it("the menu of a phone folds, and leads on", async () => {
    const tab = await open("/docs/refunds", { viewport: phone });
    await tab.page.locator(".menu > summary").focus();
    await tab.page.keyboard.press("Enter");
    await photograph(tab, "docs-menu");
    await tab.page.setViewportSize(phone);
    const menu = tab.page.getByRole("navigation", { name: "Menu" });
    await menu.getByRole("link", { name: "Read a refund" }).click();
    const heading = await tab.page.getByRole("heading", { name: "Read a refund" }).boundingBox();
    expect(heading?.y).toBeGreaterThan(0);
    expect(heading?.y).toBeLessThan(phone.height / 2);
    expect((await menu.boundingBox())?.y).toBeLessThan(0);
    await menu.getByRole("link", { name: "Payouts" }).click();
    await tab.page.getByRole("heading", { name: "Payouts", level: 1 }).waitFor();
  });
});

describe("with its script", () => {
  it("puts a call on the clipboard as it stands", async () => {
    const tab = await open("/docs/merchant", { permissions: ["clipboard-read", "clipboard-write"] });
    await tab.page
      .getByRole("button", { name: "Copy: Request: Read the merchant's data and settings" })
      .click();
    expect(await tab.page.evaluate("navigator.clipboard.readText()")).toBe(
      `curl https://pay.example/v1/merchant \\\n  -H "Authorization: Bearer $SECRET_KEY"`,
    );
  });

  it("finds calls by their words", async () => {
    const tab = await open("/docs");
    await tab.page.getByLabel("Find a call").fill("post /v1/payouts cancel");
    await tab.page.getByText("1 calls").waitFor({ state: "attached" });
    expect(await tab.page.locator(".calls li:visible").allTextContents()).toEqual([
      expect.stringContaining("/v1/payouts/{id}/cancel"),
    ]);
    expect(await tab.page.locator(".chapters > section:visible").count()).toBe(1);
  });
});

describe("the landing page", () => {
  it("leads to it", async () => {
    const { page } = await open("/");
    await page.getByRole("link", { name: "API reference" }).click();
    await page.getByRole("heading", { name: "Farebox API", level: 1 }).waitFor();
  });
});
