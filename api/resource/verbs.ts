import { and, desc, eq, getTableColumns, isNull, lt, sql } from "drizzle-orm";
import { checkExtensions, type Facilitator } from "#facilitator";
import { Fault } from "#kernel/fault";
import { isId } from "#kernel/id";
import { errorFields } from "#kernel/log";
import { cleanText } from "#kernel/text";
import { type Database, type Executor, outbox, type Tx } from "#store";
import type { Call, MerchantCtx } from "../http/context.ts";
import { fault } from "../http/faults.ts";
import { parsePrice } from "../http/money.ts";
import type { Page } from "../http/page.ts";
import type { SafeFetch } from "../http/safe-fetch.ts";
import { findMerchant } from "../merchant/verbs/merchant.ts";
import { takenRails } from "../merchant/verbs/rails.ts";
import { spendProbe } from "./allowance.ts";
import { type Finding, type FindingCode, findingCodes } from "./finding.ts";
import { presentProbe, presentResource, type ResourceRow, toPayable } from "./present.ts";
import { optionsOf, probeEndpoint } from "./probe.ts";
import { scheduleProbe } from "./prober.ts";
import { chooseRails } from "./rails.ts";
import type {
  ProbedResource,
  RegisteredResource,
  Resource,
  ResourceInput,
  ResourcePath,
  ResourceTrial,
} from "./schema.ts";
import { findSquatter, type Squatter } from "./squatter.ts";
import { resource, resourceProbe } from "./tables.ts";
import { resourceUrl } from "./url.ts";
import { hostNames } from "./well-known.ts";

/** What selling to agents needs besides the request. */
export interface Shop {
  readonly facilitator: Pick<Facilitator, "rails" | "refusedRails" | "quote" | "project" | "assess">;
  readonly baseUrl: string;
  readonly allowLocalTargets: boolean;
  readonly safeFetch: SafeFetch;
}

/** What must be known of the outside before a registration. */
interface Known {
  readonly findings: readonly Finding[];
  readonly squatter: Squatter | null;
}
const nothingKnown: Known = { findings: [], squatter: null };

/** Registers an endpoint, or registers it anew: the URL identifies it. What is left out takes its default again, save
 *  `listed`, which stays. Who squats on the URL is archived by the same transaction: of two that race for one squatter,
 *  one archives it, and the other finds the URL held. Faults: `url_not_allowed`, `url_registered_elsewhere`, `too_many_decimals`,
 *  `currency_unsupported`, `amount_too_small`, `amount_too_large`, `rail_unsupported`, `token_domain_unreadable`,
 *  `rate_limited`. */
export async function registerResource(
  shop: Shop,
  { ctx, input, found = nothingKnown }: Call<ResourceInput> & { readonly found?: Known },
): Promise<{ readonly isNew: boolean; readonly resource: RegisteredResource }> {
  ctx.demand("x402:manage");
  const { facilitator } = shop;
  return ctx.tx(async (tx) => {
    const { url, price, rails, taken, kept, findings } = await readOffer(shop, tx, { ctx, input });
    const terms = {
      description: cleanText(input.description),
      mimeType: input.mimeType,
      priceAmount: price.amount,
      priceAsset: price.asset,
      rails,
      maxTimeoutSeconds: input.maxTimeoutSeconds,
      paymentFlow: input.paymentFlow,
      ...kept,
      updatedAt: ctx.now(),
    };
    if (found.squatter) await takeOffSale(tx, { ctx, facilitator, which: found.squatter });
    const { isNew, wasListed, ...row } = await upsert(tx, ctx, { url, terms, listed: input.listed });
    if (row.listed && !wasListed) await ctx.countListing();
    // What was held against the old terms is over; the new ones are probed anew.
    await facilitator.assess(tx, row.id, { warning: null });
    await scheduleProbe(tx, row, { isAnew: true });
    await publish(tx, { ctx, facilitator, row, fact: "x402.resource.registered" });
    const told = [...findings, ...found.findings];
    return { isNew, resource: { ...presentResource(row, taken), findings: told } };
  });
}

/** What a merchant asks to sell, once it has been found possible. */
async function readOffer(
  { facilitator, baseUrl, allowLocalTargets }: Shop,
  db: Executor,
  { ctx, input }: Call<ResourceInput>,
) {
  const url = resourceUrl(input.url, { baseUrl, allowLocalTargets });
  const price = parsePrice(input.price, "/price");
  const seller = await findMerchant(db, ctx.merchantId);
  const { taken, rails } = chooseRails(facilitator, seller, { price, asked: input.rails });
  return { url, price, rails, taken, ...checkExtensions({ ...input, bazaar: input.extensions?.bazaar }) };
}

/** Asks an endpoint as indexers do and tells what agents would meet there; nothing is stored. Faults: those of a
 *  registration, save that of a URL held elsewhere, and `rate_limited` for a domain that was asked too often. */
