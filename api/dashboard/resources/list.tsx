/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Trust } from "#facilitator";
import type { Resource } from "../../resource/schema.ts";
import { Heading } from "../view/heading.tsx";
import { Amount, Badge, Empty, Time } from "../view/shown.tsx";
import { type Column, Table } from "../view/table.tsx";
import { useViewer } from "../view/visit.ts";

/** A resource with what is known of it beside its merchant's words. */
export interface KnownResource extends Resource {
  readonly trust: Trust;
}
const PATH = "/dashboard/resources";

export function ResourcesPage({
  rows,
  next,
}: {
  readonly rows: readonly KnownResource[];
  readonly next: string | null;
}) {
  const { may } = useViewer();
  const register = (
    <a class="button primary" href={`${PATH}/new`}>
      Register an endpoint
    </a>
  );
  return (
    <>
      <Heading title="x402 resources" about="Endpoints that agents pay for, request by request.">
        {rows.length > 0 && may("x402:manage") ? register : null}
      </Heading>
      {rows.length > 0 ? (
        <Table caption="Resources, newest first" columns={columns} rows={rows} next={next} />
      ) : (
        <Empty title="Nothing is for sale yet">
          <p class="muted">
            Name a URL of yours and a price. Your server answers unpaid requests with 402, and Farebox takes
            the payments.
          </p>
          {may("x402:manage") ? register : null}
        </Empty>
      )}
    </>
  );
}

const columns: readonly Column<KnownResource>[] = [
  { name: "Endpoint", isHead: true, show: ({ id, url }) => <a href={`${PATH}/${id}`}>{url}</a> },
  { name: "Price", show: ({ price }) => <Amount of={price} /> },
  { name: "Discovery", show: ({ listed }) => <ListedBadge listed={listed} /> },
  { name: "Last probe", show: ({ trust }) => <ProbeBadge of={trust} /> },
  { name: "Paid", isAmount: true, show: ({ trust }) => timesOf(trust.settledCount) },
  { name: "Registered", isAmount: true, show: ({ createdAt }) => <Time at={createdAt} /> },
];

export function ListedBadge({ listed }: { readonly listed: boolean }) {
  return <Badge state={listed ? "listed" : "unlisted"} tone={listed ? "good" : "quiet"} />;
}

export function ProbeBadge({ of: { lastProbe, warning } }: { readonly of: Trust }) {
  if (warning !== null) return <Badge state={warning} tone="bad" />;
  if (lastProbe === null) return <span class="muted">not yet</span>;
  return <Badge state={lastProbe.ok ? "answers well" : "problem"} tone={lastProbe.ok ? "good" : "warn"} />;
}

export function timesOf(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
