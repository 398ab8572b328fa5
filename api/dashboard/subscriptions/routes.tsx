/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import { isId } from "#kernel/id";
import { readCustomer } from "../../customer/verbs.ts";
import { readPage, shownPage } from "../../http/page.ts";
import { SubscriptionFilter, SubscriptionPath } from "../../subscription/schema.ts";
import { listSubscriptions, readSubscription } from "../../subscription/verbs/read.ts";
import { askedOf, parseQuery, pathAs } from "../form.ts";
import type { Show } from "../room.tsx";
import type { Section } from "../section.ts";
import { furnishActs, type SubscriptionsDesk } from "./acts.ts";
import { CancelPage } from "./cancel.tsx";
import { SubscriptionPage } from "./detail.tsx";
import { EditSubscriptionPage, NewSubscriptionPage } from "./form.tsx";
import { SubscriptionsPage } from "./list.tsx";

const PATH = "/dashboard/subscriptions";

export function subscriptionsSection(desk: SubscriptionsDesk): Section {
  return {
    place: "subscriptions",
    furnish(room) {
      const shows = {
        create,
        subscription: subscriptionOf(desk),
        edit: editOf(desk),
        cancel: cancelOf(desk),
      };
      room.page(PATH, list);
      room.page(`${PATH}/new`, shows.create);
      room.page(`${PATH}/:id`, shows.subscription);
      room.page(`${PATH}/:id/edit`, shows.edit);
      room.page(`${PATH}/:id/cancel`, shows.cancel);
      furnishActs(room, desk, shows);
    },
  };
}

const PAGE = 25;

const list: Show = async ({ c, ctx }) => {
  const asked = askedOf(c, ["state", "find"]);
  const { find, ...shown } = asked;
  if (find !== undefined && isId("sub", find)) return c.redirect(`${PATH}/${find}`, 303);
  const filter = parseQuery(SubscriptionFilter, { ...shown, ...(find === undefined ? {} : { email: find }) });
  const page = readPage(c, { limit: PAGE, cursor: c.req.query("cursor") }, filter);
  const found = await listSubscriptions({ ctx, input: { ...page, ...filter } });
  const rows = shownPage(c, page, found, filter);
  return { title: "Subscriptions", body: <SubscriptionsPage asked={asked} {...rows} /> };
};

const create: Show = async ({ c, ctx }) => {
  const id = c.req.query("customer");
  const customer = id ? await readCustomer({ ctx, input: { id } }) : null;
  return { title: "New subscription", body: <NewSubscriptionPage customer={customer} /> };
};

function subscriptionOf({ invoices }: SubscriptionsDesk): Show {
  return async ({ c, ctx }) => {
    const found = await readSubscription(invoices, { ctx, input: pathOf(c) });
    const { description } = found.subscription;
    return { title: description, body: <SubscriptionPage {...found} notice={c.req.query("notice")} /> };
  };
}

function editOf({ invoices }: SubscriptionsDesk): Show {
  return async ({ c, ctx }) => {
    const { subscription } = await readSubscription(invoices, { ctx, input: pathOf(c) });
    return { title: "Edit the subscription", body: <EditSubscriptionPage subscription={subscription} /> };
  };
}

function cancelOf({ invoices }: SubscriptionsDesk): Show {
  return async ({ c, ctx }) => {
    const { subscription } = await readSubscription(invoices, { ctx, input: pathOf(c) });
    return { title: "Cancel this subscription?", body: <CancelPage subscription={subscription} /> };
  };
}

function pathOf(c: Context) {
  return pathAs(SubscriptionPath, c.req.param("id"));
}
