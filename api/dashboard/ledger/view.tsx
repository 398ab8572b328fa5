/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { z } from "@hono/zod-openapi";
import type { LedgerEntry } from "../../payout/schema.ts";
import { Days } from "../view/days.tsx";
import { Heading } from "../view/heading.tsx";
import { ObjectLink } from "../view/object.tsx";
import { Empty, Time, Words } from "../view/shown.tsx";
import { type Column, Table } from "../view/table.tsx";

type Entry = z.infer<typeof LedgerEntry>;
export interface LedgerFilter {
  readonly subject?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}
interface LedgerProps {
  readonly filter: LedgerFilter;
  readonly rows: readonly Entry[];
  readonly next: string | null;
}
const PATH = "/dashboard/ledger";

export function LedgerPage({ filter, rows, next }: LedgerProps) {
  const isNarrowed = Object.values(filter).some((value) => value !== undefined);
  return (
    <>
      <Heading
        title="Ledger"
        about="Your side of the books: every transfer that touched an account of yours."
      >
        {rows.length > 0 ? (
          <a class="button" href={`${PATH}/entries.csv${queryOf(filter)}`} download>
            Download CSV
          </a>
        ) : null}
      </Heading>
      <LedgerSearch of={filter} />
      {rows.length > 0 ? (
        <Table caption="Ledger entries, newest first" columns={columns} rows={rows} next={next} />
      ) : (
        <Empty title={isNarrowed ? "No entry is like this" : "The books are empty"}>
          <p class="muted">
            {isNarrowed ? (
              <>
                Take something out of the filter, or look at <a href={PATH}>all entries</a>.
              </>
            ) : (
              <>
                The first payment that is credited makes the first entry. See{" "}
                <a href="/dashboard/payments">how to ask for one</a>.
              </>
            )}
          </p>
        </Empty>
      )}
    </>
  );
}

function LedgerSearch({ of }: { readonly of: LedgerFilter }) {
  return (
    <search>
      <form class="filter" method="get" action={PATH}>
        <div class="field">
          <label for="subject">About</label>
          <input
            id="subject"
            name="subject"
            type="search"
            maxlength={40}
            value={of.subject ?? ""}
            placeholder="stl_…, clr_…, re_… or po_…"
          />
        </div>
        <Days from={of.from} to={of.to} />
        <button type="submit">Filter</button>
      </form>
    </search>
  );
}

const columns: readonly Column<Entry>[] = [
  {
    name: "Entry",
    isHead: true,
    show: ({ id, code }) => <span title={id}>{code.replaceAll("-", " ")}</span>,
  },
  { name: "Transfers", show: ({ transfers }) => <Transfers of={transfers} /> },
  { name: "About", show: ({ subject }) => subject && <ObjectLink id={subject} /> },
  { name: "Block", isAmount: true, show: ({ blockNumber }) => blockNumber ?? "" },
  { name: "Posted", isAmount: true, show: ({ postedAt }) => <Time at={postedAt} /> },
];

function Transfers({ of }: { readonly of: Entry["transfers"] }) {
  return (
    <ul class="transfers">
      {of.map(({ debit, credit, amount, asset, phase }) => (
        <li>
          <span class="money">
            {amount.amount} {asset}
          </span>{" "}
          <span class="muted">{phase}</span>
          <p class="paths">
            <Account path={debit} /> → <Account path={credit} />
          </p>
        </li>
      ))}
    </ul>
  );
}

function Account({ path }: { readonly path: string }) {
  return (
    <code>
      <Words of={path} />
    </code>
  );
}

function queryOf(filter: LedgerFilter): string {
  const given = Object.entries(filter).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
