import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Assessment, Facilitator, ListingWarning } from "#facilitator";
import type { Clock } from "#kernel/clock";
import { errorFields, type Log } from "#kernel/log";
import { type Database, fixed, type Tx } from "#store";
import type { SafeFetch } from "../http/safe-fetch.ts";
import { merchant } from "../merchant/tables.ts";
import type { MerchantRow } from "../merchant/verbs/merchant.ts";
import { takenRails } from "../merchant/verbs/rails.ts";
import { spendProbe } from "./allowance.ts";
import type { Finding, Probed } from "./finding.ts";
import { priceOf, type ResourceRow } from "./present.ts";
import { optionsOf, probeEndpoint } from "./probe.ts";
import { resource, resourceProbe, verifiedHost } from "./tables.ts";
import { hostNames } from "./well-known.ts";

/** What looking after listed endpoints needs. */
export interface Prober {
  readonly db: Database;
  readonly facilitator: Pick<Facilitator, "rails" | "assess">;
  readonly safeFetch: SafeFetch;
  readonly clock: Clock;
  readonly log: Log;
}
type ProbeRow = typeof resourceProbe.$inferSelect;
type Key = Pick<ProbeRow, "merchantId" | "resourceId">;

const AT_ONCE = 8;
const A_RUN = 400;
/** A probe that is taken in hand and never ends is due again after this. */
const IN_HAND = "10 minutes";
const GOOD_AGAIN = "6 hours";
const LONGEST = "24 hours";
const NOT_SOLD_SECONDS = 600;
const JUST_NOW_MS = 20_000;
const TRUSTED_MS = 24 * 3_600_000;
const DOUBTED_MS = 600_000;

/** Probes what is due, the longest overdue first, until nothing is left or the run has done its share. */
export async function probeDue(prober: Prober, stopping: AbortSignal): Promise<void> {
  for (let done = 0; done < A_RUN && !stopping.aborted; done += AT_ONCE) {
    const due = await takeDue(prober.db);
    await Promise.all(
      due.map((key) =>
        probeListed(prober, key, stopping).catch((error) =>
          prober.log.warn(
            { resourceId: key.resourceId, ...errorFields(error) },
            "a probe failed; it is made later",
          ),
        ),
      ),
    );
    if (due.length < AT_ONCE) return;
  }
}

async function takeDue(db: Database): Promise<readonly Key[]> {
  const { rows } = await db.pool.execute<{ merchant_id: string; resource_id: string }>(sql`
    UPDATE ${resourceProbe} SET next_at = now() + ${IN_HAND}::interval WHERE (merchant_id, resource_id) IN
      (SELECT merchant_id, resource_id FROM ${resourceProbe} WHERE next_at <= now() ORDER BY next_at LIMIT ${AT_ONCE}
       FOR UPDATE SKIP LOCKED)
    RETURNING merchant_id, resource_id`);
  return rows.map((row) => ({ merchantId: row.merchant_id, resourceId: row.resource_id }));
}

/** Probes a listed resource and writes down what was found. What was changed meanwhile is probed anew, not judged by an
 *  answer to the old terms. */
export async function probeListed(prober: Prober, key: Key, stopping: AbortSignal): Promise<void> {
  const found = await find(prober, key);
  if (!found || isFresh(found, prober.clock.now())) return;
  const { row, seller, last } = found;
  const options = optionsOf(priceOf(row), row.rails, takenRails(seller, prober.facilitator.rails()));
  // That nothing is taken for it just now, by us or by its merchant, says nothing about the endpoint.
  if (options.length === 0) return postpone(prober.db, key, NOT_SOLD_SECONDS);
  const seconds = await spendProbe(prober.db, row.url);
  if (seconds !== null) return postpone(prober.db, key, seconds);
  const hostVerified = await verifyHost(prober, row, stopping);
  const probed = await probeEndpoint(
    prober.safeFetch,
    { ...row, options },
    { isOwnHost: async () => hostVerified === true, stopping },
  );
  // An answer that we cut off ourselves says nothing about the endpoint.
  if (stopping.aborted) throw new Error("stopped");
  const { firstSeen, warning, findings } = compareWithFirst(last, probed);
  const ok = probed.ok && warning === null;
  const at = prober.clock.now();
  await prober.db.tx(async (tx) => {
    const isCurrent = await record(tx, row, {
      ...key,
      failures: ok ? 0 : Math.min(last.failures + 1, 16),
      at,
      status: probed.status,
      ok,
      findings,
      firstSeen,
    });
    if (!isCurrent) return;
    const assessment: Assessment = {
      probe: { at, status: probed.status, ok },
      ...(hostVerified === null ? {} : { hostVerified }),
      ...(warning === null ? {} : { warning }),
    };
    await prober.facilitator.assess(tx, row.id, assessment);
  });
}

interface Listed {
  readonly row: ResourceRow;
  readonly seller: MerchantRow;
  readonly last: ProbeRow;
}

