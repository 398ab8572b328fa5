/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Product } from "../../catalog/schema.ts";
import { Listing } from "../view/listing.tsx";
import { Way } from "../view/needs.tsx";
import { Amount, Badge, Empty, Time } from "../view/shown.tsx";
import type { Column } from "../view/table.tsx";
import type { Asked } from "../view/tabs.tsx";

const PATH = "/dashboard/products";
const tabs = [
  ["All", {}],
  ["For sale", { active: "true" }],
  ["Archived", { active: "false" }],
] as const;

interface ProductsProps {
  readonly asked: Asked;
  readonly rows: readonly Product[];
  readonly next: string | null;
}

export function ProductsPage(list: ProductsProps) {
  return (
    <Listing
      title="Products"
      about="What you sell, with a price for each currency. Carts, links and invoices take their prices from here."
      path={PATH}
      tabs={tabs}
      find="SKU"
      columns={columns}
      first={<FirstProduct />}
      {...list}
    >
      <New />
    </Listing>
  );
}

const columns: readonly Column<Product>[] = [
  { name: "Product", isHead: true, show: ({ id, name }) => <a href={`${PATH}/${id}`}>{name}</a> },
  { name: "SKU", show: ({ sku }) => sku },
  { name: "State", show: (product) => <ProductBadge of={product} /> },
  { name: "Price", show: ({ prices }) => <Prices of={prices} /> },
  { name: "Created", isAmount: true, show: ({ createdAt }) => <Time at={createdAt} /> },
];

export function ProductBadge({ of: { active } }: { readonly of: Product }) {
  return active ? <Badge state="for sale" tone="good" /> : <Badge state="archived" tone="quiet" />;
}

function Prices({ of: prices }: { readonly of: Product["prices"] }) {
  return (
    <span>
      {prices.map((price, i) => (
        <>
          {i === 0 ? "" : " · "}
          <Amount of={price} />
        </>
      ))}
    </span>
  );
}

function New() {
  return (
    <Way to={`${PATH}/new`} permission="catalog:manage" isFirst={true}>
      New product
    </Way>
  );
}

function FirstProduct() {
  return (
    <Empty title="No products yet">
      <p class="muted">
        A product has a name and a price in each currency that you sell it in. It then goes into carts,
        payment links and invoices by its id, and costs what stands here.
      </p>
      <New />
    </Empty>
  );
}
