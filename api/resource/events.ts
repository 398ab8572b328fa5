import { and, eq, inArray } from "drizzle-orm";
import type { Facilitator } from "#facilitator";
import type { EventFamily } from "../http/event.ts";
import { merchant } from "../merchant/tables.ts";
import { takenRails } from "../merchant/verbs/rails.ts";
import { presentResource } from "./present.ts";
import { Resource } from "./schema.ts";
import { resource } from "./tables.ts";

/** What merchants are told of the endpoints that they sell. */
export function resourceEvents({
  facilitator,
}: {
  readonly facilitator: Pick<Facilitator, "rails">;
}): EventFamily {
  return {
    types: ["x402.resource.registered"],
    object: Resource,
    async present(db, facts) {
      const ids = [...new Set(facts.map(({ subject }) => subject as `x402r_${string}`))];
      const merchants = [...new Set(facts.map(({ merchantId }) => merchantId))];
      const rows = await db
        .select({ row: resource, seller: merchant })
        .from(resource)
        .innerJoin(merchant, eq(merchant.id, resource.merchantId))
        .where(and(inArray(resource.merchantId, merchants), inArray(resource.id, ids)));
      const rails = facilitator.rails();
      const found = new Map(
        rows.map(({ row, seller }) => [row.id as string, presentResource(row, takenRails(seller, rails))]),
      );
      return facts.map(({ subject }) => found.get(subject) ?? null);
    },
  };
}
