import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";

/** The session's cookie. Over https its name says that this host alone has set it; a plain http deployment is a local
 *  one. */
const NAME = "farebox_session";

function mannersOf(baseUrl: string) {
  const isSecure = baseUrl.startsWith("https:");
  const always = { path: "/", httpOnly: true, sameSite: "Lax" } as const;
  return isSecure ? { ...always, secure: true, prefix: "host" as const } : always;
}

export function readSessionCookie(c: Context, baseUrl: string): string | undefined {
  return baseUrl.startsWith("https:") ? getCookie(c, NAME, "host") : getCookie(c, NAME);
}

/** Without an end of its own: it goes with the browser, or when its session ends. */
export function setSessionCookie(c: Context, baseUrl: string, token: string): void {
  setCookie(c, NAME, token, mannersOf(baseUrl));
}

export function dropSessionCookie(c: Context, baseUrl: string): void {
  deleteCookie(c, NAME, mannersOf(baseUrl));
}
