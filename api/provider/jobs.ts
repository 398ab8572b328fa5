import type { Job } from "../http/job.ts";
import type { ProviderDesk } from "./verbs/desk.ts";
import { handleEvent } from "./verbs/event.ts";
import { EVENT_RECEIVED } from "./verbs/receive.ts";

/** Follows up on what providers told. Money does not hang on it: the loop asks providers by itself, more slowly. */
export function providerJobs(desk: ProviderDesk): readonly Job[] {
  return [
    {
      name: "handle-provider-event",
      hears: [EVENT_RECEIVED],
      attempts: 8,
      async run({ fact }) {
        const { provider, eventId } = fact?.payload ?? {};
        if (typeof provider === "string" && typeof eventId === "string")
          await handleEvent(desk, { provider, eventId });
      },
    },
  ];
}
