import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { systemRandom } from "#kernel/system";
import { isMeant } from "../../../api/webhook/pattern.ts";
import { pauseAfter, retryAfterMs, verdictOn } from "../../../api/webhook/schedule.ts";
import { createSeal } from "../../../api/webhook/seal.ts";
import { bodyFor, signedHeaders } from "../../../api/webhook/send.ts";
import {
  advance,
  deliveryStates,
  deliveryTransitions,
  deliveryTriggers,
} from "../../../api/webhook/state.ts";

const DAY = 86_400_000;
const now = new Date("2026-08-11T09:30:00.000Z");

describe("pauseAfter", () => {
  it("grows from 5 seconds to a day, and ends after ten attempts, which take about three days", () => {
    const pauses = Array.from({ length: 10 }, (_, i) => pauseAfter(i + 1, { chance: 0, retryAfterMs: null }));
    expect(pauses.at(-1)).toBeNull();
    const known = pauses.filter((pause) => pause !== null);
    expect(known).toHaveLength(9);
    expect(known).toEqual(known.toSorted((a, b) => a - b));
    const days = known.reduce((sum, pause) => sum + pause, 0) / DAY;
    expect(days).toBeGreaterThan(3);
    expect(days).toBeLessThan(3.3);
  });

  it("is longer by a fifth at most, by chance", () => {
    expect(pauseAfter(1, { chance: 0, retryAfterMs: null })).toBe(5_000);
    expect(pauseAfter(1, { chance: 1, retryAfterMs: null })).toBe(6_000);
  });

  it("is as long as the endpoint wishes, within an hour, and never shorter than planned", () => {
    expect(pauseAfter(1, { chance: 0, retryAfterMs: 60_000 })).toBe(60_000);
    expect(pauseAfter(1, { chance: 0, retryAfterMs: 10 * 3_600_000 })).toBe(3_600_000);
    expect(pauseAfter(4, { chance: 0, retryAfterMs: 60_000 })).toBe(2 * 3_600_000);
  });
});

describe("retryAfterMs", () => {
  it("reads seconds and dates, and nothing else", () => {
    expect(retryAfterMs("120", now)).toBe(120_000);
    expect(retryAfterMs("Tue, 11 Aug 2026 09:31:00 GMT", now)).toBe(60_000);
    expect(retryAfterMs("Tue, 11 Aug 2026 09:00:00 GMT", now)).toBe(0);
    for (const odd of ["soon", "-5", "", undefined]) expect(retryAfterMs(odd, now)).toBeNull();
  });
});

describe("verdictOn", () => {
  const failing = (days: number, failures = 30, warnedDays = 0) =>
    verdictOn({ failingSince: new Date(now.getTime() - days * DAY), failures, warnedDays }, now);

  it("warns at day 1 and day 3, once each, and ends after five days and twenty failures", () => {
    expect(failing(0.9)).toEqual({ isOver: false, warnDays: null });
    expect(failing(1)).toEqual({ isOver: false, warnDays: 1 });
    expect(failing(2.9, 30, 1)).toEqual({ isOver: false, warnDays: null });
    expect(failing(3, 30, 1)).toEqual({ isOver: false, warnDays: 3 });
    expect(failing(4, 30, 3)).toEqual({ isOver: false, warnDays: null });
    expect(failing(5, 19, 3)).toEqual({ isOver: false, warnDays: null });
    expect(failing(5, 20, 3)).toEqual({ isOver: true, warnDays: null });
  });
});

describe("isMeant", () => {
  it("knows *, families and types", () => {
    expect(isMeant("payment.completed", ["*"])).toBe(true);
    expect(isMeant("payment.completed", ["refund.*", "payment.*"])).toBe(true);
    expect(isMeant("payment.completed", ["payment.completed"])).toBe(true);
    expect(isMeant("payment_link.created", ["payment.*"])).toBe(false);
    expect(isMeant("payment.completed", ["payment"])).toBe(false);
    expect(isMeant("x402.resource.registered", ["x402.*"])).toBe(true);
    expect(isMeant("x402.resource.registered", ["x402.resource.*"])).toBe(true);
  });
});

describe("the states of a delivery", () => {
  it("are led by the table, and by nothing else", () => {
    for (const from of deliveryStates)
      for (const trigger of deliveryTriggers) {
        const to = deliveryTransitions[from][trigger];
        if (to) expect(advance(from, trigger)).toBe(to);
        else expect(() => advance(from, trigger)).toThrow(/cannot/);
      }
  });
});

describe("a seal", () => {
  it("opens what it closed, for the same owner, and nothing that was changed", () => {
    const seal = createSeal("a master secret", systemRandom);
    const secret = seal.make();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const sealed = seal.close(secret, "whe_1");
    expect(seal.open(sealed, "whe_1")).toBe(secret);
    expect(seal.close(secret, "whe_1")).not.toBe(sealed);
    expect(() => seal.open(sealed, "whe_2")).toThrow();
    expect(() => createSeal("another", systemRandom).open(sealed, "whe_1")).toThrow();
    const changed = `${sealed.slice(0, -2)}${sealed.endsWith("00") ? "01" : "00"}` as typeof sealed;
    expect(() => seal.open(changed, "whe_1")).toThrow();
  });
});

describe("what is sent", () => {
  const row = {
    ...{ merchantId: "mer_1", id: "evt_01K2C0Z0000000000000000000" as const, type: "payment.completed" },
    ...{ sequence: 7, subject: "clr_1", apiVersion: "2026-11-01", occurredAt: now, createdAt: now },
    data: { object: { id: "pi_1", summary: "new name" }, previous: null },
  };

  it("is signed over id, time and body: the HMAC that the specification describes", () => {
    const key = Buffer.alloc(32, 7);
    const secret = `whsec_${key.toString("base64")}`;
    const headers = signedHeaders({ id: row.id, body: "{}", at: now }, [secret, secret]);
    const mac = createHmac("sha256", key).update(`${row.id}.1786440600.{}`).digest("base64");
    expect(headers).toEqual({
      "content-type": "application/json",
      "webhook-id": row.id,
      "webhook-timestamp": "1786440600",
      "webhook-signature": `v1,${mac} v1,${mac}`,
    });
  });

  it("has the revision that the endpoint pinned, as far as the event's own goes back", () => {
    const revisions = [
      {
        date: "2026-11-01",
        down: ({ route, body }: { route: string; body: unknown }) => {
          const { object, ...rest } = body as { object: { summary: string } };
          const { summary, ...others } = object;
          expect(route).toBe("EVENT payment.completed");
          return { object: { ...others, description: summary }, ...rest };
        },
      },
    ];
    const sent = (pinned: string) => JSON.parse(bodyFor(row, pinned, revisions));
    expect(sent("2026-08-11")).toMatchObject({
      apiVersion: "2026-08-11",
      data: { object: { id: "pi_1", description: "new name" } },
    });
    expect(sent("2026-11-01")).toMatchObject({ apiVersion: "2026-11-01", data: row.data });
    expect(sent("2027-01-01")).toMatchObject({ apiVersion: "2026-11-01", data: row.data });
  });

  it("is brought back from the revision it was written in, not from those that came after", () => {
    const revisions = ["2026-12-01", "2026-11-01", "2026-10-01"].map((date) => ({
      date,
      down: ({ body }: { body: unknown }) => ({ ...(body as object), [date]: "undone" }),
    }));
    const { data } = JSON.parse(bodyFor(row, "2026-10-01", revisions));
    expect(data).toEqual({ ...row.data, "2026-11-01": "undone" });
  });
});
