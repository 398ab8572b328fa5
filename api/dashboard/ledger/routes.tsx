/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Context } from "hono";
import type { MerchantCtx } from "../../http/context.ts";
import { readPage, shownPage } from "../../http/page.ts";
import { entriesCsv, presentEntry } from "../../payout/present.ts";
import { EntryQuery } from "../../payout/schema.ts";
import { readEntries } from "../../payout/verbs.ts";
import { instantsOf } from "../days.ts";
import { parseQuery } from "../form.ts";
import type { Show } from "../room.tsx";
import type { Section } from "../section.ts";
import { LedgerPage } from "./view.tsx";

const PATH = "/dashboard/ledger";
const PAGE = 25;
const CSV_PAGE = 500;

/** The merchant's side of the books. */
export function ledgerSection(): Section {
  return {
    place: "ledger",
    furnish(room) {
      room.page(PATH, list);
      room.page(`${PATH}/entries.csv`, download);
    },
  };
}

const list: Show = async ({ c, ctx }) => {
  const asked = asksFor(c);
  const filter = filterOf(c);
  const page = readPage(c, { limit: PAGE, cursor: c.req.query("cursor") }, asked);
  const found = await readEntries({ ctx, input: { ...filter, limit: page.limit + 1, after: page.after } });
  const { rows, next } = shownPage(c, page, found, asked);
  return { title: "Ledger", body: <LedgerPage filter={asked} rows={rows.map(presentEntry)} next={next} /> };
};

/** All that the filter names, in the columns of the API. */
const download: Show = async ({ c, ctx }) => {
  const filter = filterOf(c);
  const first = await csvPage(ctx, filter, null);
  return c.body(ReadableStream.from(csvOf(ctx, filter, first)).pipeThrough(new TextEncoderStream()), 200, {
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": 'attachment; filename="ledger.csv"',
  });
};

type Filter = ReturnType<typeof filterOf>;
const csvPage = (ctx: MerchantCtx, filter: Filter, after: string | null) =>
  readEntries({ ctx, input: { ...filter, limit: CSV_PAGE, after } });

/** Page by page: the books of years are not held in memory. */
async function* csvOf(ctx: MerchantCtx, filter: Filter, first: Awaited<ReturnType<typeof csvPage>>) {
  yield entriesCsv(first);
  for (let page = first; page.length === CSV_PAGE; ) {
    page = await csvPage(ctx, filter, page.at(-1)?.id ?? null);
    const lines = entriesCsv(page);
    yield lines.slice(lines.indexOf("\n") + 1);
  }
}

function asksFor(c: Context) {
  const given = (name: string) => c.req.query(name)?.trim() || undefined;
  return { subject: given("subject"), from: given("from"), to: given("to") };
}

/** Fault: `validation_failed`. */
function filterOf(c: Context) {
  const asked = asksFor(c);
  const { subject, from, to } = parseQuery(EntryQuery, { ...asked, ...instantsOf(asked) });
  return { subject, from: from ? new Date(from) : undefined, to: to ? new Date(to) : undefined };
}
