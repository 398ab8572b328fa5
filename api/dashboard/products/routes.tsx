/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import { ProductFilter, ProductPath } from "../../catalog/schema.ts";
import { listProducts, readProduct } from "../../catalog/verbs/find.ts";
import { readPage, shownPage } from "../../http/page.ts";
import { askedOf, parseQuery, pathAs } from "../form.ts";
import type { Show } from "../room.tsx";
import type { Section } from "../section.ts";
import { furnishActs } from "./acts.ts";
import { ProductPage } from "./detail.tsx";
import { ProductFormPage } from "./form.tsx";
import { ProductsPage } from "./list.tsx";

export function productsSection(): Section {
  return {
    place: "products",
    furnish(room) {
      room.page("/dashboard/products", list);
      room.page("/dashboard/products/new", create);
      room.page("/dashboard/products/:id", product);
      room.page("/dashboard/products/:id/edit", edit);
      furnishActs(room, { create, product, edit });
    },
  };
}

const PAGE = 25;

const list: Show = async ({ c, ctx }) => {
  const { find, ...asked } = askedOf(c, ["active", "find"]);
  const filter = parseQuery(ProductFilter, { ...asked, ...(find === undefined ? {} : { sku: find }) });
  const page = readPage(c, { limit: PAGE, cursor: c.req.query("cursor") }, filter);
  const found = await listProducts({ ctx, input: { ...page, ...filter } });
  const { rows, next } = shownPage(c, page, found, filter);
  return {
    title: "Products",
    body: <ProductsPage asked={find === undefined ? asked : { ...asked, find }} rows={rows} next={next} />,
  };
};

const create: Show = async () => ({ title: "New product", body: <ProductFormPage /> });

const product: Show = async ({ c, ctx }) => {
  const found = await readProduct({ ctx, input: pathOf(c) });
  return { title: found.name, body: <ProductPage product={found} notice={c.req.query("notice")} /> };
};

const edit: Show = async ({ c, ctx }) => {
  const found = await readProduct({ ctx, input: pathOf(c) });
  return { title: `Edit ${found.name}`, body: <ProductFormPage product={found} /> };
};

function pathOf(c: Context) {
  return pathAs(ProductPath, c.req.param("id"));
}
