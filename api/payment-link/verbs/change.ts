import { assert } from "#kernel/fault";
import type { Tx } from "#store";
import type { Call, MerchantCtx } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { changesNothing } from "../../http/unchanged.ts";
import { type LinkRow, presentLink } from "../present.ts";
import type { PaymentLink, PaymentLinkChange, PaymentLinkPath } from "../schema.ts";
import { paymentLink } from "../tables.ts";
import { endOf, type LinkDesk, tellOf } from "./create.ts";
import { publishLink } from "./publish.ts";
import { findLink, isIt, lockLink, shownAt } from "./standing.ts";

type Changing = Partial<
  Pick<LinkRow, "title" | "expiresAt" | "maxPayments" | "metadata" | "listed" | "disabledAt">
>;

/** Changes what is given, save what the link asks for. Faults: `not_found`, `version_conflict`, `validation_failed` for an
 *  end that is past. */
export async function changeLink(
  desk: LinkDesk,
  { ctx, input: { id, version, expiresAt, ...given } }: Call<PaymentLinkChange & PaymentLinkPath>,
): Promise<PaymentLink> {
  const end = expiresAt === undefined ? {} : { expiresAt: endOf(expiresAt, ctx.now()) };
  return change(desk, { ctx, input: { id } }, (link) => {
    if (version !== undefined && version !== link.version)
      throw fault("version_conflict", { currentVersion: link.version, pointer: "/version" });
    return { ...defined(given), ...end };
  });
}

/** Shows a link to discovery readers, or hides it, whether or not it is payable; done twice it changes nothing. Faults:
 *  `not_found`, `rate_limited`. Source: interface §3. */
export async function setListed(
  desk: LinkDesk,
  { ctx, input: { id, listed } }: Call<PaymentLinkPath & { readonly listed: boolean }>,
): Promise<PaymentLink> {
  return change(desk, { ctx, input: { id } }, () => ({ listed }));
}

/** Ends payments of a link until it is enabled again; done twice it changes nothing. Fault: `not_found`. */
export async function setDisabled(
  desk: LinkDesk,
  { ctx, input: { id, disabled } }: Call<PaymentLinkPath & { readonly disabled: boolean }>,
): Promise<PaymentLink> {
  return change(desk, { ctx, input: { id } }, (link) => ({
    disabledAt: disabled ? (link.disabledAt ?? ctx.now()) : null,
  }));
}

async function change(
  desk: LinkDesk,
  { ctx, input: { id } }: Call<PaymentLinkPath>,
  changeOf: (link: LinkRow) => Changing,
): Promise<PaymentLink> {
  ctx.demand("links:manage");
  const { merchantId } = ctx;
  const now = ctx.now();
  return ctx.tx(async (tx) => {
    const before = await lockLink(tx, now, { merchantId, id });
    const shown = await shownAt(tx, desk, { merchantId, now });
    const changing = changeOf(before.link);
    if (changesNothing(before.link, changing)) return presentLink(before, shown);
    if (changing.listed && !before.link.listed) await ctx.countListing();
    await write(tx, ctx, before.link, changing);
    const after = await findLink(tx, now, { merchantId, id });
    await publishLink(desk, tx, after, now);
    return presentLink(after, shown);
  });
}

function defined(given: Omit<PaymentLinkChange, "version" | "expiresAt">): Changing {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

async function write(tx: Tx, ctx: MerchantCtx, link: LinkRow, changing: Changing): Promise<void> {
  const moved = { updatedAt: ctx.now(), version: link.version + 1 };
  const written = await tx
    .update(paymentLink)
    .set({ ...changing, ...moved })
    .where(isIt(link.merchantId, link.id))
    .returning({ id: paymentLink.id });
  assert(written.length === 1, "a link that is held is there");
  const isDisabled = changing.disabledAt instanceof Date;
  await tellOf(tx, ctx, link.id, isDisabled ? "payment_link.disabled" : "payment_link.updated");
}
