/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { agentUrl } from "#facilitator";
import type { ProductRow } from "../../catalog/verbs/find.ts";
import type { PaymentLink } from "../../payment-link/schema.ts";
import { columns as paymentColumns } from "../payments/list.tsx";
import type { ListedPayment } from "../payments/listed.ts";
import { Form } from "../view/form.tsx";
import { Card, Heading } from "../view/heading.tsx";
import { Needs, Way } from "../view/needs.tsx";
import { Notice } from "../view/notice.tsx";
import { Amount, Code, Facts, Time } from "../view/shown.tsx";
import { Table } from "../view/table.tsx";
import { Asks, LinkBadge } from "./list.tsx";

/** What they are for is the page itself. */
const paymentsOfIt = paymentColumns.filter(({ name }) => name !== "For");
const PATH = "/dashboard/links";
const notices = {
  created: "The link is made. Send its URL to who is to pay.",
  changed: "The link is saved.",
  list: "The link is shown in the public index while it can be paid.",
  unlist: "The link is out of the public index. Who holds its URL can still pay it.",
  disable: "The link takes no payments any more.",
  enable: "The link takes payments again.",
};

interface LinkProps {
  readonly link: PaymentLink;
  /** Null for a key that may not see payments. */
  readonly payments: { readonly rows: readonly ListedPayment[]; readonly next: string | null } | null;
  /** Those of its cart, by id. */
  readonly products: ReadonlyMap<string, ProductRow>;
  readonly now: Date;
  readonly baseUrl: string;
  readonly notice: string | undefined;
}

export function LinkPage({ link, payments, products, now, baseUrl, notice }: LinkProps) {
  const at = `${PATH}/${link.id}`;
  return (
    <>
      <Heading
        above={[PATH, "Links"]}
        title={
          <>
            {link.title ?? "Payment link"} <LinkBadge of={link} now={now} />
          </>
        }
        about={<Code>{link.id}</Code>}
      >
        <a class="button" href={link.url}>
          Open its page
        </a>
        <Way to={`${at}/edit`} permission="links:manage">
          Edit
        </Way>
      </Heading>
      <Notice code={notice} words={notices} />
      <div class="columns">
        <div>
          <Card title="Where it is paid">
            <Facts of={addressesOf(link, baseUrl)} />
          </Card>
          {link.kind === "cart" ? <CartCard link={link} products={products} /> : null}
          <PaymentsCard payments={payments} />
        </div>
        <div>
          <Card title="Link">
            <Facts of={factsOf(link)} />
          </Card>
          <Card title="What you can do">
            <Needs permission="links:manage">
              <Switches link={link} at={at} />
            </Needs>
          </Card>
        </div>
      </div>
    </>
  );
}

function addressesOf(link: PaymentLink, baseUrl: string) {
  return [
    ["For people", <Code>{link.url}</Code>],
    ["For agents", <Code>{agentUrl(baseUrl, link.id)}</Code>],
    ["Agents find it", link.listed ? "in the public index, while it can be paid" : "only by its URL"],
  ] as const;
}

function factsOf(link: PaymentLink) {
  return [
    ["Asks for", <Asks of={link} />],
    ["Kind", link.kind],
    ["Payments", link.maxPayments === null ? "any number" : `at most ${link.maxPayments}`],
    ["Until", link.expiresAt && <Time at={link.expiresAt} />],
    ["Disabled", link.disabledAt && <Time at={link.disabledAt} />],
    ["Reference", link.merchantReference],
    ["Returns to", link.returnUrl],
    ["Created", <Time at={link.createdAt} />],
    ["Changed", <Time at={link.updatedAt} />],
    ...Object.entries(link.metadata),
  ] as const;
}

function CartCard({ link, products }: Pick<LinkProps, "link" | "products">) {
  return (
    <Card title="Cart">
      <Table
        caption="Products of the cart"
        rows={link.lines}
        columns={[
          {
            name: "Product",
            isHead: true,
            show: ({ productId }) => (
              <a href={`/dashboard/products/${productId}`}>{products.get(productId)?.name ?? productId}</a>
            ),
          },
          { name: "Quantity", isAmount: true, show: ({ quantity }) => String(quantity) },
        ]}
      />
      {link.amount ? (
        <p class="muted">
          It comes to <Amount of={link.amount} /> now.
        </p>
      ) : (
        <p class="muted">
          A product of it is archived or has no price in {link.currency}, so it cannot be paid.
        </p>
      )}
    </Card>
  );
}

function PaymentsCard({ payments }: Pick<LinkProps, "payments">) {
  return (
    <Card title="Payments of it">
      <Needs permission="payments:read">
        {payments && payments.rows.length > 0 ? (
          <Table caption="Payments of the link, newest first" columns={paymentsOfIt} {...payments} />
        ) : (
          <p class="muted">Nobody has begun to pay it yet.</p>
        )}
      </Needs>
    </Card>
  );
}

function Switches({ link, at }: { readonly link: PaymentLink; readonly at: string }) {
  const [listing, taking] = [
    link.listed ? (["unlist", "Take out of the index"] as const) : (["list", "List in the index"] as const),
    link.disabledAt === null ? (["disable", "Disable"] as const) : (["enable", "Enable"] as const),
  ];
  return (
    <div class="actions">
      {[listing, taking].map(([word, name]) => (
        <Form action={`${at}/${word}`} submit={name} isPlain={true} />
      ))}
    </div>
  );
}
