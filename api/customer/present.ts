import type { Customer } from "./schema.ts";
import type { customer } from "./tables.ts";

export type CustomerRow = typeof customer.$inferSelect;

export function presentCustomer(row: CustomerRow): Customer {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    taxId: row.taxId,
    address: row.address,
    metadata: { ...row.metadata },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
