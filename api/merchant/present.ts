import type { Hash } from "#kernel/bytes";
import type { ApiKey, Merchant } from "./schema.ts";
import type { apiKey, merchant } from "./tables.ts";

export type MerchantRow = typeof merchant.$inferSelect;
export type KeyRow = typeof apiKey.$inferSelect;

export function presentMerchant(row: MerchantRow): Merchant {
  const { createdAt, updatedAt, suspendedAt, allowedOrigins, rails, logo, ...rest } = row;
  return {
    ...rest,
    logo: logo && logoPath(logo),
    allowedOrigins: [...allowedOrigins],
    rails: rails.map(({ chain, asset }) => ({ chain, asset })),
    suspendedAt: suspendedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** Where a picture is shown. The path changes with it, so it can be kept for ever. */
export function logoPath(digest: Hash): string {
  return `/assets/logo-${digest.slice(2)}.png`;
}

/** A key without anything that opens: neither the key nor its HMAC. */
export function presentKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    keyId: row.keyId,
    last4: row.last4,
    permissions: [...row.permissions],
    allowedOrigins: row.allowedOrigins && [...row.allowedOrigins],
    allowedIps: row.allowedIps && [...row.allowedIps],
    createdBy: row.createdBy,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
  };
}
