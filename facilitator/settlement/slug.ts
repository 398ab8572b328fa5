import type { Database } from "#store";
import type { ChainRow } from "../chain/registry.ts";
import { chainSlug } from "./tables.ts";

type Known = typeof chainSlug.$inferSelect;

/** Raised inside the transaction, so that a start that is refused has changed nothing. */
class Refusal extends Error {}

/** Makes the configured slugs those of their chains in the books, for ever. Where one is another chain's, or a chain has
 *  another one, nothing changes, and the answer is one line for the operator. */
export async function adoptSlugs(db: Database, rows: readonly ChainRow[]): Promise<string | null> {
  try {
    await db.tx(async (tx) => {
      const asked = rows.map(({ chainId, slug }) => ({ chainId, slug }));
      await tx.insert(chainSlug).values(asked).onConflictDoNothing();
      const known = await tx.select().from(chainSlug);
      const problem = rows.map((row) => refusalOf(row, known)).find((found) => found !== null);
      if (problem) throw new Refusal(problem);
    });
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

function refusalOf({ chainId, slug }: ChainRow, known: readonly Known[]): string | null {
  const owner = known.find((each) => each.slug === slug);
  if (owner && owner.chainId !== chainId)
    return `FAREBOX_CHAINS, ${slug}: in the books ${slug} is chain ${owner.chainId}, not ${chainId}; under one slug the money of both would be one balance. Put chainId ${owner.chainId} back, or choose another slug for chain ${chainId}.`;
  const before = known.find((each) => each.chainId === chainId);
  if (before && before.slug !== slug)
    return `FAREBOX_CHAINS, ${slug}: in the books chain ${chainId} is ${before.slug}; under another slug its books would begin anew, without what is in them. Put the slug ${before.slug} back.`;
  return null;
}
