import { and, eq, isNotNull, isNull, lt, or, sql } from "drizzle-orm";
import type { Random } from "#kernel/clock";
import type { NewId } from "#kernel/id";
import { type Database, isAnyOf, outbox, type Tx, toArray } from "#store";
import type { DeliveryRow, EndpointRow } from "./present.ts";
import { pauseAfter, verdictOn } from "./schedule.ts";
import type { Outcome } from "./send.ts";
import { advance, type DisabledReason } from "./state.ts";
import { webhookEndpoint } from "./tables.ts";

type Sent = Pick<
  DeliveryRow,
  "merchantId" | "id" | "endpointId" | "version" | "state" | "tries" | "attempts"
>;
/** A delivery as it was read before the attempt, and what came of that. */
export interface Result {
  readonly delivery: Sent;
  readonly outcome: Outcome;
}
interface Recording {
  readonly db: Database;
  readonly newId: NewId;
  /** By the merchants' clock. */
  readonly now: () => Date;
  readonly random: Random;
}

const KEPT_ATTEMPTS = 20;
const SUCCESS_EVERY_MS = 60_000;

/** Writes down what came of attempts, and what follows for their endpoints, in one transaction. A delivery that was
 *  changed meanwhile, because somebody had it sent again, is left as it is. */
export async function record(recording: Recording, results: readonly Result[]): Promise<void> {
  const now = recording.now();
  await recording.db.tx(async (tx) => {
    const written = await writeDeliveries(tx, results, { now, chance: () => chanceOf(recording.random) });
    const standing = results.filter(({ delivery }) => written.has(delivery.id));
    const accepted = standing.filter(({ outcome }) => outcome.isAccepted);
    await noteSuccess(tx, accepted, now);
    const hasAccepted = new Set(accepted.map(({ delivery }) => delivery.endpointId));
    for (const failed of failuresOf(standing))
      if (failed.isGone || !hasAccepted.has(failed.id)) await noteFailures(tx, recording, failed);
  });
}

