/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Quote, Trust } from "#facilitator";
import { checksum } from "#kernel/bytes";
import { presentAmount } from "../../http/money.ts";
import type { ProbedResource } from "../../resource/schema.ts";
import { presentRequired } from "../../x402/present.ts";
import { Act } from "../view/act.tsx";
import { Card, Heading } from "../view/heading.tsx";
import { Notice } from "../view/notice.tsx";
import { Json } from "../view/object.tsx";
import { Amount, Badge, Code, Facts, Time } from "../view/shown.tsx";
import { type Column, Table } from "../view/table.tsx";
import { useViewer } from "../view/visit.ts";
import { Findings } from "./findings.tsx";
import { ListedBadge, ProbeBadge, timesOf } from "./list.tsx";

export type Sale = Awaited<ReturnType<import("#facilitator").Facilitator["payments"]>>[number];
interface DetailProps {
  readonly of: ProbedResource;
  readonly quote: Quote | null;
  readonly trust: Trust;
  readonly sales: readonly Sale[];
  readonly baseUrl: string;
  readonly done: string | undefined;
}

const words = {
  registered: "Registered. It is on sale now.",
  changed: "Registered anew. Agents are quoted these terms from now on.",
  listed: "Listed: discovery readers see it now.",
  unlisted: "Unlisted: it can still be paid by who knows its URL.",
};

export function ResourcePage({ of, quote, trust, sales, baseUrl, done }: DetailProps) {
  const path = `/dashboard/resources/${of.id}`;
  return (
    <>
      <Heading
        title={of.url}
        about={
          <>
            <ListedBadge listed={of.listed} /> <Amount of={of.price} /> for a request
          </>
        }
        above={["/dashboard/resources", "x402 resources"]}
      >
        <Actions path={path} listed={of.listed} />
      </Heading>
      <Notice code={done} words={words} />
      <div class="columns">
        <div>
          <Card title="Connect your server">
            <Connect id={of.id} baseUrl={baseUrl} />
          </Card>
          <Card title="Settlements">
            <Sales rows={sales} baseUrl={baseUrl} />
          </Card>
          <Card title="Payment required">
            <p class="muted lead">What an unpaid request is answered: the 402 that your server sends.</p>
            {quote ? <Json of={presentRequired(quote)} /> : <p>No rail of it works right now.</p>}
          </Card>
        </div>
        <div>
          <Card title="Standing">
            <Standing trust={trust} />
          </Card>
          <Card title="Last probe">
            <LastProbe of={of} path={path} />
          </Card>
          <Card title="Terms">
            <Terms of={of} />
          </Card>
        </div>
      </div>
    </>
  );
}

function Actions({ path, listed }: { readonly path: string; readonly listed: boolean }) {
  const { may } = useViewer();
  if (!may("x402:manage")) return null;
  return (
    <>
      <Act action={`${path}/${listed ? "unlist" : "list"}`} name={listed ? "Unlist" : "List"} />
      <a class="button" href={`${path}/edit`}>
        Change
      </a>
      <a class="button grave" href={`${path}/archive`}>
        Archive
      </a>
    </>
  );
}

function Connect({ id, baseUrl }: { readonly id: string; readonly baseUrl: string }) {
  return (
    <>
      <p class="muted lead">
        Give this base URL to the x402 middleware of your server. It verifies and settles there, without a
        key.
      </p>
      <Facts
        of={[
          ["Facilitator", <Code>{`${baseUrl}/x402/resources/${id}`}</Code>],
          ["For all your endpoints", <Code>{`${baseUrl}/x402`}</Code>],
          ["For agents", <Code>{`${baseUrl}/x402/resources/${id}/payment-required`}</Code>],
        ]}
      />
    </>
  );
}

function Sales({ rows, baseUrl }: { readonly rows: readonly Sale[]; readonly baseUrl: string }) {
  if (rows.length === 0) return <p class="muted">Nobody has paid for it yet.</p>;
  const columns: readonly Column<Sale>[] = [
    {
      name: "Amount",
      isHead: true,
      show: ({ id, amount, asset }) => (
        <a href={`${baseUrl}/x402/settlements/${id}`}>
          <Amount of={presentAmount({ amount, asset })} />
        </a>
      ),
    },
    {
      name: "State",
      show: ({ state }) => <Badge state={state} tone={state === "final" ? "good" : "busy"} />,
    },
    { name: "Payer", show: ({ payer, chain }) => <Short text={checksum(payer)} after={` on ${chain}`} /> },
    {
      name: "Books",
      show: ({ id }) => <a href={`/dashboard/ledger?subject=${id}`}>entries</a>,
    },
    { name: "At", isAmount: true, show: ({ createdAt }) => <Time at={createdAt.toISOString()} /> },
  ];
  return <Table caption="The latest settlements" columns={columns} rows={rows} />;
}

/** Long text in little room; whole where it is pointed at or copied from the detail. */
function Short({ text, after }: { readonly text: string; readonly after: string }) {
  return (
    <span title={text}>
      <code>{`${text.slice(0, 6)}…${text.slice(-4)}`}</code>
      {after}
    </span>
  );
}

function Standing({ trust }: { readonly trust: Trust }) {
  return (
    <Facts
      of={[
        ["Endpoint", <ProbeBadge of={trust} />],
        ["Host", trust.hostVerified ? "names you as its merchant" : "has not named you as its merchant"],
        ["Paid", timesOf(trust.settledCount)],
        ["Payers", `${trust.distinctPayers} in the last 90 days`],
        ["Name", trust.isLookAlike ? "is drawn like that of a verified merchant" : null],
      ]}
    />
  );
}

function LastProbe({ of, path }: { readonly of: ProbedResource; readonly path: string }) {
  const { may } = useViewer();
  const { lastProbe } = of;
  return (
    <>
      {lastProbe ? (
        <>
          <Facts
            of={[
              ["At", <Time at={lastProbe.at} />],
              ["Answer", lastProbe.status === null ? "none" : String(lastProbe.status)],
            ]}
          />
          <Findings of={lastProbe.findings} />
        </>
      ) : (
        <p class="muted">{of.listed ? "The first one is under way." : "Only what is listed is probed."}</p>
      )}
      {may("x402:manage") ? <Act action={`${path}/try`} name="Ask it now" /> : null}
    </>
  );
}

function Terms({ of }: { readonly of: ProbedResource }) {
  return (
    <Facts
      of={[
        ["Id", <Code>{of.id}</Code>],
        ["Price", `${of.price.amount} ${of.price.asset}`],
        [
          "Rails",
          of.accepts.map(({ chain, asset }) => `${asset} on ${chain}`).join(", ") || "none works now",
        ],
        ["Description", of.description || null],
        ["Service", of.serviceName],
        ["Tags", of.tags.join(", ") || null],
        ["Media type", of.mimeType],
        ["Settled", of.paymentFlow === "upfront" ? "before the work" : "after the work"],
        ["Longest wait", `${of.maxTimeoutSeconds} seconds`],
        ["Registered", <Time at={of.createdAt} />],
        ["Changed", <Time at={of.updatedAt} />],
      ]}
    />
  );
}
