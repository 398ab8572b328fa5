export const mailStates = ["queued", "sent", "failed"] as const;
export type MailState = (typeof mailStates)[number];

/** What may happen to a mail. `sent` and `failed` are ends. */
const transitions = {
  queued: { take: "sent", refuse: "failed", "give-up": "failed" },
  sent: {},
  failed: {},
} as const satisfies Record<MailState, Readonly<Record<string, MailState>>>;

export type MailTrigger = keyof (typeof transitions)["queued"];

/** The state after `trigger`; null where the mail has already ended. */
export function advance(from: MailState, trigger: MailTrigger): MailState | null {
  return (transitions[from] as Partial<Record<MailTrigger, MailState>>)[trigger] ?? null;
}
