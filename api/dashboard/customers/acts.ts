import { CustomerChange, CustomerInput, CustomerPath } from "../../customer/schema.ts";
import { changeCustomer, createCustomer } from "../../customer/verbs.ts";
import { parseFields, pathAs } from "../form.ts";
import type { Room, Show } from "../room.tsx";
import { orNull, withEmpty } from "../rows.ts";

const PATH = "/dashboard/customers";
const readers = { taxId: orNull(), address: orNull() };

/** What the forms of customers do. */
export function furnishActs(room: Room, shows: { readonly create: Show; readonly edit: Show }): void {
  room.action({
    path: PATH,
    read: (_, fields) => parseFields(CustomerInput, fields),
    async act(ctx, input) {
      const { id } = await createCustomer({ ctx, input });
      return `${PATH}/${id}?notice=created`;
    },
    again: shows.create,
  });
  room.action({
    path: `${PATH}/:id/edit`,
    read: (c, fields) => ({
      ...parseFields(CustomerChange, withEmpty(fields, Object.keys(readers)), readers),
      ...pathAs(CustomerPath, c.req.param("id")),
    }),
    async act(ctx, input) {
      await changeCustomer({ ctx, input });
      return `${PATH}/${input.id}?notice=changed`;
    },
    again: shows.edit,
  });
}
