/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import { readPage, shownPage } from "../../http/page.ts";
import { type AuditEntry, listAudit } from "../../merchant/verbs/audit.ts";
import type { Section } from "../section.ts";
import { Heading } from "../view/heading.tsx";
import { Code, Time } from "../view/shown.tsx";
import { type Column, Table } from "../view/table.tsx";

const PAGE = 50;

/** What was done with the merchant's keys, here and over the API. */
export function auditLogSection(): Section {
  return {
    place: "audit-log",
    furnish(room) {
      room.page("/dashboard/audit-log", async ({ c, ctx }) => {
        const page = readPage(c, { limit: PAGE, cursor: c.req.query("cursor") }, {});
        const { rows, next } = shownPage(c, page, await listAudit({ ctx, input: page }), {});
        const about = "Everything that was changed, by the key that did it. Nothing is ever taken out.";
        return {
          title: "Audit log",
          body: (
            <>
              <Heading title="Audit log" about={about} />
              <Table caption="What was done, newest first" columns={columns} rows={rows} next={next} />
            </>
          ),
        };
      });
    },
  };
}

const columns: readonly Column<AuditEntry>[] = [
  { name: "Action", isHead: true, show: ({ action }) => <code>{action}</code> },
  { name: "On", show: ({ subject }) => (subject === "" ? null : <Code>{subject}</Code>) },
  {
    name: "By key",
    show: ({ actor }) => (actor === null ? "the operator" : <code class="short">{actor}</code>),
  },
  { name: "When", isAmount: true, show: ({ occurredAt }) => <Time at={occurredAt.toISOString()} /> },
];
