/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Payout, PayoutAddress, PayoutState } from "../../payout/schema.ts";
import type { readBalances } from "../../payout/verbs.ts";
import { Card, Heading } from "../view/heading.tsx";
import { Notice } from "../view/notice.tsx";
import { Amount, Badge, Code, Empty, Time, type Tone } from "../view/shown.tsx";
import { type Column, Table } from "../view/table.tsx";
import { useViewer } from "../view/visit.ts";

type Balance = Awaited<ReturnType<typeof readBalances>>[number];
interface BalancesProps {
  /** Null for a key that may not see the books. */
  readonly balances: readonly Balance[] | null;
  /** Null for a key that may not pay out. */
  readonly book: {
    readonly payouts: readonly Payout[];
    readonly next: string | null;
    readonly addresses: readonly PayoutAddress[];
  } | null;
  readonly done: string | undefined;
}
const PATH = "/dashboard/balances";
const words = {
  added: "The address is in the book. A new one waits a while before it can be paid.",
  removed: "The address is out of the book. Payouts under way are not touched.",
};

export function BalancesPage({ balances, book, done }: BalancesProps) {
  return (
    <>
      <Heading title="Balances and payouts" about="What you hold in each asset, and money on its way to you.">
        {book && book.addresses.length > 0 ? (
          <a class="button primary" href={`${PATH}/payouts/new`}>
            Pay out
          </a>
        ) : null}
      </Heading>
      <Notice code={done} words={words} />
      {balances ? (
        <Balances rows={balances} />
      ) : (
        <Empty title="Balances are not shown to this key">
          <p class="muted">It lacks the permission ledger:read.</p>
        </Empty>
      )}
      {book ? (
        <>
          <Addresses rows={book.addresses} />
          <Payouts rows={book.payouts} next={book.next} />
        </>
      ) : (
        <Empty title="Payouts are not shown to this key">
          <p class="muted">It lacks the permission payouts:write.</p>
        </Empty>
      )}
    </>
  );
}

function Balances({ rows }: { readonly rows: readonly Balance[] }) {
  const { places } = useViewer();
  if (rows.length === 0)
    return (
      <Empty title="Nothing has come in yet">
        <p class="muted">Each payment that completes is credited here, by asset and chain.</p>
        {places.includes("resources") ? (
          <a class="button" href="/dashboard/resources/new">
            Register an endpoint to sell
          </a>
        ) : null}
      </Empty>
    );
  return <Table caption="Balances" columns={balanceColumns} rows={rows} />;
}

const balanceColumns: readonly Column<Balance>[] = [
  { name: "Asset", isHead: true, show: ({ asset, chain }) => `${asset} on ${chain}` },
  { name: "Available", isAmount: true, show: ({ available }) => <Amount of={available} /> },
  { name: "Pending", isAmount: true, show: ({ pending }) => <Amount of={pending} /> },
  { name: "Reserved", isAmount: true, show: ({ reserved }) => <Amount of={reserved} /> },
];

function Addresses({ rows }: { readonly rows: readonly PayoutAddress[] }) {
  const add = (
    <a class="button" href={`${PATH}/addresses/new`}>
      Add an address
    </a>
  );
  if (rows.length === 0)
    return (
      <Empty title="No payout address yet">
        <p class="muted">Payouts go to addresses of this book only. Add yours first.</p>
        {add}
      </Empty>
    );
  return (
    <Card title="Payout addresses">
      <Table caption="Payout addresses, newest first" columns={addressColumns} rows={rows} />
      <p class="after">{add}</p>
    </Card>
  );
}

const addressColumns: readonly Column<PayoutAddress>[] = [
  { name: "Address", isHead: true, show: ({ address }) => <Code>{address}</Code> },
  { name: "Chain", show: ({ chain }) => chain },
  { name: "Label", show: ({ label }) => label || <span class="muted">none</span> },
  { name: "Usable from", show: ({ usableFrom }) => <Time at={usableFrom} /> },
  {
    name: "Action",
    isAmount: true,
    show: ({ id, address }) => (
      <a href={`${PATH}/addresses/${id}/remove`} aria-label={`Remove ${address}`}>
        Remove
      </a>
    ),
  },
];

function Payouts({ rows, next }: { readonly rows: readonly Payout[]; readonly next: string | null }) {
  if (rows.length === 0) return null;
  return (
    <Card title="Payouts">
      <Table caption="Payouts, newest first" columns={payoutColumns} rows={rows} next={next} />
    </Card>
  );
}

const payoutColumns: readonly Column<Payout>[] = [
  {
    name: "Amount",
    isHead: true,
    show: ({ id, amount }) => (
      <a href={`${PATH}/payouts/${id}`}>
        <Amount of={amount} />
      </a>
    ),
  },
  { name: "State", show: ({ state }) => <PayoutBadge state={state} /> },
  { name: "To", show: ({ destination }) => <Code>{destination}</Code> },
  { name: "Chain", show: ({ chain }) => chain },
  { name: "Created", isAmount: true, show: ({ createdAt }) => <Time at={createdAt} /> },
];

const tones: Readonly<Record<PayoutState, Tone>> = {
  pending: "busy",
  processing: "busy",
  succeeded: "good",
  failed: "bad",
  cancelled: "quiet",
};

export function PayoutBadge({ state }: { readonly state: PayoutState }) {
  return <Badge state={state} tone={tones[state]} />;
}