async function find({ db }: Prober, { merchantId, resourceId }: Key): Promise<Listed | undefined> {
  const [found] = await db.pool
    .select({ row: resource, seller: merchant, last: resourceProbe })
    .from(resource)
    .innerJoin(merchant, eq(merchant.id, resource.merchantId))
    .innerJoin(
      resourceProbe,
      and(eq(resourceProbe.merchantId, resource.merchantId), eq(resourceProbe.resourceId, resource.id)),
    )
    .where(
      and(
        eq(resource.merchantId, merchantId),
        inArray(resource.id, [resourceId as ResourceRow["id"]]),
        fixed(eq(resource.listed, true)),
        isNull(resource.archivedAt),
      ),
    );
  return found;
}

/** Two facts about one change, told one after the other, need one probe. */
function isFresh({ row, last }: Listed, now: Date): boolean {
  return last.at !== null && last.at > row.updatedAt && now.getTime() - last.at.getTime() < JUST_NOW_MS;
}

async function postpone(db: Database, { merchantId, resourceId }: Key, seconds: number): Promise<void> {
  await db.pool
    .update(resourceProbe)
    .set({ nextAt: sql`now() + (${seconds} + 30 * random()) * interval '1 second'` })
    .where(and(eq(resourceProbe.merchantId, merchantId), eq(resourceProbe.resourceId, resourceId)));
}

/** What an endpoint says of itself may not change behind the reader's back: a new target or schema, or a payee that is
 *  not ours, is a warning until the merchant registers anew. Source: agents.md §6.4. */
function compareWithFirst(last: ProbeRow, { challenge, findings }: Probed) {
  const seen = challenge?.url ? { url: challenge.url, schema: challenge.schema } : null;
  const firstSeen = last.firstSeen ?? seen;
  const changes: (Finding & { readonly warning: ListingWarning })[] = [];
  if (seen && firstSeen && seen.url !== firstSeen.url)
    changes.push({
      warning: "target-changed",
      code: "probe_target_changed",
      detail: "The 402 names another resource than when it was registered. Register the change.",
    });
  if (seen && firstSeen && seen.schema !== firstSeen.schema)
    changes.push({
      warning: "schema-changed",
      code: "probe_schema_changed",
      detail: "The input schema in the 402 is another than when it was registered. Register the change.",
    });
  const isForeignPayee = findings.some(({ code }) => code === "probe_pay_to_mismatch");
  return {
    firstSeen,
    warning: isForeignPayee ? ("pay-to-not-ours" as const) : (changes[0]?.warning ?? null),
    findings: [...findings, ...changes.map(({ code, detail }) => ({ code, detail }))],
  };
}

/** False when the terms changed since they were read: another probe is due already. */
async function record(
  tx: Tx,
  { merchantId, id, updatedAt }: ResourceRow,
  { failures, ok, ...found }: Omit<ProbeRow, "nextAt">,
): Promise<boolean> {
  const [current] = await tx
    .select({ id: resource.id })
    .from(resource)
    .where(
      and(
        eq(resource.merchantId, merchantId),
        eq(resource.id, id),
        eq(resource.updatedAt, updatedAt),
        fixed(eq(resource.listed, true)),
      ),
    )
    .for("update");
  if (!current) return false;
  const pause = ok
    ? sql`${GOOD_AGAIN}::interval`
    : sql`least(${LONGEST}::interval, ${2 ** (failures - 1)} * interval '1 hour')`;
  await tx
    .update(resourceProbe)
    .set({ ...found, failures, ok, nextAt: sql`now() + (0.75 + 0.5 * random()) * ${pause}` })
    .where(and(eq(resourceProbe.merchantId, merchantId), eq(resourceProbe.resourceId, id)));
  return true;
}

/** Null when it is not known now; then what was known before stays. */
async function verifyHost(
  { db, safeFetch, clock }: Prober,
  { merchantId, url }: ResourceRow,
  stopping: AbortSignal,
): Promise<boolean | null> {
  const { host } = new URL(url);
  const [known] = await db.pool
    .select()
    .from(verifiedHost)
    .where(and(eq(verifiedHost.merchantId, merchantId), eq(verifiedHost.host, host)));
  const age = known ? clock.now().getTime() - known.checkedAt.getTime() : Number.POSITIVE_INFINITY;
  if (known && age < (known.verified ? TRUSTED_MS : DOUBTED_MS)) return known.verified;
  const verified = await hostNames(safeFetch, url, merchantId, stopping);
  if (verified === null || stopping.aborted) return null;
  const row = { merchantId, host, verified, checkedAt: clock.now() };
  await db.pool
    .insert(verifiedHost)
    .values(row)
    .onConflictDoUpdate({ target: [verifiedHost.merchantId, verifiedHost.host], set: row });
  return verified;
}

/** Says when a resource is probed next: at once while it is listed, never while it is not. `isAnew`: what was seen
 *  there before its registration counts no longer. */
export async function scheduleProbe(
  tx: Tx,
  { merchantId, id, listed, archivedAt }: ResourceRow,
  { isAnew }: { readonly isAnew: boolean },
): Promise<void> {
  const nextAt = listed && archivedAt === null ? sql`now()` : null;
  await tx
    .insert(resourceProbe)
    .values({ merchantId, resourceId: id, nextAt, findings: [] })
    .onConflictDoUpdate({
      target: [resourceProbe.merchantId, resourceProbe.resourceId],
      set: { nextAt, ...(isAnew ? { firstSeen: null, failures: 0 } : {}) },
    });
}
