/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Child } from "hono/jsx";
import type { MerchantCtx } from "../http/context.ts";
import { asPublic, fault } from "../http/faults.ts";
import { keyedAfter, type WriteKey } from "../http/idempotency.ts";
import { refuseForeignForm } from "../http/manners.ts";
import { isWithheld, type Permission } from "../http/permissions.ts";
import { statusOfCode } from "../http/problem.ts";
import { currentOf } from "../http/version.ts";
import {
  CSRF,
  errorsOf,
  type Fields,
  fieldOf,
  isTheirs,
  MORE,
  ONCE,
  type Refused,
  readPosted,
} from "./form.ts";
import { demandToken, enter, type Porch, page, whole } from "./gate.tsx";
import type { Session } from "./verbs/session.ts";
import { Layout } from "./view/layout.tsx";
import { type Viewer, ViewerContext } from "./view/visit.ts";

/** A look at a page. */
export interface Visit {
  readonly c: Context;
  readonly ctx: MerchantCtx;
  /** A form on this page that has just been refused. */
  readonly refused: Refused | null;
}
export interface Shown {
  readonly title: string;
  readonly body: Child;
}
/** A page that is the answer to a form itself and is kept nowhere, since it holds a secret or what was found just now. The
 *  same form sent again leads to `to`, where that is not seen. */
export interface ShownOnce extends Shown {
  readonly to: string;
}
/** A page, or an answer of its own: a file, or the way elsewhere. */
export type Show = (visit: Visit) => Promise<Shown | Response>;

/** What a form does: the same verb that the API calls, in the same layer that lets a write happen once. */
export interface Action<Input, Found> {
  readonly path: string;
  /** Puts right what only looks so in a form, such as empty rows, before anything else sees its fields. */
  readonly tidy?: (fields: Fields) => Fields;
  /** The form as the verb takes it. Fault: `validation_failed`. */
  read(c: Context, fields: Fields): Input;
  /** What must be asked outside before the transaction. */
  readonly beforehand?: (ctx: MerchantCtx, input: Input) => Promise<Found>;
  /** Does it; where the browser goes then, or what it is shown this once. */
  act(ctx: MerchantCtx, input: Input, found: Found, write: WriteKey): Promise<string | ShownOnce>;
  /** The page that the form is on: shown again where it was refused. */
  readonly again: Show;
}

/** Where a section puts its pages and actions. Everything here is behind the session. */
export interface Room {
  page(path: string, show: Show): void;
  action<Input, Found = undefined>(action: Action<Input, Found>): void;
}

/** The room of one section. */
export function openRoom(
  app: OpenAPIHono,
  porch: Porch,
  { place, places, explorerOf }: Pick<Viewer, "place" | "places" | "explorerOf">,
): Room {
  const present = async (c: Context, session: Session, show: Show, refused: Refused | null = null) => {
    const shown = await show({ c, ctx: c.var.merchant, refused });
    return shown instanceof Response ? shown : frame(c, session, shown, refused);
  };
  const frame = async (c: Context, session: Session, shown: Shown, refused: Refused | null) => {
    const ctx = c.var.merchant;
    const viewer = {
      merchantName: session.merchantName,
      suspensionReason: session.suspensionReason,
      keyId: session.keyId,
      csrfToken: session.csrfToken,
      refused,
      drawn: new Map<string, string>(),
      newKey: () => ctx.newId("req"),
      may: (permission: Permission) =>
        ctx.scope.permissions.has(permission) && !isWithheld(ctx.scope, permission),
      explorerOf,
      place,
      places,
    };
    const within = (child: Child) => <ViewerContext.Provider value={viewer}>{child}</ViewerContext.Provider>;
    if (refused?.code) await within(shown.body).toString(); // what is drawn is noted, for the summary above it
    const framed = within(
      <Layout title={shown.title} style={await porch.style()}>
        {shown.body}
      </Layout>,
    );
    return whole(c, framed, refused?.code ? statusOfCode(refused.code) : 200);
  };
  return {
    page(path, show) {
      app.get(path, (c) =>
        page(c, porch, async () => {
          const session = await enter(c, porch);
          if (!session) return toSignIn(c);
          return present(c, session, show);
        }),
      );
    },
    action(action) {
      app.post(action.path, (c) =>
        page(c, porch, async () => {
          refuseForeignForm(c, porch.edge.baseUrl);
          const session = await enter(c, porch);
          if (!session) return toSignIn(c);
          const sent = await readPosted(c);
          demandToken(session, fieldOf(sent, CSRF));
          const fields = action.tidy ? action.tidy(sent) : sent;
          if (fieldOf(fields, MORE) !== undefined)
            return present(c, session, action.again, { path: c.req.path, ...nothingWrong, fields });
          try {
            const done = await perform(c, action, fields);
            return done instanceof Response ? done : await frame(c, session, done, null);
          } catch (error) {
            if (!isTheirs(error)) throw error;
            const { title, detail, code } = asPublic(error);
            const words = code === "validation_failed" ? notYet : { title, detail };
            const refused = { path: c.req.path, code, ...words, errors: errorsOf(error), fields };
            return present(c, session, action.again, refused);
          }
        }),
      );
    },
  };
}

/** What the API says of a wrong shape is said to programs. */
const notYet = { title: "Not yet", detail: "Nothing was done. Look again at what is marked." };
const nothingWrong = { code: null, title: "", detail: "", errors: [] } as const;
const KEY = /^[\x20-\x7e]{1,255}$/;

async function perform<Input, Found>(
  c: Context,
  { read, beforehand, act }: Action<Input, Found>,
  fields: Fields,
): Promise<Response | ShownOnce> {
  const key = fieldOf(fields, ONCE) ?? "";
  if (!KEY.test(key)) throw fault("form_not_current");
  // A stored answer names the revision that it has the shape of; that of a form leads elsewhere and has none.
  c.set("served", { date: currentOf([]), shape: ({ body }) => body });
  const input = read(c, fields);
  const ctx = c.var.merchant;
  const found = async () => (await beforehand?.(ctx, input)) as Found;
  // What is shown once stays in this process: the stored answer holds no more than where a repetition leads.
  const kept: { once: ShownOnce | null } = { once: null };
  const work = async (within: MerchantCtx, known: Found, write: WriteKey | null) => {
    if (!write) throw fault("idempotency_key_required");
    const done = await act(within, input, known, write);
    kept.once = typeof done === "string" ? null : done;
    return { status: 303 as const, headers: { Location: typeof done === "string" ? done : done.to } };
  };
  const answer = await keyedAfter(c, { input, isRequired: true, key, beforehand: found }, work);
  return kept.once ?? answer;
}

/** Back here afterwards, if it was a page, with what it was narrowed by. Who sent a form is told that it did nothing. */
function toSignIn({ req, redirect }: Context): Response {
  const { search } = new URL(req.url);
  const next =
    req.path === "/dashboard" && search === "" ? "" : `?next=${req.path}${encodeURIComponent(search)}`;
  return redirect(`/dashboard/sign-in${req.method === "GET" ? next : "?ended=1"}`, 303);
}