export async function tryResource(shop: Shop, { ctx, input }: Call<ResourceInput>): Promise<ResourceTrial> {
  ctx.demand("x402:manage");
  const { url, price, rails, taken, kept, findings } = await readOffer(shop, ctx.db.pool, { ctx, input });
  const retryAfterSeconds = await spendProbe(ctx.db, url);
  if (retryAfterSeconds !== null) throw fault("rate_limited", { retryAfterSeconds });
  const options = optionsOf(price, rails, taken);
  const probed = await probeEndpoint(
    shop.safeFetch,
    { url, extensions: kept.extensions, options },
    { isOwnHost: async () => (await hostNames(shop.safeFetch, url, ctx.merchantId)) === true },
  );
  const { ok, status } = probed;
  return { ok, status, at: ctx.now().toISOString(), findings: [...findings, ...probed.findings] };
}

/** Who squats on the URL of a registration, and what a probe finds where it asks for one. To be called outside a
 *  transaction. Faults: those of a registration, and `rate_limited` for a squatted URL whose domain was asked too
 *  often. */
export async function findBeforehand(shop: Shop, { ctx, input }: Call<ResourceInput>): Promise<Known> {
  ctx.demand("x402:manage");
  const { url } = await readOffer(shop, ctx.db.pool, { ctx, input });
  const squatter = await findSquatter(shop, ctx, url);
  return { squatter, findings: input.probe ? await probeBeforehand(shop, { ctx, input }) : [] };
}

/** Never a reason not to register: a probe that cannot be made is a finding. */
async function probeBeforehand(shop: Shop, { ctx, input }: Call<ResourceInput>): Promise<readonly Finding[]> {
  try {
    const { findings } = await tryResource(shop, { ctx, input });
    return findings.filter(isOfProbe);
  } catch (error) {
    if (!(error instanceof Fault)) ctx.log.warn(errorFields(error), "a probe on registration failed");
    const detail =
      "The endpoint could not be asked just now. Ask for a dry run later, or wait for the probe of a listing.";
    return [{ code: "probe_deferred", detail }];
  }
}

function isOfProbe(finding: { readonly code: string }): finding is Finding {
  return findingCodes.includes(finding.code as FindingCode);
}

type Terms = Omit<ResourceRow, "merchantId" | "id" | "url" | "listed" | "archivedAt" | "createdAt">;

async function upsert(
  tx: Tx,
  ctx: MerchantCtx,
  {
    url,
    terms,
    listed,
  }: { readonly url: string; readonly terms: Terms; readonly listed: boolean | undefined },
): Promise<ResourceRow & { readonly isNew: boolean; readonly wasListed: boolean }> {
  const [row] = await tx
    .insert(resource)
    .values({
      merchantId: ctx.merchantId,
      id: ctx.newId("x402r"),
      url,
      ...terms,
      listed: listed ?? false,
      createdAt: terms.updatedAt,
    })
    .onConflictDoUpdate({
      target: [resource.merchantId, resource.url],
      targetWhere: isNull(resource.archivedAt),
      set: listed === undefined ? terms : { ...terms, listed },
    })
    .returning({
      ...getTableColumns(resource),
      // xmax is 0 on a row version that no other replaced: the insert won.
      isNew: sql<boolean>`(xmax = 0)`,
      // What is read here is still what stood before this statement.
      wasListed: sql<boolean>`EXISTS (SELECT FROM ${resource} AS before WHERE before.merchant_id = ${ctx.merchantId}
        AND before.url = ${url} AND before.archived_at IS NULL AND before.listed)`,
    });
  if (!row) throw new Error("an upsert returned no row");
  return row;
}

/** Tells the facilitator what is for sale, and the world that it changed. */
async function publish(
  tx: Tx,
  {
    ctx,
    facilitator,
    row,
    fact,
  }: {
    readonly ctx: MerchantCtx;
    readonly facilitator: Shop["facilitator"];
    readonly row: ResourceRow;
    readonly fact: string;
  },
): Promise<void> {
  await facilitator.project(tx, toPayable(row, await findMerchant(tx, row.merchantId)));
  await outbox.append(tx, [
    {
      id: ctx.newId("evt"),
      type: fact,
      subject: row.id,
      merchantId: row.merchantId,
      payload: { resourceId: row.id },
    },
  ]);
}

/** Projects a merchant's live resources anew, after its data or settings changed: what agents read names the merchant, and the
 *  rails that it takes. Each is locked first, so that a change of the resource meanwhile does not bring the old ones back. */
export async function projectAgain(
  { db, facilitator }: { readonly db: Database; readonly facilitator: Pick<Facilitator, "project"> },
  merchantId: string,
): Promise<void> {
  const mine = and(eq(resource.merchantId, merchantId), isNull(resource.archivedAt));
  for (const { id } of await db.pool.select({ id: resource.id }).from(resource).where(mine))
    await db.tx(async (tx) => {
      const [row] = await tx
        .select()
        .from(resource)
        .where(and(mine, eq(resource.id, id)))
        .for("update");
      if (row) await facilitator.project(tx, toPayable(row, await findMerchant(tx, merchantId)));
    });
}

