import type { Context } from "hono";
import { invalid } from "../http/faults.ts";
import { clientAddress } from "../http/limit.ts";
import type { CheckoutDesk } from "./verbs/checkout.ts";
import { deriveIntent, type MeantLink } from "./verbs/derive.ts";

/** Links that agents are not offered directly, because their payer names the amount (`?amount=`) or their price moves: a
 *  visit of the agent URL is a checkout, and what it is asked to pay is the intent. Source: agents.md §7. */
export function linkIntents(desk: CheckoutDesk) {
  return (c: Context, ask: MeantLink) => {
    const { ctx, edge } = c.var;
    const visitor = { ctx: { ...ctx, newId: edge.newId }, address: clientAddress(c, edge) };
    const [amount, ...others] = c.req.queries("amount") ?? [];
    if (others.length > 0) throw invalid("/query/amount", "one amount: two were named");
    return deriveIntent(desk, { ...visitor, ...ask, amount });
  };
}
