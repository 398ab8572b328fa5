import { and, getTableColumns, inArray, isNull, ne, or, type SQL } from "drizzle-orm";
import { type Executor, fixed, isAnyOf } from "#store";
import { asHeld, type FoundPayable, fromRow } from "./row.ts";
import { payable } from "./tables.ts";
import { payableUrl } from "./url.ts";

export type PayableTarget =
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "url"; readonly url: string };

/** What a target is found by, however its URL was written; null for a URL that nothing is found by. */
export function payableKey(target: PayableTarget): string | null {
  return target.by === "id" ? target.id : payableUrl(target.url);
}

/** The payables that many callers asked for, in one query, in the order of `targets`; null for what is not there. A
 *  closed one is found too, since its open claims end on their own terms; save a resource by URL, whose URL may have
 *  another owner by now. */
export async function findPayables(
  db: Executor,
  targets: readonly PayableTarget[],
): Promise<readonly (FoundPayable | null)[]> {
  const keys = targets.map(payableKey);
  const ids = distinct(keys.filter((_, i) => targets[i]?.by === "id"));
  const urls = distinct(keys.filter((_, i) => targets[i]?.by === "url"));
  const wanted = wantedRows(ids, urls);
  if (!wanted) return targets.map(() => null);
  const found = await asHeldElsewhere(db, (await db.select().from(payable).where(wanted)).map(fromRow));
  const byId = new Map(found.map((item) => [item.id, item]));
  const byUrl = new Map(found.filter(ownsItsUrl).map((item) => [item.url, item]));
  return targets.map((target, i) => (target.by === "id" ? byId : byUrl).get(keys[i] ?? "") ?? null);
}

function wantedRows(ids: string[], urls: string[]): SQL | undefined {
  const byId = ids.length > 0 ? isAnyOf(payable.id, ids) : undefined;
  const isOwner = or(isNull(payable.closedAt), fixed(ne(payable.kind, "resource")));
  const byUrl = urls.length > 0 ? and(isAnyOf(payable.url, urls), isOwner) : undefined;
  return or(byId, byUrl);
}

/** An agent URL holds the payable's own id; a resource's URL is its merchant's to register anew. */
function ownsItsUrl({ kind, closedAt }: FoundPayable): boolean {
  return closedAt === null || kind !== "resource";
}

function distinct(keys: readonly (string | null)[]): string[] {
  return [...new Set(keys.filter((key) => key !== null))];
}

/** What is a way to pay something else is held with it, whichever way its payment goes, and is closed with it. */
async function asHeldElsewhere(
  db: Executor,
  found: readonly FoundPayable[],
): Promise<readonly FoundPayable[]> {
  const elsewhere = found.flatMap(({ heldAs }) => heldAs ?? []);
  if (elsewhere.length === 0) return found;
  const rows = await db.select(holdColumns).from(payable).where(inArray(payable.id, elsewhere));
  const holds = new Map(rows.map((row) => [row.id, asHeld(row)]));
  return found.map((item) => {
    const hold = holds.get(item.heldAs ?? "");
    if (!hold) return item;
    const closed = item.closedAt ? {} : { closedAt: hold.closedAt, closedAs: hold.closedAs };
    return { ...item, ...closed, heldBy: item.heldBy ?? hold.heldBy };
  });
}

const { id, heldBy, heldFor, closedAt, closedAs, updatedAt } = getTableColumns(payable);
const holdColumns = { id, heldBy, heldFor, closedAt, closedAs, updatedAt };
