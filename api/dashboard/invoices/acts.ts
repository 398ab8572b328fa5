import type { Context } from "hono";
import type { MerchantCtx } from "../../http/context.ts";
import { InvoiceChange, InvoiceInput, InvoicePath } from "../../invoice/schema.ts";
import { deleteDraft, editInvoice, sendInvoice, setListed, writeOff } from "../../invoice/verbs/change.ts";
import { createInvoice } from "../../invoice/verbs/create.ts";
import { agentsPayments } from "../../invoice/verbs/intents.ts";
import { issueInvoice } from "../../invoice/verbs/issue.ts";
import { checkDraft, checkNew } from "../../invoice/verbs/limits.ts";
import { readInvoice } from "../../invoice/verbs/read.ts";
import { voidInvoice } from "../../invoice/verbs/void.ts";
import { type Fields, fieldOf, parseFields, pathAs } from "../form.ts";
import type { Room, Show } from "../room.tsx";
import { amountsIn, closeUp, orNull, toDayEnd, toFlag, toNumber, withEmpty } from "../rows.ts";
import type { Desk } from "../section.ts";
import type { Grave } from "./confirm.tsx";

export type InvoicesDesk = Pick<Desk, "clearing" | "invoices">;
interface Shows {
  readonly create: Show;
  readonly invoice: Show;
  readonly edit: Show;
  confirm(grave: Grave): Show;
}

const PATH = "/dashboard/invoices";
const pathOf = (c: Context) => pathAs(InvoicePath, c.req.param("id"));
const readers = {
  "lines.*.quantity": toNumber,
  daysUntilDue: toNumber,
  dueAt: toDayEnd,
  issue: toFlag,
  sendEmail: toFlag,
  version: toNumber,
};
/** What a form clears where it is left empty. */
const clearing = {
  notes: orNull(),
  "buyer.email": orNull(),
  "buyer.taxId": orNull(),
  "buyer.address": orNull(),
};

/** What the forms of invoices do. */
export function furnishActs(room: Room, desk: InvoicesDesk, shows: Shows): void {
  creating(room, desk, shows.create);
  editing(room, desk, shows.edit);
  switching(room, desk, shows.invoice);
  ending(room, desk, shows);
}

/** A row of lines that names nothing and costs nothing is none; prices are in the invoice's currency. */
function tidy(fields: Fields): Fields {
  return closeUp(fields, "lines", ["productId", "name", "unitPrice.amount"]);
}

function priced(fields: Fields): Fields {
  return amountsIn(fields, fieldOf(fields, "currency"));
}

function creating(room: Room, { invoices }: InvoicesDesk, again: Show): void {
  room.action({
    path: PATH,
    tidy,
    read: (_, fields) => parseFields(InvoiceInput, priced(fields), readers),
    beforehand: (ctx, input) => checkNew(invoices, { ctx, input }),
    async act(ctx, input) {
      const made = await createInvoice(invoices, { ctx, input });
      return `${PATH}/${made.id}?notice=${input.issue ? "issue" : "created"}`;
    },
    again,
  });
}

/** Of a draft everything, of what is issued what does not touch the money: a form each. */
function editing(room: Room, { invoices }: InvoicesDesk, again: Show): void {
  for (const [word, names] of [
    ["edit", [...Object.keys(clearing), "sendEmail"]],
    ["amend", Object.keys(clearing)],
  ] as const)
    room.action({
      path: `${PATH}/:id/${word}`,
      tidy,
      read: (c, fields) => ({
        ...parseFields(InvoiceChange, withEmpty(priced(fields), names), { ...readers, ...clearing }),
        ...pathOf(c),
      }),
      async act(ctx, { dueAt, ...input }) {
        const { id } = input;
        const before = await readInvoice(invoices, { ctx, input: { id } });
        // A day that is past already stays as it is while the rest is changed.
        const isSame = dueAt?.slice(0, 10) === before.dueAt?.slice(0, 10);
        await editInvoice(invoices, { ctx, input: isSame ? input : { ...input, dueAt } });
        return `${PATH}/${id}?notice=changed`;
      },
      again,
    });
}

function switching(room: Room, { invoices }: InvoicesDesk, again: Show): void {
  const verbs = {
    issue: (ctx, id) => issueInvoice(invoices, { ctx, input: { id } }),
    send: (ctx, id) => sendInvoice(invoices, { ctx, input: { id } }),
    list: (ctx, id) => setListed(invoices, { ctx, input: { id, listed: true } }),
    unlist: (ctx, id) => setListed(invoices, { ctx, input: { id, listed: false } }),
  } satisfies Record<string, (ctx: MerchantCtx, id: string) => Promise<unknown>>;
  for (const [word, verb] of Object.entries(verbs))
    room.action({
      path: `${PATH}/:id/${word}`,
      read: pathOf,
      async beforehand(ctx, input) {
        if (word === "issue") await checkDraft(invoices, { ctx, input });
      },
      async act(ctx, { id }) {
        await verb(ctx, id);
        return `${PATH}/${id}?notice=${word}`;
      },
      again,
    });
}

function ending(room: Room, { invoices }: InvoicesDesk, { confirm }: Shows): void {
  room.action({
    path: `${PATH}/:id/void`,
    read: pathOf,
    beforehand: ({ db, merchantId }, { id }) =>
      agentsPayments(invoices, db.pool, { merchantId, id: id as `inv_${string}` }),
    async act(ctx, input, payments) {
      await voidInvoice(invoices, { ctx, input, payments });
      return `${PATH}/${input.id}?notice=void`;
    },
    again: confirm("void"),
  });
  room.action({
    path: `${PATH}/:id/uncollectible`,
    read: pathOf,
    async act(ctx, input) {
      await writeOff(invoices, { ctx, input });
      return `${PATH}/${input.id}?notice=uncollectible`;
    },
    again: confirm("uncollectible"),
  });
  room.action({
    path: `${PATH}/:id/delete`,
    read: pathOf,
    async act(ctx, input) {
      await deleteDraft(invoices, { ctx, input });
      return PATH;
    },
    again: confirm("delete"),
  });
}
