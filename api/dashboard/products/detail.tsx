/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Product } from "../../catalog/schema.ts";
import { Form } from "../view/form.tsx";
import { Card, Heading } from "../view/heading.tsx";
import { Needs, Way } from "../view/needs.tsx";
import { Notice } from "../view/notice.tsx";
import { Amount, Code, Facts, Time } from "../view/shown.tsx";
import { Table } from "../view/table.tsx";
import { ProductBadge } from "./list.tsx";

const PATH = "/dashboard/products";
const notices = {
  created: "The product is in your catalog.",
  changed: "The product is saved. Links and carts ask for its new price from now on.",
  archive: "The product is archived: nobody can buy it now.",
  restore: "The product is for sale again.",
};

export function ProductPage({
  product,
  notice,
}: {
  readonly product: Product;
  readonly notice: string | undefined;
}) {
  const at = `${PATH}/${product.id}`;
  return (
    <>
      <Heading
        above={[PATH, "Products"]}
        title={
          <>
            {product.name} <ProductBadge of={product} />
          </>
        }
        about={<Code>{product.id}</Code>}
      >
        <Way to={`${at}/edit`} permission="catalog:manage">
          Edit
        </Way>
        <Way to={`/dashboard/links/new?kind=cart&product=${product.id}`} permission="links:manage">
          Payment link
        </Way>
      </Heading>
      <Notice code={notice} words={notices} />
      <div class="columns">
        <div>
          <Card title="Product">
            <Facts of={factsOf(product)} />
          </Card>
          <Card title="Prices">
            <Table
              caption="Prices of the product"
              rows={product.prices}
              columns={[
                { name: "Currency", isHead: true, show: ({ asset }) => asset },
                { name: "Amount", isAmount: true, show: (price) => <Amount of={price} /> },
              ]}
            />
          </Card>
        </div>
        <div>
          <Card title={product.active ? "Archive it" : "Sell it again"}>
            <Needs permission="catalog:manage">
              <p class="muted">
                {product.active
                  ? "It can no longer be bought, and links whose cart holds it cannot be paid. Invoices stay as they are. You can take it back."
                  : "It can be bought again, in new carts and by the links that hold it."}
              </p>
              <Form
                action={`${at}/${product.active ? "archive" : "restore"}`}
                submit={product.active ? "Archive" : "Restore"}
                isPlain={true}
              />
            </Needs>
          </Card>
        </div>
      </div>
    </>
  );
}

function factsOf({ sku, description, metadata, createdAt, updatedAt }: Product) {
  return [
    ["SKU", sku],
    ["Description", description && <span class="lines">{description}</span>],
    ["Created", <Time at={createdAt} />],
    ["Changed", <Time at={updatedAt} />],
    ...Object.entries(metadata),
  ] as const;
}
