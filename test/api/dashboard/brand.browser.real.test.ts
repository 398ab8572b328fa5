/** A merchant gives its pages a colour and a picture, at the dashboard. */
import { beforeAll, describe, expect, it } from "vitest";
import { sharedBrowser } from "../../support/browser.ts";
import { sharedMerchant, sharedWorld } from "../../support/house.ts";
import { png } from "../../support/png.ts";
import { openSession, signIn, type Visitor } from "./selling.ts";

const world = sharedWorld();
const browser = sharedBrowser();
const merchant = sharedMerchant(world);
let at: Visitor;
beforeAll(async () => {
  at = await signIn(browser, world.baseUrl, merchant.secretKey);
});

const picture = png({ width: 120, height: 40, colourType: 2, value: 90 });
const choose = (name: string, mimeType: string, buffer: Buffer) =>
  at.page.locator("[name=logo][type=file]").setInputFiles({ name, mimeType, buffer });
const stands = async (): Promise<{ readonly brandColour: string | null; readonly logo: string | null }> => {
  const { brandColour, logo } = (await (await merchant.call("/v1/merchant")).json()) as never;
  return { brandColour, logo };
};
const colourShown = () => at.page.locator("svg.look rect").getAttribute("fill");

describe("the look", () => {
  it("takes a colour and a picture, and shows how a page begins with them", async () => {
    await at.go("settings");
    expect(await colourShown()).toBe("#12372a");
    await at.fill({ brandColour: "#0A5C36" });
    await choose("logo.png", "image/png", picture);
    await at.press("Save the look");
    await at.says("Saved.");
    const { brandColour, logo } = await stands();
    expect([brandColour, logo]).toEqual([
      "#0a5c36",
      expect.stringMatching(/^[/]assets[/]logo-[0-9a-f]{64}[.]png$/),
    ]);
    expect(await colourShown()).toBe("#0a5c36");
    const shown = await at.page.request.get(
      `${world.baseUrl}${await at.page.locator("svg.look image").getAttribute("href")}`,
    );
    expect([shown.status(), shown.headers()["content-type"]]).toEqual([200, "image/png"]);
    await at.look("look");
  });

  it("keeps the picture where none is chosen, and takes it away where that is said", async () => {
    const { logo } = await stands();
    await at.go("settings");
    await at.fill({ brandColour: "" });
    await at.press("Save the look");
    await at.says("Saved.");
    expect(await stands()).toEqual({ brandColour: null, logo });
    await at.page.getByLabel("Take the present picture away").check();
    await at.press("Save the look");
    await at.says("Saved.");
    expect(await stands()).toEqual({ brandColour: null, logo: null });
    expect(await at.page.locator("svg.look image").count()).toBe(0);
  });

  it("refuses what the API refuses, beside the field, and changes nothing", async () => {
    const before = await stands();
    await at.go("settings");
    await at.fill({ brandColour: "red" });
    await at.press("Save the look");
    await at.says("a colour such as #0a5c36");
    expect(await at.valueOf("brandColour")).toBe("red");
    const wrong = [
      ["a.svg", "image/svg+xml", Buffer.from("<svg/>"), "A PNG."],
      ["a.png", "image/png", Buffer.from("<script>alert(1)</script>"), "a whole PNG"],
      ["a.png", "image/png", png({ width: 2_000, height: 10 }), "a whole PNG"],
    ] as const;
    for (const [name, type, bytes, said] of wrong) {
      await at.go("settings");
      await choose(name, type, bytes);
      await at.press("Save the look");
      await at.page.locator(".field.wrong .error").getByText(said).waitFor();
    }
    await at.look("look-refused");
    expect(await stands()).toEqual(before);
  });
});

describe("a form with files", () => {
  const send = async (type: string, body: Buffer) => {
    const signedIn = await fetch(`${world.baseUrl}/dashboard/sign-in`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ key: merchant.secretKey }),
    });
    const cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const headers = { cookie, "Content-Type": type };
    return (await fetch(`${world.baseUrl}/dashboard/settings/brand`, { method: "POST", headers, body }))
      .status;
  };

  it("that is none, or too long, or of nobody's session is refused and changes nothing", async () => {
    const before = await stands();
    expect(await send("multipart/form-data", Buffer.from("x"))).toBe(400);
    expect(await send("multipart/form-data; boundary=x", Buffer.from("--x\r\nno form"))).toBe(400);
    expect(await send("multipart/form-data; boundary=x", Buffer.alloc(70_000))).toBe(413);
    const mine = await openSession(world.baseUrl, merchant.secretKey);
    const fields = { brandColour: "#ffffff" };
    expect((await mine.post("settings/brand", { ...fields, csrf: "x" })).status).toBe(403);
    expect((await mine.post("settings/brand", fields, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect(await stands()).toEqual(before);
  });
});
