/** Everything a secret key may be allowed to do. Source: merchant-api.md §5. */
export const permissions = [
  "payments:read",
  "payments:write",
  "refunds:write",
  "catalog:read",
  "catalog:manage",
  "links:read",
  "links:manage",
  "invoices:read",
  "invoices:manage",
  "customers:read",
  "customers:manage",
  "x402:read",
  "x402:manage",
  "webhooks:manage",
  "events:read",
  "ledger:read",
  "payouts:write",
  "keys:manage",
  "merchant:manage",
] as const;
export type Permission = (typeof permissions)[number];

/** What a merchant may not do while it is suspended: ask for money, and take it out. */
const selling: ReadonlySet<Permission> = new Set([
  "payments:write",
  "catalog:manage",
  "links:manage",
  "invoices:manage",
  "x402:manage",
  "payouts:write",
]);

/** Whether the operator withholds a permission from whoever has it, save for reading what goes with it. */
export function isWithheld(
  { isSuspended }: { readonly isSuspended: boolean },
  permission: Permission,
): boolean {
  return isSuspended && selling.has(permission);
}

/** Permissions that go together. */
export const presets = {
  full: permissions,
  "read-only": permissions.filter((permission) => permission.endsWith(":read")),
  "checkout-backend": ["payments:write", "links:manage"],
  accounting: ["payments:read", "invoices:read", "ledger:read"],
} as const satisfies Record<string, readonly Permission[]>;
export type Preset = keyof typeof presets;

const known: ReadonlySet<string> = new Set(permissions);

function isPermission(text: string): text is Permission {
  return known.has(text);
}

/** The permissions given, with the read side of each pair that is implied by its write side. */
export function withImplied(given: readonly Permission[]): ReadonlySet<Permission> {
  const all = new Set(given);
  for (const permission of given) {
    const read = permission.replace(/:(?:manage|write)$/, ":read");
    if (isPermission(read)) all.add(read);
  }
  return all;
}
