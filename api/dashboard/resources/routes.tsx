/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import type { MerchantCtx } from "../../http/context.ts";
import { PageQuery, readPage, shownPage } from "../../http/page.ts";
import { findMerchant } from "../../merchant/verbs/merchant.ts";
import { takenRails } from "../../merchant/verbs/rails.ts";
import type { ProbedResource, ResourceInput } from "../../resource/schema.ts";
import {
  archiveResource,
  findBeforehand,
  listResources,
  readNamedRails,
  readResource,
  registerResource,
  setListed,
  tryResource,
} from "../../resource/verbs.ts";
import { parseQuery } from "../form.ts";
import type { Action, Room, Show, ShownOnce } from "../room.tsx";
import type { Desk, Section } from "../section.ts";
import { ConfirmPage } from "../view/confirm.tsx";
import { ResourcePage } from "./detail.tsx";
import { RegisteredPage, TrialPage } from "./findings.tsx";
import { EditResourcePage, NewResourcePage } from "./form.tsx";
import { ResourcesPage } from "./list.tsx";
import { readResourceForm } from "./reading.ts";

type ResourceDesk = Pick<Desk, "shop" | "facilitator" | "clearing">;

const PATH = "/dashboard/resources";
const PAGE = 25;
const SALES = 20;
const at = (id: string) => `${PATH}/${id}`;
const idOf = (c: Context) => c.req.param("id") ?? "";

/** Endpoints that the merchant sells to agents. */
export function resourcesSection(desk: ResourceDesk): Section {
  return {
    place: "resources",
    furnish(room) {
      room.page(PATH, listOf(desk));
      registering(room, desk);
      room.page(`${PATH}/:id`, detailOf(desk));
      changing(room, desk);
    },
  };
}

function listOf({ shop, facilitator }: ResourceDesk): Show {
  return async ({ c, ctx }) => {
    const page = readPage(c, { limit: PAGE, ...parseQuery(PageQuery, cursorOf(c)) }, {});
    const { rows, next } = shownPage(c, page, await listResources(shop, { ctx, input: page }), {});
    const known = await Promise.all(
      rows.map(async (row) => ({ ...row, trust: await facilitator.trust(row.id) })),
    );
    return { title: "x402 resources", body: <ResourcesPage rows={known} next={next} /> };
  };
}

function cursorOf(c: Context) {
  return { cursor: c.req.query("cursor") };
}

function detailOf({ shop, facilitator, clearing }: ResourceDesk): Show {
  return async ({ c, ctx }) => {
    const found = await readResource(shop, { ctx, input: { id: idOf(c) } });
    const [quote, trust, sales] = await Promise.all([
      facilitator.quote({ by: "id", id: found.id }),
      facilitator.trust(found.id),
      facilitator.payments({ soldAs: found.id, latest: SALES }),
    ]);
    const { baseUrl } = clearing;
    const done = c.req.query("done");
    const body = <ResourcePage of={found} {...{ quote, trust, sales, baseUrl, done }} />;
    return { title: found.url, body };
  };
}

function registering(room: Room, { shop, facilitator }: ResourceDesk): void {
  const takenBy = async ({ db, merchantId }: MerchantCtx) =>
    takenRails(await findMerchant(db.pool, merchantId), facilitator.rails());
  const again: Show = async ({ ctx }) => {
    ctx.demand("x402:read");
    const body = <NewResourcePage action={PATH} rails={await takenBy(ctx)} />;
    return { title: "Register an endpoint", body };
  };
  room.page(`${PATH}/new`, again);
  room.action({ ...register(shop, "registered"), path: PATH, again });

  const edit: Show = async ({ c, ctx }) => {
    const input = { id: idOf(c) };
    const of = await readResource(shop, { ctx, input });
    const [rails, named] = await Promise.all([takenBy(ctx), readNamedRails({ ctx, input })]);
    const body = <EditResourcePage action={`${at(of.id)}/edit`} {...{ rails, named, of }} />;
    return { title: "Change what is sold", body };
  };
  room.page(`${PATH}/:id/edit`, edit);
  room.action({ ...register(shop, "changed"), path: `${PATH}/:id/edit`, again: edit });
}

type Registering = Pick<
  Action<ResourceInput, Awaited<ReturnType<typeof findBeforehand>>>,
  "read" | "beforehand" | "act"
>;

/** What there is to know of a registration is shown this once; the next probe finds it again. */
function register(shop: Desk["shop"], done: string): Registering {
  return {
    read: (_c, fields) => readResourceForm(fields),
    beforehand: (ctx, input) => findBeforehand(shop, { ctx, input }),
    async act(ctx, input, found) {
      const { resource } = await registerResource(shop, { ctx, input, found });
      const to = `${at(resource.id)}?done=${done}`;
      if (resource.findings.length === 0) return to;
      const body = <RegisteredPage path={at(resource.id)} findings={resource.findings} />;
      return { to, title: "Registered", body };
    },
  };
}

function changing(room: Room, desk: ResourceDesk): void {
  const { shop } = desk;
  const again = detailOf(desk);
  const read = (c: Context) => ({ id: idOf(c) });
  for (const [name, listed] of [
    ["list", true],
    ["unlist", false],
  ] as const)
    room.action({
      path: `${PATH}/:id/${name}`,
      read,
      async act(ctx, { id }) {
        await setListed(shop, { ctx, input: { id, listed } });
        return `${at(id)}?done=${name}ed`;
      },
      again,
    });
  room.action({
    path: `${PATH}/:id/try`,
    read,
    beforehand: async (ctx, input) =>
      tryResource(shop, { ctx, input: asInput(await readResource(shop, { ctx, input })) }),
    async act(_ctx, { id }, trial): Promise<ShownOnce> {
      return { to: at(id), title: "A try", body: <TrialPage path={at(id)} trial={trial} /> };
    },
    again,
  });
  const confirm: Show = async ({ c, ctx }) => {
    const { id, url } = await readResource(shop, { ctx, input: read(c) });
    return { title: "Archive", body: <ArchivePage id={id} url={url} /> };
  };
  room.page(`${PATH}/:id/archive`, confirm);
  room.action({
    path: `${PATH}/:id/archive`,
    read,
    async act(ctx, input) {
      await archiveResource(shop, { ctx, input });
      return PATH;
    },
    again: confirm,
  });
}

/** A registered endpoint as it would be registered again. */
function asInput(of: ProbedResource): ResourceInput {
  const { url, price, description, mimeType, maxTimeoutSeconds, paymentFlow, tags, extensions } = of;
  return {
    ...{ url, description, mimeType, maxTimeoutSeconds, paymentFlow, tags, probe: false },
    price: { amount: price.amount, asset: price.asset },
    rails: of.accepts.map(({ chain, asset }) => ({ chain, asset })),
    ...(of.serviceName === null ? {} : { serviceName: of.serviceName }),
    ...(of.iconUrl === null ? {} : { iconUrl: of.iconUrl }),
    ...("bazaar" in extensions
      ? { extensions: { bazaar: extensions.bazaar as Record<string, unknown> } }
      : {}),
  };
}

function ArchivePage({ id, url }: { readonly id: string; readonly url: string }) {
  return (
    <ConfirmPage
      title="Archive this resource?"
      above={[at(id), "The resource"]}
      action={`${at(id)}/archive`}
      submit="Archive it"
    >
      <p class="lead">
        <strong>{url}</strong> goes off sale for good. Payments under way end on their own terms, and the URL
        can be registered again.
      </p>
    </ConfirmPage>
  );
}
