/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import { readPage, shownPage } from "../../http/page.ts";
import {
  DeliveryFilter,
  type IssuedWebhookEndpoint,
  SecretRotation,
  WebhookEndpointChange,
  WebhookEndpointInput,
} from "../../webhook/schema.ts";
import { listDeliveries } from "../../webhook/verbs/delivery.ts";
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  readEndpoint,
  rotateSecret,
  testEndpoint,
} from "../../webhook/verbs/endpoint.ts";
import { parseFields, parseQuery } from "../form.ts";
import { asLines, asNumber, asText } from "../readings.ts";
import type { Room, Show, ShownOnce } from "../room.tsx";
import type { Desk, Section } from "../section.ts";
import { SecretPage } from "../view/secret.tsx";
import { DeleteEndpointPage, RotateSecretPage } from "./confirm.tsx";
import { deliveries } from "./deliveries.tsx";
import { EndpointPage } from "./detail.tsx";
import { EndpointFormPage, WebhooksPage } from "./list.tsx";

const PATH = "/dashboard/webhooks";
const PAGE = 25;
const idOf = (c: Context) => c.req.param("id") ?? "";
type WebhookDesk = Pick<Desk, "post" | "apiVersion">;

/** Where the merchant listens, and what was sent there. */
export function webhooksSection(desk: WebhookDesk): Section {
  return {
    place: "webhooks",
    furnish(room) {
      room.page(PATH, list);
      adding(room, desk);
      room.page(`${PATH}/:id`, endpoint);
      changing(room, desk);
      switching(room, desk);
      rotating(room, desk);
      deleting(room);
      deliveries(room, { post: desk.post, endpoint });
    },
  };
}

const list: Show = async ({ c, ctx }) => {
  const rows = await listEndpoints({ ctx, input: {} });
  return { title: "Webhooks", body: <WebhooksPage rows={rows} done={c.req.query("done")} /> };
};

const endpoint: Show = async ({ c, ctx }) => {
  const id = idOf(c);
  const of = await readEndpoint({ ctx, input: { id } });
  const state = c.req.query("state") || undefined;
  const filter = parseQuery(DeliveryFilter, { state });
  const path = `${PATH}/${id}`;
  const page = readPage(c, { limit: PAGE, cursor: c.req.query("cursor") }, filter, path);
  const found = await listDeliveries({ ctx, input: { id, ...page, ...filter } });
  const { rows, next } = shownPage(c, page, found, filter, path);
  return { title: of.url, body: <EndpointPage {...{ of, rows, next, state }} done={c.req.query("done")} /> };
};

function adding(room: Room, { post, apiVersion }: WebhookDesk): void {
  const ask: Show = async ({ ctx }) => {
    ctx.demand("webhooks:manage");
    return { title: "Add an endpoint", body: <EndpointFormPage of={null} types={post.types} /> };
  };
  room.page(`${PATH}/new`, ask);
  room.action({
    path: PATH,
    read: (_c, fields) => parseFields(WebhookEndpointInput, fields, {}, { events: asLines }),
    async act(ctx, input) {
      return shownSecret(await createEndpoint(post, { ctx, input: { ...input, apiVersion } }), "added");
    },
    again: ask,
  });
}

function changing(room: Room, { post }: WebhookDesk): void {
  const ask: Show = async ({ c, ctx }) => {
    const of = await readEndpoint({ ctx, input: { id: idOf(c) } });
    return { title: "Change the endpoint", body: <EndpointFormPage of={of} types={post.types} /> };
  };
  room.page(`${PATH}/:id/edit`, ask);
  room.action({
    path: `${PATH}/:id/edit`,
    read: (c, fields) => ({
      id: idOf(c),
      ...parseFields(WebhookEndpointChange, fields, {}, { events: asLines, description: asText }),
    }),
    async act(ctx, input) {
      await changeEndpoint(post, { ctx, input });
      return `${PATH}/${input.id}?done=changed`;
    },
    again: ask,
  });
}

/** On, off, and whether anybody is there. */
function switching(room: Room, { post }: WebhookDesk): void {
  const read = (c: Context) => ({ id: idOf(c) });
  for (const [name, enabled] of [
    ["enable", true],
    ["disable", false],
  ] as const)
    room.action({
      path: `${PATH}/:id/${name}`,
      read,
      async act(ctx, { id }) {
        await changeEndpoint(post, { ctx, input: { id, enabled } });
        return `${PATH}/${id}?done=${name}d`;
      },
      again: endpoint,
    });
  room.action({
    path: `${PATH}/:id/test`,
    read,
    async act(ctx, input) {
      await testEndpoint({ ctx, input });
      return `${PATH}/${input.id}?done=pinged`;
    },
    again: endpoint,
  });
}

function rotating(room: Room, { post }: WebhookDesk): void {
  const ask: Show = async ({ c, ctx }) => {
    const of = await readEndpoint({ ctx, input: { id: idOf(c) } });
    return { title: "Replace the secret", body: <RotateSecretPage of={of} /> };
  };
  room.page(`${PATH}/:id/rotate`, ask);
  room.action({
    path: `${PATH}/:id/rotate`,
    read: (c, fields) => ({
      id: idOf(c),
      ...parseFields(SecretRotation, fields, {}, { graceSeconds: asNumber }),
    }),
    async act(ctx, input) {
      return shownSecret(await rotateSecret(post, { ctx, input }), "rotated");
    },
    again: ask,
  });
}

function deleting(room: Room): void {
  const ask: Show = async ({ c, ctx }) => {
    const of = await readEndpoint({ ctx, input: { id: idOf(c) } });
    return { title: "Delete the endpoint", body: <DeleteEndpointPage of={of} /> };
  };
  room.page(`${PATH}/:id/delete`, ask);
  room.action({
    path: `${PATH}/:id/delete`,
    read: (c) => ({ id: idOf(c) }),
    async act(ctx, input) {
      await deleteEndpoint({ ctx, input });
      return `${PATH}?done=deleted`;
    },
    again: ask,
  });
}

function shownSecret({ id, url, secret }: IssuedWebhookEndpoint, done: string): ShownOnce {
  const body = (
    <SecretPage title={url} name="Signing secret" secret={secret} to={[`${PATH}/${id}`, "It is copied"]}>
      <p class="muted">Your server verifies with it that a delivery is ours, as Standard Webhooks says.</p>
    </SecretPage>
  );
  return { to: `${PATH}/${id}?done=${done}`, title: "Signing secret", body };
}
