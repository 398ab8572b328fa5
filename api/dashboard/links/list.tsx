/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { PaymentLink } from "../../payment-link/schema.ts";
import { Listing } from "../view/listing.tsx";
import { Way } from "../view/needs.tsx";
import { Amount, Badge, Empty, Time } from "../view/shown.tsx";
import type { Column } from "../view/table.tsx";
import type { Asked } from "../view/tabs.tsx";

const PATH = "/dashboard/links";
const tabs = [
  ["All", {}],
  ["Payable", { payable: "true" }],
  ["Not payable", { payable: "false" }],
  ["In the index", { listed: "true" }],
  ["Fixed", { kind: "fixed" }],
  ["Cart", { kind: "cart" }],
  ["Open", { kind: "open" }],
] as const;

interface LinksProps {
  readonly asked: Asked;
  readonly rows: readonly PaymentLink[];
  readonly next: string | null;
  readonly now: Date;
}

export function LinksPage({ now, ...list }: LinksProps) {
  return (
    <Listing
      title="Links"
      about="One URL that a person opens and pays, and that an agent pays as well."
      path={PATH}
      tabs={tabs}
      columns={columnsAt(now)}
      first={<FirstLink />}
      {...list}
    >
      <New />
    </Listing>
  );
}

function columnsAt(now: Date): readonly Column<PaymentLink>[] {
  return [
    {
      name: "Link",
      isHead: true,
      show: ({ id, title }) => <a href={`${PATH}/${id}`}>{title ?? "Untitled"}</a>,
    },
    { name: "Asks for", show: (link) => <Asks of={link} /> },
    { name: "State", show: (link) => <LinkBadge of={link} now={now} /> },
    {
      name: "For agents",
      // What has no price of its own is no entry.
      show: ({ listed, kind }) => (listed && kind !== "open" ? "in the index" : "by its URL"),
    },
    { name: "Created", isAmount: true, show: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}

/** What a payer is asked for. */
export function Asks({ of: { kind, amount, currency, minAmount, maxAmount } }: { readonly of: PaymentLink }) {
  if (amount) return <Amount of={amount} />;
  if (kind === "cart") return <span class="muted">a cart without a price</span>;
  return (
    <span>
      {minAmount ? <Amount of={minAmount} /> : null}
      {minAmount ? " or more" : maxAmount ? "" : `any amount of ${currency}`}
      {minAmount && maxAmount ? ", " : ""}
      {maxAmount ? "up to " : ""}
      {maxAmount ? <Amount of={maxAmount} /> : null}
    </span>
  );
}

/** Whether it can be paid, or why not. */
export function LinkBadge({ of, now }: { readonly of: PaymentLink; readonly now: Date }) {
  if (of.payable) return <Badge state="payable" tone="good" />;
  if (of.disabledAt !== null) return <Badge state="disabled" tone="quiet" />;
  const isOver = of.expiresAt !== null && new Date(of.expiresAt) <= now;
  return isOver ? <Badge state="expired" tone="quiet" /> : <Badge state="not payable" tone="warn" />;
}

function New() {
  return (
    <Way to={`${PATH}/new`} permission="links:manage" isFirst={true}>
      New link
    </Way>
  );
}

function FirstLink() {
  return (
    <Empty title="No links yet">
      <p class="muted">
        Make a link, then send its URL to who is to pay. People see a page with a button; an agent that asks
        the same URL for JSON is told what to pay and how.
      </p>
      <New />
    </Empty>
  );
}
