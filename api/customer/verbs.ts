import { and, desc, eq, lt, sql } from "drizzle-orm";
import { assert } from "#kernel/fault";
import { isId, type NewId } from "#kernel/id";
import { type Executor, isUniqueViolation, outbox, type Tx } from "#store";
import type { Call, MerchantCtx } from "../http/context.ts";
import { fault } from "../http/faults.ts";
import type { Page } from "../http/page.ts";
import { type CustomerRow, presentCustomer } from "./present.ts";
import type { Customer, CustomerChange, CustomerFilter, CustomerInput, CustomerPath } from "./schema.ts";
import { customer } from "./tables.ts";

export type { CustomerRow } from "./present.ts";

/** Whose payments or invoices are asked for. One of a subscription keeps the email of its day, and is the subscriber's; another
 *  goes by the email. */
export interface Buyer {
  readonly email: string;
  readonly subscriptionIds: readonly string[];
}

/** Who a customer is as a buyer; null where there is none with this id. Subscriptions are a later feature: it is handed in
 *  where the house is composed. */
export type FindBuyer = (ctx: MerchantCtx, customerId: string) => Promise<Buyer | null>;

/** Fault: `email_taken`. */
export async function createCustomer({ ctx, input }: Call<CustomerInput>): Promise<Customer> {
  ctx.demand("customers:manage");
  return ctx.tx(async (tx) => {
    const row = rowOf(ctx, { merchantId: ctx.merchantId, ...input });
    const [made] = await tx.insert(customer).values(row).onConflictDoNothing().returning();
    if (!made) throw fault("email_taken", { pointer: "/email" });
    return presentCustomer(made);
  });
}

/** The merchant's customer with this email, in any capitals; made when there is none. One that is there keeps its name.
 *  Of two that make the same one at once, the second waits for the first and finds it. */
export async function findOrCreateCustomer(
  tx: Tx,
  making: { readonly newId: NewId; readonly now: () => Date },
  who: { readonly merchantId: string; readonly email: string; readonly name: string },
): Promise<CustomerRow> {
  // One statement: between two of them its email could become another one.
  const [row] = await tx
    .insert(customer)
    .values(rowOf(making, who))
    .onConflictDoUpdate({
      target: [customer.merchantId, customer.emailKey],
      set: { updatedAt: sql`${customer.updatedAt}` },
    })
    .returning();
  assert(row, "a customer was neither made nor found");
  return row;
}

/** Changes what is given, and tells who shows it elsewhere. Faults: `not_found`, `email_taken`. */
export async function changeCustomer({
  ctx,
  input: { id, ...change },
}: Call<CustomerChange & CustomerPath>): Promise<Customer> {
  ctx.demand("customers:manage");
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const email = change.email === undefined ? {} : { emailKey: keyOf(change.email) };
  try {
    return await ctx.tx(async (tx) => {
      const [row] = await tx
        .update(customer)
        .set({ ...given, ...email, updatedAt: ctx.now() })
        .where(isIt(ctx.merchantId, id))
        .returning();
      if (!row) throw fault("not_found");
      const about = { id: ctx.newId("evt"), subject: row.id, merchantId: ctx.merchantId };
      await outbox.append(tx, [{ ...about, type: "customer.updated", payload: {} }]);
      return presentCustomer(row);
    });
  } catch (error) {
    if (!isUniqueViolation(error, "customer_email")) throw error;
    throw fault("email_taken", { pointer: "/email" }, error);
  }
}

/** The merchant's customers, newest first; one more than the page holds when there are more. */
export async function listCustomers({
  ctx,
  input: { email, after, limit },
}: Call<Page & CustomerFilter>): Promise<readonly Customer[]> {
  ctx.demand("customers:read");
  const rows = await ctx.db.pool
    .select()
    .from(customer)
    .where(
      and(
        eq(customer.merchantId, ctx.merchantId),
        email === undefined ? undefined : eq(customer.emailKey, keyOf(email)),
        after === null ? undefined : lt(customer.id, after as CustomerRow["id"]),
      ),
    )
    .orderBy(desc(customer.id))
    .limit(limit + 1);
  return rows.map(presentCustomer);
}

/** Fault: `not_found`. */
export async function readCustomer({ ctx, input }: Call<CustomerPath>): Promise<Customer> {
  ctx.demand("customers:read");
  return presentCustomer(await findCustomer(ctx.db.pool, ctx.merchantId, input.id));
}

async function findCustomer(db: Executor, merchantId: string, id: string): Promise<CustomerRow> {
  const [row] = await db.select().from(customer).where(isIt(merchantId, id));
  if (!row) throw fault("not_found");
  return row;
}

/** Text that is no id never reaches the database. */
function isIt(merchantId: string, id: string) {
  if (!isId("cus", id)) throw fault("not_found");
  return and(eq(customer.merchantId, merchantId), eq(customer.id, id));
}

function keyOf(email: string): string {
  return email.toLowerCase();
}

function rowOf(
  { newId, now }: { readonly newId: NewId; readonly now: () => Date },
  { merchantId, name, email, taxId, address, metadata }: CustomerInput & { readonly merchantId: string },
): CustomerRow {
  const at = now();
  return {
    ...{ merchantId, id: newId("cus"), name, email, emailKey: keyOf(email) },
    ...{ taxId: taxId ?? null, address: address ?? null, metadata: metadata ?? {} },
    ...{ createdAt: at, updatedAt: at },
  };
}
