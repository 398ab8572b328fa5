import { assert } from "#kernel/fault";
import type { Money } from "#kernel/money";
import { outbox } from "#store";
import { findOrCreateCustomer } from "../../customer/verbs.ts";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { parseAmount } from "../../http/money.ts";
import type { InvoiceDesk } from "../../invoice/verbs/desk.ts";
import { checkAmount } from "../../payment-intent/verbs/rails.ts";
import { presentSubscription, type SubscriptionRow } from "../present.ts";
import { cycleAt } from "../schedule.ts";
import type { Subscription, SubscriptionInput } from "../schema.ts";
import { subscription } from "../tables.ts";
import { bringUp } from "./bill.ts";
import { dueOf, factOf } from "./move.ts";

/** Reads an amount and finds out whether it could ever be paid; may ask for rates, so it comes before the transaction.
 *  Faults: `currency_unsupported`, `too_many_decimals`, `amount_too_small`, `amount_too_large`. */
export async function checkCycle(
  { rates }: Pick<InvoiceDesk, "rates">,
  amount: SubscriptionInput["amount"],
): Promise<Money> {
  const money = parseAmount(amount, "/amount");
  await checkAmount({ rates }, money, { executionPath: "deposit-match" });
  return money;
}

/** Makes a subscription, and issues its first cycle where that has begun. Fault: `anchor_invalid`. */
export async function createSubscription(
  desk: InvoiceDesk,
  { ctx, input, money }: Call<SubscriptionInput> & { readonly money: Money },
): Promise<Subscription> {
  ctx.demand("catalog:manage");
  const { merchantId } = ctx;
  return ctx.tx(async (tx) => {
    const customer = await findOrCreateCustomer(tx, desk, { merchantId, ...input.customer });
    const subscriber = {
      customerId: customer.id,
      customerName: customer.name,
      customerEmail: customer.email,
    };
    const row = rowOf(desk, { ...subscriber, merchantId }, input, money);
    const [made] = await tx.insert(subscription).values(row).returning();
    assert(made, "a subscription that was written is there");
    await outbox.append(tx, [factOf(desk.newId, made, { type: "subscription.created", previous: null })]);
    const hasBegun = made.dueAt !== null && made.dueAt <= desk.now();
    return presentSubscription(hasBegun ? await bringUp(tx, desk, made) : made);
  });
}

type Subscriber = Pick<SubscriptionRow, "merchantId" | "customerId" | "customerName" | "customerEmail">;

function rowOf(
  desk: InvoiceDesk,
  subscriber: Subscriber,
  input: SubscriptionInput,
  { amount, asset }: Money,
): SubscriptionRow {
  const createdAt = desk.now();
  const { description, interval, intervalCount, daysUntilDue, sendEmail } = input;
  const anchorAt = input.anchorAt === undefined ? createdAt : new Date(input.anchorAt);
  refuseFar({ anchorAt, interval, intervalCount }, createdAt);
  const standing = {
    ...{ anchorAt, interval, intervalCount, state: "active" as const },
    ...{ billedCycles: 0, nextIndex: 0, cancelAt: null, maxCycles: input.maxCycles ?? null },
  };
  return {
    ...subscriber,
    ...standing,
    ...dueOf(standing),
    ...{ description, daysUntilDue, sendEmail, amount, currency: asset },
    id: desk.newId("sub"),
    metadata: input.metadata ?? {},
    batch: null,
    ...{ pausedAt: null, pauseReason: null, cancelledAt: null, voidsOpen: false },
    version: 1,
    createdAt,
    updatedAt: createdAt,
  };
}

const MOST_AHEAD_YEARS = 2;

/** At most one interval back, so that nothing is billed twice at once; at most two years ahead. */
function refuseFar(
  schedule: Pick<SubscriptionRow, "anchorAt" | "interval" | "intervalCount">,
  now: Date,
): void {
  const pointer = "/anchorAt";
  if (cycleAt(schedule, 1) < now)
    throw fault("anchor_invalid", { why: "it is more than one interval ago", pointer });
  const latest = cycleAt({ anchorAt: now, interval: "year", intervalCount: MOST_AHEAD_YEARS }, 1);
  if (schedule.anchorAt > latest)
    throw fault("anchor_invalid", { why: "it is more than two years ahead", pointer });
}
