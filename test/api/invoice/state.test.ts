/** States, statuses and reminders of invoices: pure. */
import { describe, expect, it } from "vitest";
import { remindersAt, remindersOf } from "../../../api/invoice/reminders.ts";
import {
  advance,
  type InvoiceTrigger,
  invoiceStates,
  invoiceTransitions,
  outstandingOf,
  refundedPart,
  statusOf,
} from "../../../api/invoice/state.ts";

const triggers: readonly InvoiceTrigger[] = ["issue", "pay", "void", "write-off", "reopen"];

describe("the table", () => {
  it.each(invoiceStates.flatMap((from) => triggers.map((trigger) => [from, trigger] as const)))(
    "%s on %s",
    (from, trigger) => {
      const steps: Readonly<Record<string, string | undefined>> = invoiceTransitions[from];
      const to = steps[trigger];
      if (to) expect(advance(from, trigger)).toBe(to);
      else expect(() => advance(from, trigger)).toThrow(from);
    },
  );

  it("ends with void, and lets what is paid open again only by a reversal", () => {
    expect(invoiceTransitions.void).toEqual({});
    expect(invoiceTransitions.paid).toEqual({ reopen: "open" });
  });
});

it.each([
  ["paid", 10n, 0n, null],
  ["paid", 10n, 1n, "part"],
  ["paid", 10n, 10n, "all"],
  // what was paid twice, and once given back
  ["paid", 20n, 10n, null],
  ["paid", 20n, 11n, "part"],
  ["open", 4n, 4n, null],
] as const)("%s with %i of 10 taken and %i of that given back: %s", (state, collected, refunded, part) => {
  expect(refundedPart({ state, total: 10n, collected }, refunded)).toBe(part);
});

describe("the status", () => {
  const dueAt = new Date("2026-08-20T00:00:00Z");
  const [before, after] = [new Date("2026-08-19T00:00:00Z"), new Date("2026-08-21T00:00:00Z")];
  it.each([
    ["open", 0n, before, "open"],
    ["open", 4n, before, "partially-paid"],
    ["open", 4n, after, "overdue"],
    ["open", 0n, dueAt, "open"],
    ["paid", 4n, after, "paid"],
    ["uncollectible", 0n, after, "uncollectible"],
    ["void", 0n, after, "void"],
    ["draft", 0n, after, "draft"],
  ] as const)("%s with %i of 10 paid", (state, paid, now, status) => {
    const issuedAt = new Date("2026-08-11T00:00:00Z");
    expect(statusOf({ state, total: 10n, paid, issuedAt, dueAt }, now)).toBe(status);
  });

  it("is overdue after a day where it is due as it is issued", () => {
    const at = (now: Date) => statusOf({ state: "open", total: 10n, paid: 0n, issuedAt: dueAt, dueAt }, now);
    expect([at(after), at(new Date(after.getTime() + 1))]).toEqual(["open", "overdue"]);
  });

  it.each([
    ["open", 4n, 6n],
    ["open", 12n, 0n],
    ["paid", 4n, 0n],
    ["void", 0n, 0n],
    ["uncollectible", 0n, 10n],
  ] as const)("%s with %i of 10 paid leaves %i", (state, paid, left) => {
    expect(outstandingOf({ state, total: 10n, paid })).toBe(left);
  });
});

describe("reminders", () => {
  const on = (issued: string, due: string) =>
    remindersOf({ issuedAt: new Date(issued), dueAt: new Date(due) }).map(
      ({ template, at }) => `${template} ${at.toISOString().slice(0, 16)}`,
    );

  it("three days before, on the day, and three, seven and fourteen days after", () => {
    expect(on("2026-08-01T10:00:00Z", "2026-08-08T10:00:00Z")).toEqual([
      "due-in-3-days 2026-08-05T10:00",
      "due-today 2026-08-08T00:00",
      "overdue-3 2026-08-11T10:00",
      "overdue-7 2026-08-15T10:00",
      "overdue-14 2026-08-22T10:00",
    ]);
  });

  it("none before where it is due within three days, none on the day it is issued", () => {
    expect(on("2026-08-01T10:00:00Z", "2026-08-04T10:00:00Z")[0]).toBe("due-today 2026-08-04T00:00");
    expect(on("2026-08-01T10:00:00Z", "2026-08-01T10:00:00Z")[0]).toBe("overdue-3 2026-08-04T10:00");
  });

  it("are due from their instant on, and after the last there is none", () => {
    const when = { issuedAt: new Date("2026-08-01T10:00:00Z"), dueAt: new Date("2026-08-08T10:00:00Z") };
    const at = (instant: string) => remindersAt(when, new Date(instant));
    expect(at("2026-08-05T09:59:59Z")).toMatchObject({ due: [], nextAt: new Date("2026-08-05T10:00:00Z") });
    expect(at("2026-08-05T10:00:00Z").due).toHaveLength(1);
    expect(at("2026-09-30T00:00:00Z")).toMatchObject({ nextAt: null });
  });
});
