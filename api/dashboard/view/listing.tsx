/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import { Heading } from "./heading.tsx";
import { Empty } from "./shown.tsx";
import { type Column, Table } from "./table.tsx";
import { type Asked, Tabs } from "./tabs.tsx";

interface ListingProps<Row> {
  readonly title: string;
  readonly about: string;
  readonly path: string;
  readonly asked: Asked;
  /** Ways to narrow the list, each with what its address asks for; the first is all of it. */
  readonly tabs?: readonly (readonly [name: string, query: Asked])[];
  /** What can be found by text. */
  readonly find?: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly next: string | null;
  /** What stands here while there is nothing: the first step. */
  readonly first: Child;
  /** Links, at the right of the title. */
  readonly children?: Child;
}

/** A list of everything of a kind: what narrows it, its rows, and what to do while there are none. */
export function Listing<Row>({
  title,
  about,
  path,
  asked,
  tabs,
  find,
  columns,
  rows,
  ...rest
}: ListingProps<Row>) {
  const isNarrowed = Object.keys(asked).length > 0;
  return (
    <>
      <Heading title={title} about={about}>
        {rest.children}
      </Heading>
      {tabs ? <Tabs label={`Kinds of ${title.toLowerCase()}`} path={path} tabs={tabs} asked={asked} /> : null}
      {find ? <Find path={path} asked={asked} placeholder={find} /> : null}
      {rows.length > 0 ? (
        <Table caption={`${title}, newest first`} columns={columns} rows={rows} next={rest.next} />
      ) : isNarrowed ? (
        <Empty title="Nothing is like this">
          <p class="muted">
            Take something out of the filter, or <a href={path}>look at all of them</a>.
          </p>
        </Empty>
      ) : (
        rest.first
      )}
    </>
  );
}

interface NarrowingProps {
  readonly path: string;
  readonly asked: Asked;
}

function Find({
  path,
  asked: { find, ...kept },
  placeholder,
}: NarrowingProps & { readonly placeholder: string }) {
  return (
    <search>
      <form class="filter" method="get" action={path}>
        {Object.entries(kept).map(([name, value]) => (
          <input type="hidden" name={name} value={value ?? ""} />
        ))}
        <div class="field">
          <label for="find">Find</label>
          <input id="find" name="find" type="search" value={find ?? ""} placeholder={placeholder} />
        </div>
        <button type="submit">Find</button>
      </form>
    </search>
  );
}
