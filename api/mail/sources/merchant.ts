import { z } from "zod";
import type { Source } from "./source.ts";

const Change = z.object({
  changedAt: z.iso.datetime(),
  previous: z.object({ contactEmail: z.string() }),
});

/** To the address that was given up: who took a key over must not be able to silence the notices. */
export const contactChanges: Source = async (_tx, facts) =>
  facts.flatMap(({ id, merchantId, payload }) => {
    const change = Change.safeParse(payload);
    if (!change.success) return [];
    const { changedAt, previous } = change.data;
    return [
      {
        merchantId,
        cause: id,
        to: previous.contactEmail,
        template: "contact-changed" as const,
        data: { changedAt },
      },
    ];
  });
