import { ProductChange, ProductInput, ProductPath } from "../../catalog/schema.ts";
import { changeProduct, createProduct } from "../../catalog/verbs/change.ts";
import { type Fields, parseFields, pathAs } from "../form.ts";
import type { Room, Show } from "../room.tsx";
import { closeUp, orNull, toNumber, withEmpty } from "../rows.ts";

const PATH = "/dashboard/products";
const pathOf = (id: string | undefined) => pathAs(ProductPath, id);
const readers = { version: toNumber, description: orNull() };
const tidy = (fields: Fields) => closeUp(fields, "prices", ["amount"]);

/** What the forms of products do. */
export function furnishActs(
  room: Room,
  shows: { readonly create: Show; readonly product: Show; readonly edit: Show },
): void {
  room.action({
    path: PATH,
    tidy,
    read: (_, fields) => parseFields(ProductInput, fields),
    async act(ctx, input) {
      const { id } = await createProduct({ ctx, input });
      return `${PATH}/${id}?notice=created`;
    },
    again: shows.create,
  });
  room.action({
    path: `${PATH}/:id/edit`,
    tidy,
    read: (c, fields) => ({
      ...parseFields(ProductChange, withEmpty(fields, ["description"]), readers),
      ...pathOf(c.req.param("id")),
    }),
    async act(ctx, input) {
      await changeProduct({ ctx, input });
      return `${PATH}/${input.id}?notice=changed`;
    },
    again: shows.edit,
  });
  for (const [word, active] of [
    ["archive", false],
    ["restore", true],
  ] as const)
    room.action({
      path: `${PATH}/:id/${word}`,
      read: (c) => pathOf(c.req.param("id")),
      async act(ctx, { id }) {
        await changeProduct({ ctx, input: { id, active } });
        return `${PATH}/${id}?notice=${word}`;
      },
      again: shows.product,
    });
}
