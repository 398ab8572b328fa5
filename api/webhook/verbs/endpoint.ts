import { and, desc, eq, isNull } from "drizzle-orm";
import { isId } from "#kernel/id";
import { type Executor, outbox, type Tx } from "#store";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { merchant } from "../../merchant/tables.ts";
import { PING } from "../events.ts";
import { mustBeKnown } from "../pattern.ts";
import { type EndpointRow, presentEndpoint } from "../present.ts";
import type {
  IssuedWebhookEndpoint,
  SecretRotation,
  TestSent,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointInput,
  WebhookEndpointPath,
} from "../schema.ts";
import type { Seal } from "../seal.ts";
import { replacedIn } from "../secrets.ts";
import { webhookEndpoint } from "../tables.ts";
import { webhookUrl } from "../url.ts";

/** What looking after endpoints needs besides a request. */
export interface Post {
  readonly seal: Seal;
  readonly allowLocalTargets: boolean;
  /** Every type that an endpoint can listen to; `allTypes` are those that a merchant can be told of. */
  readonly types: readonly string[];
  readonly allTypes: readonly string[];
}

const MOST = 16;

/** The merchant's endpoints, newest first. */
export async function listEndpoints({ ctx }: Call<unknown>): Promise<readonly WebhookEndpoint[]> {
  ctx.demand("webhooks:manage");
  const rows = await ctx.db.pool
    .select()
    .from(webhookEndpoint)
    .where(and(eq(webhookEndpoint.merchantId, ctx.merchantId), isNull(webhookEndpoint.deletedAt)))
    .orderBy(desc(webhookEndpoint.id));
  return rows.map(presentEndpoint);
}

/** Fault: `not_found`. */
export async function readEndpoint({ ctx, input }: Call<WebhookEndpointPath>): Promise<WebhookEndpoint> {
  ctx.demand("webhooks:manage");
  return presentEndpoint(await findEndpoint(ctx.db.pool, ctx, input.id));
}

/** A new endpoint with its secret, which is shown now and never again. Faults: `url_not_allowed`, `validation_failed`,
 *  `webhook_endpoint_limit`. */
export async function createEndpoint(
  post: Post,
  { ctx, input }: Call<WebhookEndpointInput & { readonly apiVersion: string }>,
): Promise<IssuedWebhookEndpoint> {
  ctx.demand("webhooks:manage");
  const { description, apiVersion } = input;
  const url = webhookUrl(input.url, post);
  const events = patternsOf(input.events, post);
  const [id, secret] = [ctx.newId("whe"), post.seal.make()];
  const now = ctx.now();
  return ctx.tx(async (tx) => {
    await makeRoom(tx, ctx);
    const [row] = await tx
      .insert(webhookEndpoint)
      .values({
        ...{ merchantId: ctx.merchantId, id, url, events, description, apiVersion },
        ...standing(input.enabled, now),
        secret: post.seal.close(secret, id),
        createdAt: now,
        updatedAt: now,
      })
      .returning();
    if (!row) throw new Error("an endpoint that was just made is not there");
    return { ...presentEndpoint(row), secret };
  });
}

/** Each once; what is wrong is named by the place that it has in what was sent. Fault: `validation_failed`. */
function patternsOf(sent: readonly string[], { types }: Post): string[] {
  mustBeKnown(sent, types, "/events");
  return [...new Set(sent)];
}

/** Two that are made at once wait for each other: their merchant's row is held. */
async function makeRoom(tx: Tx, { merchantId }: MerchantCtx): Promise<void> {
  await tx.select({ id: merchant.id }).from(merchant).where(eq(merchant.id, merchantId)).for("no key update");
  const there = await tx.$count(
    webhookEndpoint,
    and(eq(webhookEndpoint.merchantId, merchantId), isNull(webhookEndpoint.deletedAt)),
  );
  if (there >= MOST) throw fault("webhook_endpoint_limit", { most: MOST });
}

/** As it was asked for; what was learnt of an endpoint that is enabled anew is forgotten. */
function standing(enabled: boolean, now: Date) {
  return enabled
    ? { enabled, disabledReason: null, disabledAt: null, failingSince: null, failures: 0, warnedDays: 0 }
    : { enabled, disabledReason: "requested" as const, disabledAt: now };
}

/** Changes what is named. Enabled anew, what waits is sent at its times. Faults: `not_found`, `url_not_allowed`,
 *  `validation_failed`. */
