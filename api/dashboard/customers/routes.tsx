/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import { isId } from "#kernel/id";
import { CustomerFilter, CustomerPath } from "../../customer/schema.ts";
import { listCustomers, readCustomer } from "../../customer/verbs.ts";
import { readPage, shownPage } from "../../http/page.ts";
import { askedOf, parseQuery, pathAs } from "../form.ts";
import type { Show } from "../room.tsx";
import type { Section } from "../section.ts";
import { furnishActs } from "./acts.ts";
import { CustomerPage } from "./detail.tsx";
import { CustomerFormPage } from "./form.tsx";
import { type CustomersDesk, historyOf } from "./history.ts";
import { CustomersPage } from "./list.tsx";

export function customersSection(desk: CustomersDesk): Section {
  return {
    place: "customers",
    furnish(room) {
      room.page("/dashboard/customers", list);
      room.page("/dashboard/customers/new", create);
      room.page("/dashboard/customers/:id", customerOf(desk));
      room.page("/dashboard/customers/:id/edit", edit);
      furnishActs(room, { create, edit });
    },
  };
}

const PAGE = 25;

const list: Show = async ({ c, ctx }) => {
  const asked = askedOf(c, ["find"]);
  const { find } = asked;
  if (find !== undefined && isId("cus", find)) return c.redirect(`/dashboard/customers/${find}`, 303);
  const filter = parseQuery(CustomerFilter, find === undefined ? {} : { email: find });
  const page = readPage(c, { limit: PAGE, cursor: c.req.query("cursor") }, filter);
  const found = await listCustomers({ ctx, input: { ...page, ...filter } });
  return { title: "Customers", body: <CustomersPage asked={asked} {...shownPage(c, page, found, filter)} /> };
};

const create: Show = async () => ({ title: "New customer", body: <CustomerFormPage /> });

const edit: Show = async ({ c, ctx }) => {
  const customer = await readCustomer({ ctx, input: pathOf(c) });
  return { title: `Edit ${customer.name}`, body: <CustomerFormPage customer={customer} /> };
};

function customerOf(desk: CustomersDesk): Show {
  return async ({ c, ctx }) => {
    const customer = await readCustomer({ ctx, input: pathOf(c) });
    const history = await historyOf(desk, ctx, customer);
    return {
      title: customer.name,
      body: <CustomerPage customer={customer} history={history} notice={c.req.query("notice")} />,
    };
  };
}

function pathOf(c: Context) {
  return pathAs(CustomerPath, c.req.param("id"));
}
