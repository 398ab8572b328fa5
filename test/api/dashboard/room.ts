/** A browser's part in the dashboard, without a browser: cookies, forms, and what their pages say. */
import { expect } from "vitest";

export type Ask = (path: string, init?: RequestInit) => Promise<Response>;
export interface Page {
  readonly status: number;
  readonly text: string;
  readonly leadsTo: string | null;
}

const FORM = "application/x-www-form-urlencoded";

/** A form as a browser sends it. */
function formOf(fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
  const body = new URLSearchParams(fields).toString();
  return {
    method: "POST",
    redirect: "manual" as const,
    headers: { "content-type": FORM, "content-length": String(body.length), ...headers },
    body,
  };
}

export function cookieOf(response: Response): string {
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

async function pageOf(response: Response): Promise<Page> {
  return { status: response.status, text: await response.text(), leadsTo: response.headers.get("location") };
}

export function signIn(ask: Ask, key: string, headers: Record<string, string> = {}): Promise<Response> {
  return ask("/dashboard/sign-in", formOf({ key }, headers));
}

/** Signs in; what the session sees and sends from then on. */
export async function openSession(ask: Ask, key: string) {
  const response = await signIn(ask, key);
  expect([response.status, response.headers.get("location")]).toEqual([303, "/dashboard"]);
  return sessionOf(ask, cookieOf(response));
}

export function sessionOf(ask: Ask, cookie: string) {
  const get = async (path: string) => pageOf(await ask(path, { redirect: "manual", headers: { cookie } }));
  const post = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    pageOf(await ask(path, formOf(fields, { cookie, ...headers })));
  return {
    cookie,
    get,
    post,
    /** The session's token, as its forms carry it. */
    token: async () => /name="csrf" value="([\w-]+)"/.exec((await get("/dashboard")).text)?.[1] ?? "",
  };
}
