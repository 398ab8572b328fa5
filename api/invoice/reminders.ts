/** Kinds of reminder, in the order in which they come. Source: merchant-api.md §8. */
const reminderTemplates = ["due-in-3-days", "due-today", "overdue-3", "overdue-7", "overdue-14"] as const;
export type ReminderTemplate = (typeof reminderTemplates)[number];

export interface Reminder {
  readonly template: ReminderTemplate;
  readonly at: Date;
}

const DAY_MS = 86_400_000;

/** When an invoice is reminded of. One that is due within three days is not announced, and one that is due on the day it
 *  is issued says so itself. Pure. */
export function remindersOf({
  issuedAt,
  dueAt,
}: {
  readonly issuedAt: Date;
  readonly dueAt: Date;
}): readonly Reminder[] {
  const due = dueAt.getTime();
  const dueDay = Math.floor(due / DAY_MS) * DAY_MS;
  const all: readonly Reminder[] = [
    ...(due - issuedAt.getTime() > 3 * DAY_MS ? [reminder("due-in-3-days", due - 3 * DAY_MS)] : []),
    ...(dueDay > issuedAt.getTime() ? [reminder("due-today", dueDay)] : []),
    reminder("overdue-3", due + 3 * DAY_MS),
    reminder("overdue-7", due + 7 * DAY_MS),
    reminder("overdue-14", due + 14 * DAY_MS),
  ];
  return all;
}

function reminder(template: ReminderTemplate, at: number): Reminder {
  return { template, at: new Date(at) };
}

/** Whether it still says what is so: nothing is due today once that day is over. Pure. */
export function isStillSo({ template, at }: Reminder, now: Date): boolean {
  return template !== "due-today" || now.getTime() < at.getTime() + DAY_MS;
}

/** The reminders whose time has come, and when the next one's comes. Pure. */
export function remindersAt(
  when: { readonly issuedAt: Date; readonly dueAt: Date },
  now: Date,
): { readonly due: readonly Reminder[]; readonly nextAt: Date | null } {
  const all = remindersOf(when);
  return {
    due: all.filter(({ at }) => at <= now),
    nextAt: all.find(({ at }) => at > now)?.at ?? null,
  };
}
