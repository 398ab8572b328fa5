import { beforeEach } from "vitest";
import { address } from "#kernel/bytes";
import { type DiscoverFilter, discoverPayables } from "../../../facilitator/payable/discover.ts";
import type { Payable } from "../../../facilitator/payable/payable.ts";
import { projectPayable } from "../../../facilitator/payable/project.ts";
import { sharedDatabase } from "../../support/db.ts";
import { chainOf, offered, payableOf } from "./shapes.ts";

export const chain = chainOf({ slug: "base", chainId: 8453 });
export const rails = [offered(chain, { symbol: "USDC", contract: address(`0x${"c1".repeat(20)}`) })];

/** What is listed on one chain with one coin, and how it is found: for all tests of a file, empty before each. */
export function listings() {
  const database = sharedDatabase();
  beforeEach(() => database.query("TRUNCATE listing, payable, payable_trust, payable_payer, counted_fact"));
  let minute = 0;
  const put = (item: Payable) => database.db.tx((tx) => projectPayable(tx, item));
  async function find(filter: Partial<DiscoverFilter> = {}) {
    const { db } = database;
    const page = await discoverPayables({ db, searchDb: db, now: new Date() }, rails, {
      kinds: ["resource"],
      limit: 100,
      offset: 0,
      ...filter,
    });
    return { ids: page.items.map(({ item }) => item.id), total: page.total, items: page.items };
  }
  return {
    database,
    put,
    /** Lists a resource, each younger than the one before. */
    async list(id: string, changes: Partial<Payable> = {}): Promise<void> {
      minute += 1;
      const createdAt = new Date(Date.UTC(2026, 7, 11, 9, minute));
      const url = `https://${id}.example/a`;
      await put(payableOf({ id, merchantId: `mer_${id}`, url, listed: true, createdAt, ...changes }));
    },
    find,
    ids: async (filter?: Partial<DiscoverFilter>) => (await find(filter)).ids,
  };
}