/** By endpoint, in the order of their ids: two that write must not wait for each other. */
function failuresOf(results: readonly Result[]): readonly Failed[] {
  const byEndpoint = new Map<string, Failed>();
  for (const { delivery, outcome } of results) {
    if (outcome.isAccepted) continue;
    const { merchantId, endpointId: id } = delivery;
    const { count = 0, isGone = false } = byEndpoint.get(id) ?? {};
    byEndpoint.set(id, { merchantId, id, count: count + 1, isGone: isGone || outcome.isGone });
  }
  return [...byEndpoint.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function chanceOf(random: Random): number {
  return Buffer.from(random.bytes(4)).readUInt32BE() / 0x1_0000_0000;
}

/** What a delivery becomes. Pure, but for the chance. */
function afterAttempt(
  { state, tries, attempts }: Pick<Sent, "state" | "tries" | "attempts">,
  outcome: Outcome,
  { now, chance }: { readonly now: Date; readonly chance: () => number },
) {
  const log = [...attempts, outcome.attempt].slice(-KEPT_ATTEMPTS);
  const done = { tries: tries + 1, attempts: log, response: outcome.response, dueAt: null };
  if (outcome.isAccepted) return { ...done, state: advance(state, "succeed") };
  const pause = outcome.isGone
    ? null
    : pauseAfter(done.tries, { chance: chance(), retryAfterMs: outcome.retryAfterMs });
  if (pause === null) return { ...done, state: advance(state, "give-up") };
  return { ...done, state: advance(state, "back-off"), dueAt: new Date(now.getTime() + pause) };
}

/** The ids of those that were written. Rows are taken in the order in which a replay takes them: two that change the same
 *  ones must not wait for each other. */
async function writeDeliveries(
  tx: Tx,
  results: readonly Result[],
  at: { readonly now: Date; readonly chance: () => number },
): Promise<ReadonlySet<string>> {
  const rows = results.map(({ delivery, outcome }) => ({
    delivery,
    after: afterAttempt(delivery, outcome, at),
  }));
  const of = <T extends string | number | null>(
    type: "text" | "int" | "timestamptz",
    read: (row: (typeof rows)[number]) => T,
  ) => toArray(rows.map(read), type);
  const { rows: written } = await tx.execute<{ id: string }>(sql`
    WITH came AS (
      SELECT * FROM unnest(${of("text", ({ delivery }) => delivery.merchantId)}, ${of("text", ({ delivery }) => delivery.id)},
        ${of("int", ({ delivery }) => delivery.version)}, ${of("text", ({ after }) => after.state)},
        ${of("int", ({ after }) => after.tries)}, ${of("text", ({ after }) => JSON.stringify(after.attempts))},
        ${of("text", ({ after }) => after.response)}, ${of("timestamptz", ({ after }) => after.dueAt?.toISOString() ?? null)})
        AS came(merchant_id, id, version, state, tries, attempts, response, due_at)
    ), locked AS (
      SELECT merchant_id, id FROM webhook_delivery JOIN came USING (merchant_id, id, version)
      ORDER BY merchant_id, endpoint_id, sequence FOR NO KEY UPDATE OF webhook_delivery
    )
    UPDATE webhook_delivery AS sent SET state = came.state, tries = came.tries, attempts = came.attempts::jsonb,
      response = came.response, due_at = came.due_at, version = sent.version + 1, updated_at = ${at.now.toISOString()}
    FROM came JOIN locked USING (merchant_id, id)
    WHERE sent.merchant_id = came.merchant_id AND sent.id = came.id
    RETURNING sent.id`);
  return new Set(written.map(({ id }) => id));
}

/** Failures are forgotten. Not written at each success: hundreds come in a second. */
async function noteSuccess(tx: Tx, accepted: readonly Result[], now: Date): Promise<void> {
  if (accepted.length === 0) return;
  const { merchantId, id, failingSince, lastSuccessAt } = webhookEndpoint;
  const old = new Date(now.getTime() - SUCCESS_EVERY_MS);
  const merchants = [...new Set(accepted.map(({ delivery }) => delivery.merchantId))];
  const ids = [...new Set(accepted.map(({ delivery }) => delivery.endpointId))];
  await tx
    .update(webhookEndpoint)
    .set({ failingSince: null, failures: 0, warnedDays: 0, lastSuccessAt: now })
    .where(
      and(
        isAnyOf(merchantId, merchants),
        isAnyOf(id, ids),
        or(isNotNull(failingSince), isNull(lastSuccessAt), lt(lastSuccessAt, old)),
      ),
    );
}

interface Failed {
  readonly merchantId: string;
  readonly id: EndpointRow["id"];
  readonly count: number;
  readonly isGone: boolean;
}

/** An endpoint that failed for days is disabled, and its merchant is told before; one that says it is gone, at once. */
async function noteFailures(
  tx: Tx,
  { newId, now }: Recording,
  { merchantId, id, count, isGone }: Failed,
): Promise<void> {
  const isIt = and(eq(webhookEndpoint.merchantId, merchantId), eq(webhookEndpoint.id, id));
  const [row] = await tx.select().from(webhookEndpoint).where(isIt).for("no key update");
  if (!row?.enabled || row.deletedAt) return;
  const at = now();
  const failing = { failingSince: row.failingSince ?? at, failures: row.failures + count };
  const { isOver, warnDays } = verdictOn({ ...failing, warnedDays: row.warnedDays }, at);
  const reason: DisabledReason | null = isGone ? "gone" : isOver ? "failing" : null;
  await tx
    .update(webhookEndpoint)
    .set({
      ...failing,
      ...(warnDays !== null && { warnedDays: warnDays }),
      ...(reason !== null && { enabled: false, disabledReason: reason, disabledAt: at, updatedAt: at }),
    })
    .where(isIt);
  const about = { id: newId("evt"), subject: id, merchantId };
  const said = { url: row.url, failingSince: failing.failingSince.toISOString(), failures: failing.failures };
  if (reason !== null)
    await outbox.append(tx, [{ ...about, type: "webhook_endpoint.disabled", payload: { ...said, reason } }]);
  else if (warnDays !== null)
    await outbox.append(tx, [
      { ...about, type: "webhook_endpoint.failing", payload: { ...said, days: warnDays } },
    ]);
}
