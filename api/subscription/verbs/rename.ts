import { and, asc, eq, ne, or } from "drizzle-orm";
import type { Database } from "#store";
import { customer } from "../../customer/tables.ts";
import { subscription } from "../tables.ts";
import { type Changer, changeSubscription } from "./move.ts";

export interface Renaming extends Changer {
  readonly db: Database;
}

/** Gives a customer's subscriptions the name and the email that the customer has now. Those that have them stay as they are. */
export async function renameSubscriber(
  { db, ...changer }: Renaming,
  { merchantId, customerId }: { readonly merchantId: string; readonly customerId: string },
): Promise<void> {
  const id = customerId as `cus_${string}`;
  await db.tx(async (tx) => {
    const [now] = await tx
      .select({ customerName: customer.name, customerEmail: customer.email })
      .from(customer)
      .where(and(eq(customer.merchantId, merchantId), eq(customer.id, id)));
    if (!now) return;
    const isOther = or(
      ne(subscription.customerName, now.customerName),
      ne(subscription.customerEmail, now.customerEmail),
    );
    const rows = await tx
      .select()
      .from(subscription)
      .where(and(eq(subscription.merchantId, merchantId), eq(subscription.customerId, id), isOther))
      .orderBy(asc(subscription.id))
      .for("update");
    for (const row of rows) await changeSubscription(tx, changer, row, now);
  });
}