/** The merchant's live resources, newest first; one more than the page holds when there are more. */
export async function listResources(
  { facilitator }: Shop,
  { ctx, input }: Call<Page>,
): Promise<readonly Resource[]> {
  ctx.demand("x402:read");
  const rows = await ctx.db.pool
    .select()
    .from(resource)
    .where(
      and(
        eq(resource.merchantId, ctx.merchantId),
        isNull(resource.archivedAt),
        input.after === null ? undefined : lt(resource.id, input.after as ResourceRow["id"]),
      ),
    )
    .orderBy(desc(resource.id))
    .limit(input.limit + 1);
  const taken = await takenBy(ctx.db.pool, facilitator, ctx.merchantId);
  return rows.map((row) => presentResource(row, taken));
}

/** A resource, and how it fared when it was last probed. Fault: `not_found`. */
export async function readResource(
  { facilitator }: Shop,
  { ctx, input }: Call<ResourcePath>,
): Promise<ProbedResource> {
  ctx.demand("x402:read");
  const row = await find(ctx.db.pool, ctx, input.id);
  const taken = await takenBy(ctx.db.pool, facilitator, ctx.merchantId);
  return { ...presentResource(row, taken), lastProbe: await findLastProbe(ctx, row) };
}

/** The rails that a resource names itself, whatever works now and whatever its merchant takes; none where it is on every
 *  one. Fault: `not_found`. */
export async function readNamedRails({ ctx, input }: Call<ResourcePath>): Promise<ResourceRow["rails"]> {
  ctx.demand("x402:read");
  const { rails } = await find(ctx.db.pool, ctx, input.id);
  return rails;
}

async function findLastProbe({ db }: MerchantCtx, { merchantId, id }: ResourceRow) {
  const [last] = await db.pool
    .select()
    .from(resourceProbe)
    .where(and(eq(resourceProbe.merchantId, merchantId), eq(resourceProbe.resourceId, id)));
  return last ? presentProbe(last) : null;
}

/** Shows a resource to discovery readers, or hides it; done twice it changes nothing. Faults: `not_found`,
 *  `rate_limited`. */
export async function setListed(
  { facilitator }: Shop,
  { ctx, input }: Call<ResourcePath & { readonly listed: boolean }>,
): Promise<Resource> {
  ctx.demand("x402:manage");
  const { id, listed } = input;
  return ctx.tx(async (tx) => {
    const [changed] = await tx
      .update(resource)
      .set({ listed, updatedAt: ctx.now() })
      .where(and(live(ctx, id), eq(resource.listed, !listed)))
      .returning();
    if (changed && listed) await ctx.countListing();
    const fact = listed ? "x402.resource.listed" : "x402.resource.unlisted";
    if (changed) await scheduleProbe(tx, changed, { isAnew: false });
    if (changed) await publish(tx, { ctx, facilitator, row: changed, fact });
    const row = changed ?? (await find(tx, ctx, id));
    return presentResource(row, await takenBy(tx, facilitator, ctx.merchantId));
  });
}

/** Takes a resource off sale for good: no new claims, open ones end on their own terms. Its URL is free again. Fault:
 *  `not_found`. */
export async function archiveResource(
  { facilitator }: Shop,
  { ctx, input }: Call<ResourcePath>,
): Promise<void> {
  ctx.demand("x402:manage");
  await ctx.tx(async (tx) => {
    const which = { merchantId: ctx.merchantId, id: input.id };
    if (!(await takeOffSale(tx, { ctx, facilitator, which }))) throw fault("not_found");
  });
}

/** False when it is not on sale any more. */
async function takeOffSale(
  tx: Tx,
  {
    ctx,
    facilitator,
    which,
  }: {
    readonly ctx: MerchantCtx;
    readonly facilitator: Shop["facilitator"];
    readonly which: { readonly merchantId: string; readonly id: string };
  },
): Promise<boolean> {
  const now = ctx.now();
  const [row] = await tx
    .update(resource)
    .set({ listed: false, archivedAt: now, updatedAt: now })
    .where(live(which, which.id))
    .returning();
  if (!row) return false;
  await scheduleProbe(tx, row, { isAnew: false });
  await publish(tx, { ctx, facilitator, row, fact: "x402.resource.archived" });
  return true;
}

async function takenBy(db: Executor, { rails }: Pick<Facilitator, "rails">, merchantId: string) {
  return takenRails(await findMerchant(db, merchantId), rails());
}

async function find(db: Executor, ctx: MerchantCtx, id: string): Promise<ResourceRow> {
  const [row] = await db.select().from(resource).where(live(ctx, id));
  if (!row) throw fault("not_found");
  return row;
}

/** A live resource of this merchant. Text that is no id never reaches the database. */
function live({ merchantId }: Pick<MerchantCtx, "merchantId">, id: string) {
  if (!isId("x402r", id)) throw fault("not_found");
  return and(eq(resource.merchantId, merchantId), eq(resource.id, id), isNull(resource.archivedAt));
}
