/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Product } from "../../catalog/schema.ts";
import type { PaymentLink } from "../../payment-link/schema.ts";
import type { LinkKind } from "../../payment-link/state.ts";
import { choicesOf } from "../products/options.ts";
import { clockOf } from "../rows.ts";
import { CurrencyChoice } from "../view/currency.tsx";
import { Choice, Field, Form, Group, useRows } from "../view/form.tsx";
import { Heading } from "../view/heading.tsx";
import { Needs } from "../view/needs.tsx";

const PATH = "/dashboard/links";
const kinds = {
  fixed: ["Fixed amount", "Every payer pays the same amount."],
  cart: ["Cart", "Payers pay what the products in it cost when they pay."],
  open: ["Open amount", "Payers say themselves how much they pay."],
} as const satisfies Record<LinkKind, readonly [name: string, about: string]>;

interface NewLinkProps {
  readonly kind: LinkKind;
  readonly products: readonly Product[];
  /** Of a cart: what is in it to begin with. */
  readonly product: string | undefined;
}

export function NewLinkPage({ kind, products, product }: NewLinkProps) {
  return (
    <>
      <Heading title="New payment link" above={[PATH, "Links"]} about={kinds[kind][1]} />
      <nav class="tabs" aria-label="Kinds of links">
        {Object.entries(kinds).map(([each, [name]]) => (
          <a href={`${PATH}/new?kind=${each}`} {...(each === kind ? { "aria-current": "page" } : {})}>
            {name}
          </a>
        ))}
      </nav>
      <div class="card narrow">
        <Needs permission="links:manage">
          <Form
            action={PATH}
            submit="Make the link"
            {...(kind === "cart" ? { more: ["lines", "More products"] as const } : {})}
          >
            <input type="hidden" name="kind" value={kind} />
            <Title />
            <Terms kind={kind} products={products} product={product} />
            <Bounds />
            <Field
              name="merchantReference"
              label="Reference"
              hint="Yours, kept with each payment."
              maxLength={128}
            />
            <Field
              name="returnUrl"
              label="Return to"
              type="url"
              hint="Where payers go afterwards: a page of one of your allowed origins."
              maxLength={2048}
            />
          </Form>
        </Needs>
      </div>
    </>
  );
}

/** What may still change of a link; what it asks for never does. */
export function EditLinkPage({ link }: { readonly link: PaymentLink }) {
  const at = `${PATH}/${link.id}`;
  return (
    <>
      <Heading
        title="Edit the payment link"
        above={[at, link.title ?? "Payment link"]}
        about="What it asks for stays as it is: make another link for another amount."
      />
      <div class="card narrow">
        <Needs permission="links:manage">
          <Form action={`${at}/edit`} submit="Save the link">
            <input type="hidden" name="version" value={link.version} />
            <Title value={link.title} />
            <Bounds link={link} />
          </Form>
        </Needs>
      </div>
    </>
  );
}

function Title({ value }: { readonly value?: string | null }) {
  return (
    <Field
      name="title"
      label="Title"
      value={value ?? ""}
      hint="What payers read above the amount."
      maxLength={140}
    />
  );
}

function Terms({ kind, products, product }: NewLinkProps) {
  if (kind === "cart") return <Cart products={products} product={product} />;
  if (kind === "open")
    return (
      <>
        <CurrencyChoice name="currency" label="Currency" />
        <div class="pair">
          <Field name="minAmount.amount" label="At least" inputmode="decimal" hint="Empty: any amount." />
          <Field name="maxAmount.amount" label="At most" inputmode="decimal" />
        </div>
      </>
    );
  return (
    <div class="pair">
      <Field name="amount.amount" label="Amount" inputmode="decimal" isRequired={true} />
      <CurrencyChoice name="amount.asset" label="Currency" />
    </div>
  );
}

function Cart({ products, product }: Pick<NewLinkProps, "products" | "product">) {
  const count = useRows("lines", { given: 0, spare: 3 });
  if (products.length === 0)
    return (
      <p class="warning">
        Your catalog is empty. <a href="/dashboard/products/new">Add a product</a> first.
      </p>
    );
  return (
    <>
      <CurrencyChoice name="currency" label="Currency" />
      <Group name="lines" legend="Products">
        <div class="rows-of-products">
          {Array.from({ length: count }, (_, i) => (
            <Group name={`lines.${i}`} legend={`Product ${i + 1}`} class="row">
              <Choice
                name={`lines.${i}.productId`}
                label="Product"
                options={choicesOf(products, "None")}
                value={i === 0 ? product : undefined}
              />
              <Field name={`lines.${i}.quantity`} label="Quantity" inputmode="numeric" valueOfNewRow="1" />
            </Group>
          ))}
        </div>
      </Group>
    </>
  );
}

function Bounds({ link }: { readonly link?: PaymentLink }) {
  return (
    <div class="pair">
      <Field
        name="expiresAt"
        label="Until (UTC)"
        type="datetime-local"
        value={clockOf(link?.expiresAt ?? null)}
        hint="Empty: for as long as it is enabled."
      />
      <Field
        name="maxPayments"
        label="Payments at most"
        inputmode="numeric"
        value={link?.maxPayments?.toString() ?? ""}
        hint="Empty: any number."
      />
    </div>
  );
}
