/** A merchant signed in to the dashboard: in a browser, and by plain requests. */
import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { expectAccessible, type Opener, openTab, photograph, type Tab } from "../../support/browser.ts";

/** A tab of somebody who signed in with this key. */
export async function signIn(browser: Opener, baseUrl: string, secretKey: string) {
  const tab = await openTab(browser);
  const { page } = tab;
  await page.goto(`${baseUrl}/dashboard/sign-in`);
  await page.locator("[name=key]").fill(secretKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => !url.pathname.endsWith("/sign-in"));
  return {
    tab,
    page,
    go: (path: string) => page.goto(`${baseUrl}/dashboard/${path}`),
    press: (name: string) => page.getByRole("button", { name, exact: true }).click(),
    follow: (name: string) => page.locator("main").getByRole("link", { name, exact: true }).click(),
    /** Fields by their names, which are paths of the API's body. */
    async fill(fields: Readonly<Record<string, string>>) {
      for (const [name, value] of Object.entries(fields)) await page.locator(`[name="${name}"]`).fill(value);
    },
    choose: (name: string, value: string) => page.locator(`[name="${name}"]`).selectOption(value),
    says: (text: string) => page.locator("main").getByText(text).first().waitFor(),
    valueOf: (name: string) => page.locator(`[name="${name}"]`).inputValue(),
    /** The id at the end of the page's address. */
    id: () => new URL(page.url()).pathname.split("/").at(-1) ?? "",
    look: (name: string) => look(tab, `dashboard-${name}`),
  };
}
export type Visitor = Awaited<ReturnType<typeof signIn>>;

/** Photographed, found accessible, and without a fault of its policy. */
async function look(tab: Tab, name: string): Promise<void> {
  await photograph(tab, name);
  await expectAccessible(tab);
  // What a browser says of a page that came with a 4xx is no fault of the page.
  expect(tab.faults.filter((each) => !each.startsWith("Failed to load resource"))).toEqual([]);
}

export interface Sent {
  readonly status: number;
  readonly location: string | null;
  readonly text: string;
}

/** The same without a browser: forms as they go over the wire. */
export async function openSession(baseUrl: string, secretKey: string) {
  const signedIn = await fetch(`${baseUrl}/dashboard/sign-in`, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ key: secretKey }),
  });
  const cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const send = async (path: string, init: RequestInit): Promise<Sent> => {
    const headers = { cookie, ...(init.headers as Record<string, string>) };
    const at = path === "" ? `${baseUrl}/dashboard` : `${baseUrl}/dashboard/${path}`;
    const response = await fetch(at, { ...init, headers, redirect: "manual" });
    return {
      status: response.status,
      location: response.headers.get("location"),
      text: await response.text(),
    };
  };
  const { text } = await send("products", {});
  const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? "";
  return {
    get: (path: string) => send(path, {}),
    /** With the session's token and a fresh key, unless they are given. */
    post: (path: string, fields: Readonly<Record<string, string>> = {}, headers = {}) => {
      const body = new URLSearchParams({ csrf, once: randomBytes(8).toString("hex"), ...fields });
      return send(path, { method: "POST", body, headers });
    },
  };
}
export type Session = Awaited<ReturnType<typeof openSession>>;

/** Sends a form as anybody might: of another site or session, with a key that may not, for another merchant's thing. Each is
 *  refused, and nothing is changed. */
export async function expectRefusals(
  at: string,
  fields: Readonly<Record<string, string>>,
  {
    mine,
    reader,
    stranger,
  }: { readonly mine: Session; readonly reader: Session; readonly stranger: Session | null },
  stand: () => Promise<unknown>,
): Promise<void> {
  const before = await stand();
  expect((await mine.post(at, { ...fields, csrf: "x" })).status).toBe(403);
  expect((await mine.post(at, fields, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
  const denied = await reader.post(at, fields);
  expect([denied.status, /Permission denied/.test(denied.text)]).toEqual([403, true]);
  if (stranger) expect((await stranger.post(at, fields)).status).toBe(404);
  expect(await stand()).toEqual(before);
}
