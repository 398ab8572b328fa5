import { pgTable, text } from "drizzle-orm/pg-core";
import { height } from "#store";

/** By which name the books know a chain, told by the first start on it, for ever: assets are named by it (USDC@base). */
export const chainSlug = pgTable("chain_slug", {
  chainId: height("chain_id").primaryKey(),
  slug: text("slug").notNull().unique(),
});
