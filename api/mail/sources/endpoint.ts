import { inArray } from "drizzle-orm";
import { z } from "zod";
import { merchant } from "../../merchant/tables.ts";
import type { Message } from "../message.ts";
import type { Source } from "./source.ts";

/** What is told of an endpoint that does not take what it is sent. */
const Told = z.object({
  url: z.string(),
  failingSince: z.iso.datetime(),
  /** For how many days, where it is still tried. */
  days: z.int().optional(),
  reason: z.enum(["gone", "failing"]).optional(),
});
type Told = z.infer<typeof Told>;
type Template = Extract<Message["template"], `endpoint-${string}`>;

/** To the merchant, whose program has stopped to listen. One of each kind for each time that it has. */
export const endpoints: Source = async (tx, facts) => {
  const ids = [...new Set(facts.map(({ merchantId }) => merchantId))];
  const rows = await tx
    .select({ id: merchant.id, contactEmail: merchant.contactEmail })
    .from(merchant)
    .where(inArray(merchant.id, ids));
  const contacts = new Map(rows.map(({ id, contactEmail }) => [id, contactEmail]));
  return facts.flatMap(({ merchantId, subject, payload }) => {
    const to = contacts.get(merchantId);
    const told = Told.safeParse(payload).data;
    if (!to || !told) return [];
    const { url, failingSince } = told;
    const endpoint = { id: subject, url, failingSince };
    return [
      { merchantId, cause: `${subject} ${failingSince}`, to, template: templateOf(told), data: { endpoint } },
    ];
  });
};

function templateOf({ days, reason }: Told): Template {
  if (reason !== undefined) return reason === "gone" ? "endpoint-gone" : "endpoint-disabled";
  return (days ?? 0) >= 3 ? "endpoint-failing-3" : "endpoint-failing-1";
}
