/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import { readPage, shownPage } from "../../http/page.ts";
import { ApiKeyInput, type IssuedApiKey, Rotation } from "../../merchant/schema.ts";
import { endKey, issueKey, listKeys, readKey, rotateKey } from "../../merchant/verbs/key.ts";
import { fieldOf, parseFields } from "../form.ts";
import { asInstant, asNumber, asSomeLines } from "../readings.ts";
import type { Room, Show, ShownOnce } from "../room.tsx";
import type { Desk, Section } from "../section.ts";
import { SecretPage } from "../view/secret.tsx";
import { NewKeyPage, RevokeKeyPage, RotateKeyPage } from "./forms.tsx";
import { KeyPage, KeysPage } from "./list.tsx";

const PATH = "/dashboard/api-keys";
const PAGE = 25;
const idOf = (c: Context) => c.req.param("id") ?? "";

/** The merchant's keys. */
export function apiKeysSection({ keys }: Pick<Desk, "keys">): Section {
  return {
    place: "api-keys",
    furnish(room) {
      room.page(PATH, list);
      making(room, keys);
      room.page(`${PATH}/:id`, async ({ c, ctx }) => {
        const of = await readKey({ ctx, input: { id: idOf(c) } });
        return { title: of.name, body: <KeyPage of={of} now={ctx.now()} /> };
      });
      replacing(room, keys);
      ending(room);
    },
  };
}

const list: Show = async ({ c, ctx }) => {
  const page = readPage(c, { limit: PAGE, cursor: c.req.query("cursor") }, {});
  const { rows, next } = shownPage(c, page, await listKeys({ ctx, input: page }), {});
  const body = <KeysPage rows={rows} next={next} done={c.req.query("done")} now={ctx.now()} />;
  return { title: "API keys", body };
};

function making(room: Room, keys: Desk["keys"]): void {
  const ask: Show = async ({ c, ctx, refused }) => {
    ctx.demand("keys:manage");
    const kind = refused ? fieldOf(refused.fields, "kind") : c.req.query("kind");
    return { title: "New key", body: <NewKeyPage kind={kind === "pk" ? "pk" : "sk"} /> };
  };
  room.page(`${PATH}/new`, ask);
  room.action({
    path: PATH,
    read: (_c, fields) =>
      parseFields(
        ApiKeyInput,
        fields,
        {},
        {
          allowedOrigins: asSomeLines,
          allowedIps: asSomeLines,
          expiresAt: asInstant,
        },
      ),
    async act(ctx, input) {
      return shownKey(await issueKey(keys, { ctx, input }), "created");
    },
    again: ask,
  });
}

function replacing(room: Room, keys: Desk["keys"]): void {
  const ask: Show = async ({ c, ctx }) => {
    const of = await readKey({ ctx, input: { id: idOf(c) } });
    return { title: "Replace a key", body: <RotateKeyPage of={of} /> };
  };
  room.page(`${PATH}/:id/rotate`, ask);
  room.action({
    path: `${PATH}/:id/rotate`,
    read: (c, fields) => ({ id: idOf(c), ...parseFields(Rotation, fields, {}, { graceSeconds: asNumber }) }),
    async act(ctx, input) {
      return shownKey(await rotateKey(keys, { ctx, input }), "rotated");
    },
    again: ask,
  });
}

function ending(room: Room): void {
  const ask: Show = async ({ c, ctx }) => {
    const of = await readKey({ ctx, input: { id: idOf(c) } });
    return { title: "Revoke a key", body: <RevokeKeyPage of={of} /> };
  };
  room.page(`${PATH}/:id/revoke`, ask);
  room.action({
    path: `${PATH}/:id/revoke`,
    read: (c) => ({ id: idOf(c) }),
    async act(ctx, input) {
      await endKey({ ctx, input });
      return `${PATH}?done=revoked`;
    },
    again: ask,
  });
}

function shownKey({ kind, name, key }: IssuedApiKey, done: string): ShownOnce {
  const body = (
    <SecretPage
      title={name}
      name={kind === "sk" ? "Secret key" : "Publishable key"}
      secret={key}
      to={[PATH, "It is copied"]}
    >
      <p class="muted">
        Programs send it as <code>Authorization: Bearer …</code>.
      </p>
    </SecretPage>
  );
  return { to: `${PATH}?done=${done}`, title: name, body };
}
