import { eq } from "drizzle-orm";
import type { Facilitator } from "#facilitator";
import { canonicalJson } from "#kernel/codec";
import { type Executor, outbox, type Tx } from "#store";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { type MerchantRow, presentMerchant } from "../present.ts";
import type { Merchant, MerchantChange } from "../schema.ts";
import { merchant } from "../tables.ts";
import { actorOf, note } from "./audit.ts";
import { keepLogo } from "./brand.ts";
import { chooseTaken } from "./rails.ts";

export type { MerchantRow } from "../present.ts";

/** Fault: `not_found`. */
export async function findMerchant(db: Executor, id: string): Promise<MerchantRow> {
  const [row] = await db.select().from(merchant).where(eq(merchant.id, id));
  if (!row) throw fault("not_found");
  return row;
}

/** The merchant whose key asks. */
export async function readMerchant({ ctx }: { readonly ctx: MerchantCtx }): Promise<Merchant> {
  ctx.demand("merchant:manage");
  return presentMerchant(await findMerchant(ctx.db.pool, ctx.merchantId));
}

/** What changing a merchant needs. */
export interface MerchantDesk {
  readonly facilitator: Pick<Facilitator, "rails" | "refusedRails">;
}

/** Changes what is given and tells the world; what was already so is no change. Faults: `rail_unsupported`,
 *  `token_domain_unreadable`. */
export async function changeMerchant(
  { facilitator }: MerchantDesk,
  { ctx, input }: Call<MerchantChange>,
): Promise<Merchant> {
  ctx.demand("merchant:manage");
  return ctx.tx(async (tx) => {
    const before = await findMerchant(tx, ctx.merchantId);
    const { logo: png, rails: asked, ...rest } = input;
    const rails = asked === undefined ? {} : { rails: chooseTaken(facilitator, before, asked) };
    const logo = png === undefined ? {} : { logo: await keepLogo(tx, ctx.merchantId, png) };
    const changed = changesOf(before, { ...rest, ...rails, ...logo });
    if (Object.keys(changed).length === 0) return presentMerchant(before);
    const [row] = await tx
      .update(merchant)
      .set({ ...changed, updatedAt: ctx.now() })
      .where(eq(merchant.id, ctx.merchantId))
      .returning();
    if (!row) throw fault("not_found");
    await tell(tx, ctx, { changed, before, at: row.updatedAt });
    return presentMerchant(row);
  });
}

function changesOf(before: MerchantRow, input: object): Partial<MerchantRow> {
  return Object.fromEntries(
    Object.entries(input).filter(
      ([name, value]) => canonicalJson(before[name as keyof MerchantRow]) !== canonicalJson(value),
    ),
  );
}

interface Told {
  readonly changed: Partial<MerchantRow>;
  readonly before: MerchantRow;
  readonly at: Date;
}

async function tell(tx: Tx, ctx: MerchantCtx, { changed, before, at }: Told): Promise<void> {
  const about = { merchantId: ctx.merchantId, subject: ctx.merchantId };
  await note(tx, actorOf(ctx), { ...about, action: "merchant.updated", detail: changed });
  const payload = {
    changed: Object.keys(changed),
    // Whoever got the notices is told that they go elsewhere now.
    ...("contactEmail" in changed &&
      before.contactEmail !== null && {
        changedAt: at.toISOString(),
        previous: { contactEmail: before.contactEmail },
      }),
  };
  await outbox.append(tx, [{ ...about, id: ctx.newId("evt"), type: "merchant.updated", payload }]);
}
