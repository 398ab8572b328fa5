/** An index of thousands: pages, totals, and what they cost. */
import { type SQL, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import type { Database } from "#store";
import { discoverPayables } from "../../../facilitator/payable/discover.ts";
import { listings, rails } from "./listings.ts";

const { database, list, find, ids } = listings();

describe("many matches", () => {
  beforeEach(() =>
    database.db.pool.execute(sql`
      WITH item AS (INSERT INTO payable (id, kind, merchant_id, merchant_name, url, description, mime_type, price_amount,
          price_asset, rails, max_timeout_seconds, payment_flow, tags, extensions, fee_bps, once, listed, created_at, updated_at)
        SELECT 'bulk' || i, 'resource', 'mer_1', 'M', 'https://bulk.example/' || i, '', 'application/json', 10000, 'USD', '[]',
          300, 'authorization', '[]', '{}', 0, false, true, now() + i * interval '1 second', now()
        FROM generate_series(1, 4000) i RETURNING id, created_at)
      INSERT INTO listing (id, kind, once, merchant_id, domain, looks, words, price_amount, price_asset, rails, extensions,
          standing, host_verified, created_at)
        SELECT id, 'resource', false, 'mer_1', 'bulk' || (row_number() OVER () % 100), '{}',
          array_to_tsvector(ARRAY['acommon', 'gcommon']), 10000, 'USD', '{}', '{}', row_number() OVER () % 7, false, created_at
        FROM item`),
  );

  it("are ranked and paged as few are, each once, and counted when that is asked for", async () => {
    await list("special", { tags: ["common"] });
    const pages: string[] = [];
    for (let offset = 0; offset < 4_001; offset += 500)
      pages.push(...(await ids({ query: "common", limit: 500, offset })));
    expect(pages.length).toBe(4_001);
    expect(new Set(pages).size).toBe(4_001);
    const ranked = await database.db.pool.execute<{ id: string }>(
      sql`SELECT id FROM (SELECT id, standing, created_at, row_number() OVER (PARTITION BY domain ORDER BY standing DESC, created_at, id) > 3 AS is_back
            FROM listing) AS l ORDER BY is_back, standing DESC, created_at, id`,
    );
    expect(pages).toEqual(ranked.rows.map(({ id }) => id));
    expect((await find({ query: "common", limit: 10 })).total).toBe(4_001);
    expect((await find({ query: "common", limit: 10, count: "page" })).total).toBe(11);
    expect((await find({ limit: 10 })).total).toBe(4_001);
    expect((await find({ query: "common", offset: 4_000, count: "page" })).total).toBe(4_001);
  });

  it("are paged to the end where words are taken for beginnings", async () => {
    for (const offset of [0, 1_000, 1_400, 3_900]) {
      const { ids, total } = await find({ query: "comm", offset });
      expect([offset, ids.length, total]).toEqual([offset, 100, 4_000]);
      expect(await find({ query: "comm", offset, count: "page" })).toMatchObject({ ids });
    }
    for (const query of ["comm", "common", "nothing"])
      expect([query, await ids({ query, offset: 5_000 })]).toEqual([query, []]);
  });

  it.each([
    ["far down", { offset: 3_500 }],
    ["far down, by a word", { offset: 3_500, query: "common" }],
    ["behind the end", { offset: 900_000 }],
    ["whose first domains have nearly all", {}],
  ])("bring no more than a few thousand into the process for a page %s", async (_, asked) => {
    if (Object.keys(asked).length === 0)
      await database.db.pool.execute(sql`UPDATE listing SET domain = 'bulk'`);
    let brought = 0;
    const execute = async (query: SQL) => {
      const result = await database.db.pool.execute(query);
      brought += result.rows.length;
      return result;
    };
    const counted = { ...database.db, pool: { execute } as unknown as Database["pool"] };
    const filter = { kinds: ["resource"], limit: 20, offset: 0, ...asked } as const;
    const index = { db: database.db, searchDb: counted, now: new Date() };
    const { items, total } = await discoverPayables(index, rails, filter);
    expect([items.length, total]).toEqual([filter.offset < 4_000 ? 20 : 0, 4_000]);
    expect(brought).toBeLessThan(2_500);
  });

  it("cost the page that is shown: the best are met on the way down the ranking", async () => {
    await database.query("ANALYZE listing");
    const plan = await database.query(
      "EXPLAIN SELECT id, domain FROM listing WHERE kind IN ('resource') ORDER BY standing DESC NULLS LAST, created_at, id LIMIT 32",
    );
    expect(JSON.stringify(plan)).toContain("Index Scan using listing_rank");
  });
});
