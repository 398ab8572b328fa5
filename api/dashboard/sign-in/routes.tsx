/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { demandAddress } from "../../http/auth.ts";
import type { MerchantScope } from "../../http/context.ts";
import { asPublic, fault } from "../../http/faults.ts";
import { clientAddress, spend } from "../../http/limit.ts";
import { refuseForeignForm } from "../../http/manners.ts";
import { statusOfCode } from "../../http/problem.ts";
import { dropSessionCookie, setSessionCookie } from "../cookie.ts";
import { CSRF, fieldOf, isTheirs, readPosted } from "../form.ts";
import { demandToken, enter, type Porch, page, whole } from "../gate.tsx";
import { SignInForm } from "../schema.ts";
import { endSession, openSession } from "../verbs/session.ts";
import { SignInPage } from "./view.tsx";

/** The way in and the way out. */
export function mountSignIn(app: OpenAPIHono, porch: Porch): void {
  app.get("/dashboard/sign-in", (c) => page(c, porch, () => showSignIn(c, porch)));
  app.post("/dashboard/sign-in", (c) => page(c, porch, () => signIn(c, porch)));
  app.post("/dashboard/sign-out", (c) => page(c, porch, () => signOut(c, porch)));
}

async function showSignIn(c: Context, porch: Porch): Promise<Response> {
  if (await enter(c, porch)) return c.redirect("/dashboard", 303);
  const { next } = SignInForm.parse({ next: c.req.query("next") });
  const hasEnded = c.req.query("ended") === "1";
  return whole(c, <SignInPage style={await porch.style()} next={next} hasEnded={hasEnded} problem={null} />);
}

async function signIn(c: Context, porch: Porch): Promise<Response> {
  const { baseUrl } = porch.edge;
  refuseForeignForm(c, baseUrl);
  const sent = SignInForm.safeParse(Object.fromEntries(await readPosted(c)));
  if (!sent.success) throw fault("validation_failed");
  const { key, next } = sent.data;
  try {
    const scope = await recognize(c, porch, key);
    // A session that this browser had ends: its cookie is about to be replaced.
    const earlier = await enter(c, porch);
    if (earlier) await endSession(porch.sessions, earlier);
    setSessionCookie(c, baseUrl, await openSession(porch.sessions, scope));
    return c.redirect(next ?? "/dashboard", 303);
  } catch (error) {
    const problem = problemOf(error);
    const style = await porch.style();
    return whole(c, <SignInPage style={style} next={next} problem={problem} />, statusOfCode(problem.code));
  }
}

/** Who this key stands for. Faults: `rate_limited`, `unauthenticated`, `secret_key_required`, `address_not_allowed`,
 *  `permission_denied`. */
async function recognize(c: Context, { edge }: Porch, pasted: string): Promise<MerchantScope> {
  // First of all: with a space before it, the same key would be counted as none.
  const key = pasted.trim();
  await spend(c, "sign-in", clientAddress(c, edge));
  const id = /^[sp]k_([0-9A-Za-z]{12})/.exec(key)?.[1];
  if (id) await spend(c, "sign-in", id);
  const scope = await edge.authenticate(key);
  if (!scope) throw fault("unauthenticated");
  if (scope.kind !== "sk") throw fault("secret_key_required");
  demandAddress(c, scope);
  if (!scope.permissions.has("merchant:manage"))
    throw fault("permission_denied", { permission: "merchant:manage" });
  return scope;
}

/** In the words of somebody who typed a key into a form. */
function problemOf(error: unknown) {
  if (!isTheirs(error)) throw error;
  const { code, title, detail } = asPublic(error);
  if (code === "unauthenticated")
    return {
      code,
      title: "This key does not work here",
      detail: "It is unknown, revoked or expired. Check that all of it was pasted.",
    };
  if (code === "rate_limited")
    return { code, title: "Too many attempts", detail: "Wait a few seconds, then try once more." };
  return { code, title, detail };
}

async function signOut(c: Context, porch: Porch): Promise<Response> {
  refuseForeignForm(c, porch.edge.baseUrl);
  const session = await enter(c, porch);
  if (session) {
    demandToken(session, fieldOf(await readPosted(c), CSRF));
    await endSession(porch.sessions, session);
  }
  dropSessionCookie(c, porch.edge.baseUrl);
  return c.redirect("/dashboard/sign-in", 303);
}
