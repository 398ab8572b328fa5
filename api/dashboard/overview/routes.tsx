/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */

import { readBalances } from "../../payout/verbs.ts";
import { listShown } from "../payments/listed.ts";
import type { Desk, Section } from "../section.ts";
import { readOverview } from "../verbs/overview.ts";
import { OverviewPage } from "./view.tsx";

const LATEST = 5;

/** What a merchant looks at first. */
export function overviewSection({ clearing }: Pick<Desk, "clearing">): Section {
  return {
    place: "",
    furnish(room) {
      room.page("/dashboard", async ({ ctx }) => {
        const mayRead = (permission: "payments:read" | "ledger:read") =>
          ctx.scope.permissions.has(permission);
        const latest = { limit: LATEST, after: null };
        const overview = mayRead("payments:read") ? await readOverview(ctx) : null;
        const payments = overview ? await listShown(clearing, { ctx, input: latest }) : [];
        const balances = mayRead("ledger:read") ? await readBalances({ ctx, input: null }) : null;
        const shown = { overview, payments: payments.slice(0, LATEST), balances };
        return { title: "Overview", body: <OverviewPage {...shown} baseUrl={clearing.baseUrl} /> };
      });
    },
  };
}
