import type { Facilitator } from "#facilitator";
import type { MerchantCtx } from "../http/context.ts";
import { fault } from "../http/faults.ts";
import type { SafeFetch } from "../http/safe-fetch.ts";
import { spendProbe } from "./allowance.ts";
import type { ResourceRow } from "./present.ts";
import { merchantsNamedBy } from "./well-known.ts";

/** The registration of a URL by a merchant whom its host does not name. */
export type Squatter = Pick<ResourceRow, "merchantId" | "id">;

interface Proving {
  readonly facilitator: Pick<Facilitator, "quote">;
  readonly safeFetch: SafeFetch;
}

/** Who has to make room for this merchant: another one holds the URL, and its host names this merchant and not the
 *  other. The host is asked only then, and no more often than it is probed. To be called outside a transaction. Fault:
 *  `rate_limited`. Source: merchant-api.md §2.6. */
export async function findSquatter(
  { facilitator, safeFetch }: Proving,
  ctx: MerchantCtx,
  url: string,
): Promise<Squatter | null> {
  const held = (await facilitator.quote({ by: "url", url }))?.payable;
  if (held?.kind !== "resource" || held.merchantId === ctx.merchantId) return null;
  const retryAfterSeconds = await spendProbe(ctx.db, url);
  if (retryAfterSeconds !== null) throw fault("rate_limited", { retryAfterSeconds });
  const named = await merchantsNamedBy(safeFetch, url);
  if (!named?.includes(ctx.merchantId) || named.includes(held.merchantId)) return null;
  return { merchantId: held.merchantId, id: held.id as ResourceRow["id"] };
}
