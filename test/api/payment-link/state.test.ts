import { describe, expect, it } from "vitest";
import { type LinkBounds, type LinkUse, obstacleOf, placesLeft } from "../../../api/payment-link/state.ts";
import { now } from "../world.ts";

const later = new Date(now.getTime() + 1);
const bounds: LinkBounds = { kind: "fixed", disabledAt: null, expiresAt: null, maxPayments: null };
const use: LinkUse = { total: 100n, taken: 0, completed: 0, reserved: 0 };
const at = (link: Partial<LinkBounds>, used: Partial<LinkUse> = {}) => ({
  ...use,
  ...used,
  link: { ...bounds, ...link },
});

describe("obstacleOf", () => {
  it.each([
    ["nothing", {}, {}, null],
    ["an end to come", { expiresAt: later }, {}, null],
    ["an end that is now", { expiresAt: now }, {}, "expired"],
    [
      "disabled, whatever else",
      { disabledAt: now, expiresAt: now, maxPayments: 1 },
      { taken: 1 },
      "disabled",
    ],
    ["a place left", { maxPayments: 3 }, { taken: 2, completed: 2 }, null],
    ["places reserved only", { maxPayments: 3 }, { reserved: 3 }, null],
    ["all paid", { maxPayments: 3 }, { taken: 3, completed: 3 }, "paid"],
    ["one under way", { maxPayments: 3 }, { taken: 3, completed: 2 }, "pending"],
    ["many times, unbounded", {}, { taken: 1_000, completed: 1_000 }, null],
    ["a cart without a price", { kind: "cart" }, { total: null }, "unpriced"],
    ["a cart that is free", { kind: "cart" }, { total: 0n }, "unpriced"],
    ["an open amount", { kind: "open" }, { total: null }, null],
  ] as const)("%s", (_, link, used, obstacle) => {
    expect(obstacleOf(at(link, used), now)).toBe(obstacle);
  });
});

describe("placesLeft", () => {
  it("counts what is paid and what can still be confirmed, and never falls below none", () => {
    expect(placesLeft(at({}, { taken: 5 }))).toBeNull();
    expect(placesLeft(at({ maxPayments: 5 }, { taken: 2, reserved: 1 }))).toBe(2);
    expect(placesLeft(at({ maxPayments: 2 }, { taken: 2, reserved: 3 }))).toBe(0);
  });
});
