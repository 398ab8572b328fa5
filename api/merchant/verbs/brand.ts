import { eq } from "drizzle-orm";
import { type Hash, type Hex, toBytes } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import type { Executor, Tx } from "#store";
import { logoPath } from "../present.ts";
import { merchant, merchantLogo } from "../tables.ts";

/** How a merchant's pages and documents look. */
export interface Brand {
  /** `#rrggbb` */
  readonly colour: string | null;
  /** Path of its picture. */
  readonly logo: string | null;
  /** Pages ask for no payment while it is suspended. */
  readonly isSuspended: boolean;
}

/** Of a merchant that is there. */
export async function brandOf(db: Executor, merchantId: string): Promise<Brand> {
  const [row] = await db
    .select({ colour: merchant.brandColour, logo: merchant.logo, suspendedAt: merchant.suspendedAt })
    .from(merchant)
    .where(eq(merchant.id, merchantId));
  const { colour = null, logo = null, suspendedAt = null } = row ?? {};
  return { colour, logo: logo && logoPath(logo), isSuspended: suspendedAt !== null };
}

/** The same for what is printed: with the picture itself. */
export interface Letterhead {
  /** Time zone, by its IANA name. */
  readonly zone: string;
  readonly colour: string | null;
  readonly png: Buffer | null;
}

/** Of a merchant that is there. */
export async function letterheadOf(db: Executor, merchantId: string): Promise<Letterhead> {
  const [row] = await db
    .select({ zone: merchant.timeZone, colour: merchant.brandColour, png: merchantLogo.png })
    .from(merchant)
    .leftJoin(merchantLogo, eq(merchantLogo.merchantId, merchant.id))
    .where(eq(merchant.id, merchantId));
  const { zone = "UTC", colour = null, png = null } = row ?? {};
  return { zone, colour, png: png && toBytes(png) };
}

/** The picture of that digest, whose ever; null where there is none. */
export async function findLogo(db: Executor, digest: Hash): Promise<Hex | null> {
  const [row] = await db
    .select({ png: merchantLogo.png })
    .from(merchantLogo)
    .where(eq(merchantLogo.digest, digest))
    .limit(1);
  return row?.png ?? null;
}

/** Puts a picture in the place of the one before, or none; its digest. */
export async function keepLogo(tx: Tx, merchantId: string, png: Hex | null): Promise<Hash | null> {
  if (png === null) {
    await tx.delete(merchantLogo).where(eq(merchantLogo.merchantId, merchantId));
    return null;
  }
  const kept = { digest: sha256(toBytes(png)), png };
  await tx
    .insert(merchantLogo)
    .values({ merchantId, ...kept })
    .onConflictDoUpdate({ target: merchantLogo.merchantId, set: kept });
  return kept.digest;
}
