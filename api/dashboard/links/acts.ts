import { PaymentLinkChange, PaymentLinkInput, PaymentLinkPath } from "../../payment-link/schema.ts";
import { changeLink, setDisabled, setListed } from "../../payment-link/verbs/change.ts";
import { checkLink, createLink } from "../../payment-link/verbs/create.ts";
import { readLink } from "../../payment-link/verbs/read.ts";
import { type Fields, fieldOf, parseFields, pathAs } from "../form.ts";
import type { Room, Show } from "../room.tsx";
import { amountsIn, closeUp, orNull, toInstant, toNumber, withEmpty } from "../rows.ts";
import type { Desk } from "../section.ts";

export type LinksDesk = Pick<Desk, "clearing" | "links">;

const PATH = "/dashboard/links";
const pathOf = (id: string | undefined) => pathAs(PaymentLinkPath, id);
const readers = {
  maxPayments: toNumber,
  expiresAt: toInstant,
  "lines.*.quantity": toNumber,
  version: toNumber,
};
/** What a form clears where it is left empty. */
const clearing = { title: orNull(), expiresAt: orNull(toInstant), maxPayments: orNull(toNumber) };

/** What the forms of links do. */
export function furnishActs(
  room: Room,
  desk: LinksDesk,
  shows: { readonly create: Show; readonly link: Show; readonly edit: Show },
): void {
  creating(room, desk, shows.create);
  changing(room, desk, shows.edit);
  switching(room, desk, shows.link);
}

function creating(room: Room, { links }: LinksDesk, again: Show): void {
  room.action({
    path: PATH,
    tidy,
    read: (_, fields) =>
      parseFields(PaymentLinkInput, amountsIn(fields, fieldOf(fields, "currency")), readers),
    async beforehand(ctx, input) {
      ctx.demand("links:manage");
      return checkLink(links, { ctx, input });
    },
    async act(ctx, input, terms) {
      const { id } = await createLink(links, { ctx, input, terms });
      return `${PATH}/${id}?notice=created`;
    },
    again,
  });
}

/** A row of a cart that names no product is none. */
function tidy(fields: Fields): Fields {
  return closeUp(fields, "lines", ["productId"]);
}

function changing(room: Room, { links }: LinksDesk, again: Show): void {
  room.action({
    path: `${PATH}/:id/edit`,
    read: (c, fields) => ({
      ...parseFields(PaymentLinkChange, withEmpty(fields, Object.keys(clearing)), {
        ...readers,
        ...clearing,
      }),
      ...pathOf(c.req.param("id")),
    }),
    async act(ctx, { expiresAt, ...input }) {
      const { id } = input;
      const before = await readLink(links, { ctx, input: { id } });
      // An end that is past already stays as it is while the rest is changed.
      const isSame = sameInstant(expiresAt, before.expiresAt);
      await changeLink(links, { ctx, input: isSame ? input : { ...input, expiresAt } });
      return `${PATH}/${id}?notice=changed`;
    },
    again,
  });
}

function sameInstant(one: string | null | undefined, other: string | null): boolean {
  if (typeof one !== "string" || other === null) return one === other;
  return new Date(one).getTime() === new Date(other).getTime();
}

function switching(room: Room, { links }: LinksDesk, again: Show): void {
  const verbs = {
    list: (ctx, id) => setListed(links, { ctx, input: { id, listed: true } }),
    unlist: (ctx, id) => setListed(links, { ctx, input: { id, listed: false } }),
    disable: (ctx, id) => setDisabled(links, { ctx, input: { id, disabled: true } }),
    enable: (ctx, id) => setDisabled(links, { ctx, input: { id, disabled: false } }),
  } satisfies Record<string, (ctx: Parameters<typeof setListed>[1]["ctx"], id: string) => Promise<unknown>>;
  for (const [word, verb] of Object.entries(verbs))
    room.action({
      path: `${PATH}/:id/${word}`,
      read: (c) => pathOf(c.req.param("id")),
      async act(ctx, { id }) {
        await verb(ctx, id);
        return `${PATH}/${id}?notice=${word}`;
      },
      again,
    });
}
