/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { ApiKey } from "../../merchant/schema.ts";
import { Card, Heading } from "../view/heading.tsx";
import { Notice } from "../view/notice.tsx";
import { Badge, Code, Facts, Time } from "../view/shown.tsx";
import { type Column, Table } from "../view/table.tsx";
import { useViewer } from "../view/visit.ts";

const PATH = "/dashboard/api-keys";
interface Keys {
  readonly rows: readonly ApiKey[];
  readonly next: string | null;
  readonly done: string | undefined;
  readonly now: Date;
}
const words = {
  created: "The key was made. It was shown once, in the answer to its form.",
  rotated: "The key was replaced. The new one was shown once, in the answer to its form.",
  revoked: "The key is revoked. Within five seconds nothing passes with it.",
};

export function KeysPage({ rows, next, done, now }: Keys) {
  return (
    <>
      <Heading
        title="API keys"
        about="What programs of yours call the API with. Each may do what it was given."
      >
        <a class="button" href={`${PATH}/new?kind=pk`}>
          New publishable key
        </a>
        <a class="button primary" href={`${PATH}/new`}>
          New secret key
        </a>
      </Heading>
      <Notice code={done} words={words} />
      <Table caption="Keys, newest first" columns={columnsAt(now)} rows={rows} next={next} />
    </>
  );
}

function columnsAt(now: Date): readonly Column<ApiKey>[] {
  return [
    { name: "Name", isHead: true, show: ({ id, name }) => <a href={`${PATH}/${id}`}>{name}</a> },
    { name: "Key", show: (key) => <KeyText of={key} /> },
    { name: "May", show: ({ kind, permissions }) => mayOf(kind, permissions.length) },
    { name: "State", show: (key) => <KeyBadge of={key} now={now} /> },
    {
      name: "Last used",
      isAmount: true,
      show: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : <span class="muted">never</span>),
    },
  ];
}

function KeyText({ of: { kind, keyId, last4 } }: { readonly of: ApiKey }) {
  return <code>{`${kind}_${keyId}…${last4}`}</code>;
}

function mayOf(kind: ApiKey["kind"], count: number): string {
  if (kind === "pk") return "be seen in pages";
  return count === 1 ? "1 permission" : `${count} permissions`;
}

function KeyBadge({ of: { revokedAt, expiresAt }, now }: { readonly of: ApiKey; readonly now: Date }) {
  const isPast = (at: string | null) => at !== null && new Date(at) <= now;
  if (isPast(revokedAt)) return <Badge state="revoked" tone="quiet" />;
  if (isPast(expiresAt)) return <Badge state="expired" tone="quiet" />;
  if (revokedAt !== null) return <Badge state="replaced" tone="warn" />;
  return <Badge state="good" tone="good" />;
}

export function KeyPage({ of, now }: { readonly of: ApiKey; readonly now: Date }) {
  const { keyId } = useViewer();
  const hasEnded = of.revokedAt !== null && new Date(of.revokedAt) <= now;
  return (
    <>
      <Heading
        title={
          <>
            {of.name} <KeyBadge of={of} now={now} />
          </>
        }
        about={of.keyId === keyId ? "The key that you are signed in with" : undefined}
        above={[PATH, "API keys"]}
      >
        {hasEnded ? null : (
          <>
            <a class="button" href={`${PATH}/${of.id}/rotate`}>
              Rotate
            </a>
            <a class="button grave" href={`${PATH}/${of.id}/revoke`}>
              Revoke
            </a>
          </>
        )}
      </Heading>
      <Card title="Key">
        <Facts
          of={[
            ["Key", <KeyText of={of} />],
            ["Id", <Code>{of.id}</Code>],
            ["Permissions", of.permissions.join(", ") || null],
            ["Origins", of.kind === "pk" ? (of.allowedOrigins?.join(", ") ?? "those of the settings") : null],
            ["Addresses", of.allowedIps?.join(", ") ?? "from everywhere"],
            ["Made by", of.createdBy ? <code>{of.createdBy}</code> : "the operator"],
            ["Made", <Time at={of.createdAt} />],
            ["Last used", of.lastUsedAt && <Time at={of.lastUsedAt} />],
            ["Expires", of.expiresAt && <Time at={of.expiresAt} />],
            [hasEnded ? "Revoked" : "Good until", of.revokedAt && <Time at={of.revokedAt} />],
          ]}
        />
      </Card>
    </>
  );
}
