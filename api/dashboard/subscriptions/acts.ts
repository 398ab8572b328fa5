import type { Context } from "hono";
import {
  CancelInput,
  PauseInput,
  SubscriptionChange,
  SubscriptionInput,
  SubscriptionPath,
} from "../../subscription/schema.ts";
import { cancelSubscription, editSubscription } from "../../subscription/verbs/change.ts";
import { checkCycle, createSubscription } from "../../subscription/verbs/create.ts";
import { pauseSubscription, resumeSubscription } from "../../subscription/verbs/pause.ts";
import { parseFields, pathAs } from "../form.ts";
import type { Room, Show } from "../room.tsx";
import { toFlag, toInstant, toNumber, withEmpty } from "../rows.ts";
import type { Desk } from "../section.ts";

export type SubscriptionsDesk = Pick<Desk, "invoices">;
interface Shows {
  readonly create: Show;
  readonly subscription: Show;
  readonly edit: Show;
  readonly cancel: Show;
}

const PATH = "/dashboard/subscriptions";
const pathOf = (c: Context) => pathAs(SubscriptionPath, c.req.param("id"));
const readers = {
  intervalCount: toNumber,
  anchorAt: toInstant,
  daysUntilDue: toNumber,
  maxCycles: toNumber,
  sendEmail: toFlag,
  voidOpenInvoices: toFlag,
  version: toNumber,
};

/** What the forms of subscriptions do. */
export function furnishActs(room: Room, desk: SubscriptionsDesk, shows: Shows): void {
  creating(room, desk, shows.create);
  editing(room, desk, shows.edit);
  pausing(room, desk, shows.subscription);
  cancelling(room, desk, shows.cancel);
}

function creating(room: Room, { invoices }: SubscriptionsDesk, again: Show): void {
  room.action({
    path: PATH,
    read: (_, fields) => parseFields(SubscriptionInput, withEmpty(fields, ["sendEmail"]), readers),
    beforehand: (_, { amount }) => checkCycle(invoices, amount),
    async act(ctx, input, money) {
      const { id } = await createSubscription(invoices, { ctx, input, money });
      return `${PATH}/${id}?notice=created`;
    },
    again,
  });
}

function editing(room: Room, { invoices }: SubscriptionsDesk, again: Show): void {
  room.action({
    path: `${PATH}/:id/edit`,
    read: (c, fields) => ({ ...parseFields(SubscriptionChange, fields, readers), ...pathOf(c) }),
    beforehand: async (_, { amount }) => (amount ? checkCycle(invoices, amount) : null),
    async act(ctx, input, money) {
      await editSubscription(invoices, { ctx, input, money });
      return `${PATH}/${input.id}?notice=changed`;
    },
    again,
  });
}

function pausing(room: Room, { invoices }: SubscriptionsDesk, again: Show): void {
  room.action({
    path: `${PATH}/:id/pause`,
    read: (c, fields) => ({ ...parseFields(PauseInput, fields), ...pathOf(c) }),
    async act(ctx, input) {
      await pauseSubscription(invoices, { ctx, input });
      return `${PATH}/${input.id}?notice=paused`;
    },
    again,
  });
  room.action({
    path: `${PATH}/:id/resume`,
    read: pathOf,
    async act(ctx, input) {
      await resumeSubscription(invoices, { ctx, input });
      return `${PATH}/${input.id}?notice=resumed`;
    },
    again,
  });
}

function cancelling(room: Room, { invoices }: SubscriptionsDesk, again: Show): void {
  room.action({
    path: `${PATH}/:id/cancel`,
    read: (c, fields) => ({ ...parseFields(CancelInput, fields, readers), ...pathOf(c) }),
    async act(ctx, input) {
      const { cancelAt } = await cancelSubscription(invoices, { ctx, input });
      return `${PATH}/${input.id}?notice=${cancelAt === null ? "cancelled" : "ends"}`;
    },
    again,
  });
}