export async function changeEndpoint(
  post: Post,
  { ctx, input }: Call<WebhookEndpointPath & WebhookEndpointChange>,
): Promise<WebhookEndpoint> {
  ctx.demand("webhooks:manage");
  const { id, url, events, description, enabled } = input;
  const now = ctx.now();
  const named = {
    ...(url !== undefined && { url: webhookUrl(url, post) }),
    ...(events !== undefined && { events: patternsOf(events, post) }),
    ...(description !== undefined && { description }),
  };
  return ctx.tx(async (tx) => {
    const row = await lockEndpoint(tx, ctx, id);
    const turned = enabled !== undefined && enabled !== row.enabled ? standing(enabled, now) : {};
    return presentEndpoint(await update(tx, row, { ...named, ...turned, updatedAt: now }));
  });
}

/** Nothing is sent there any more; what was queued is dropped with its log. Fault: `not_found`. */
export async function deleteEndpoint({ ctx, input }: Call<WebhookEndpointPath>): Promise<void> {
  ctx.demand("webhooks:manage");
  const now = ctx.now();
  await ctx.tx(async (tx) => {
    const row = await lockEndpoint(tx, ctx, input.id);
    const gone = { deletedAt: now, updatedAt: now, secret: "0x" as const };
    await update(tx, row, { ...gone, ...noneBefore });
  });
}

const noneBefore = { previousSecret: null, previousUntil: null, olderSecrets: [] };
/** Of secrets that sign once more; the header that carries their signatures stays short. */
const MOST_OLDER = 14;

/** A new secret; the old one signs as well for `graceSeconds`, and those before it until the end that each was given. Without
 *  a grace the new one signs alone at once. Fault: `not_found`. */
export async function rotateSecret(
  { seal }: Post,
  { ctx, input }: Call<WebhookEndpointPath & SecretRotation>,
): Promise<IssuedWebhookEndpoint> {
  ctx.demand("webhooks:manage");
  const { id, graceSeconds } = input;
  const secret = seal.make();
  const now = ctx.now();
  return ctx.tx(async (tx) => {
    const row = await lockEndpoint(tx, ctx, id);
    const old =
      graceSeconds === 0
        ? noneBefore
        : {
            previousSecret: row.secret,
            previousUntil: new Date(now.getTime() + graceSeconds * 1_000),
            olderSecrets: replacedIn(row, now).slice(0, MOST_OLDER),
          };
    const rotated = await update(tx, row, { ...old, secret: seal.close(secret, row.id), updatedAt: now });
    return { ...presentEndpoint(rotated), secret };
  });
}

/** Has a `ping` sent there, on the way that every event takes. Faults: `not_found`, `webhook_endpoint_disabled`. */
export async function testEndpoint({ ctx, input }: Call<WebhookEndpointPath>): Promise<TestSent> {
  ctx.demand("webhooks:manage");
  const eventId = ctx.newId("evt");
  await ctx.tx(async (tx) => {
    const row = await findEndpoint(tx, ctx, input.id);
    mustBeEnabled(row);
    const about = { subject: row.id, merchantId: row.merchantId };
    await outbox.append(tx, [{ ...about, id: eventId, type: PING, payload: { previous: null } }]);
  });
  return { eventId };
}

/** Fault: `webhook_endpoint_disabled`. */
export function mustBeEnabled({ enabled }: EndpointRow): void {
  if (!enabled) throw fault("webhook_endpoint_disabled");
}

type Named = Pick<EndpointRow, "merchantId"> & { readonly id: string };
const isIt = ({ merchantId, id }: Named) =>
  and(
    eq(webhookEndpoint.merchantId, merchantId),
    eq(webhookEndpoint.id, id as EndpointRow["id"]),
    isNull(webhookEndpoint.deletedAt),
  );

/** Fault: `not_found`, also for another merchant's. */
export async function findEndpoint(
  db: Executor,
  { merchantId }: Pick<MerchantCtx, "merchantId">,
  id: string,
): Promise<EndpointRow> {
  const [row] = isId("whe", id)
    ? await db.select().from(webhookEndpoint).where(isIt({ merchantId, id }))
    : [];
  if (!row) throw fault("not_found");
  return row;
}

async function lockEndpoint(tx: Tx, { merchantId }: MerchantCtx, id: string): Promise<EndpointRow> {
  const [row] = isId("whe", id)
    ? await tx.select().from(webhookEndpoint).where(isIt({ merchantId, id })).for("no key update")
    : [];
  if (!row) throw fault("not_found");
  return row;
}

async function update(tx: Tx, row: EndpointRow, changes: Partial<EndpointRow>): Promise<EndpointRow> {
  const [changed] = await tx.update(webhookEndpoint).set(changes).where(isIt(row)).returning();
  if (!changed) throw new Error("an endpoint that is held is not there");
  return changed;
}
