import type { MerchantCtx } from "../../http/context.ts";
import { listBilledTo, listPaidBy } from "../../subscription/verbs/billed.ts";
import { listSubscriptions } from "../../subscription/verbs/read.ts";
import { withRefunds } from "../payments/listed.ts";
import type { Desk } from "../section.ts";

export type CustomersDesk = Pick<Desk, "clearing" | "invoices">;

/** As many of each as are shown of a customer, newest first. */
const MOST = 100;
const newest = { limit: MOST, after: null };

/** What is known of a customer elsewhere, as far as the key may see it. */
export async function historyOf(
  { clearing, invoices: desk }: CustomersDesk,
  ctx: MerchantCtx,
  { id: customerId }: { readonly id: string },
) {
  const may = ctx.scope.permissions;
  const [invoices, subscriptions, payments] = await Promise.all([
    may.has("invoices:read") ? listBilledTo(desk, { ctx, input: { customerId, limit: MOST } }) : null,
    may.has("catalog:read") ? listSubscriptions({ ctx, input: { ...newest, customerId } }) : null,
    may.has("payments:read") ? listPaidBy(clearing, { ctx, input: { customerId, limit: MOST } }) : null,
  ]);
  return {
    invoices: invoices?.slice(0, MOST) ?? null,
    isEveryInvoice: (invoices?.length ?? 0) <= MOST,
    subscriptions: subscriptions?.slice(0, MOST) ?? null,
    payments: payments && (await withRefunds(ctx, payments.slice(0, MOST))),
  };
}
export type History = Awaited<ReturnType<typeof historyOf>>;
