/** Dust that anybody sends to one deposit address, ten thousand times. */
import { expect, it } from "vitest";
import { book } from "../../../api/clearing/book.ts";

it("is parted with a look or two at each: its transaction must not stand still over it", async () => {
  const order = { id: "ord_1", asset: "USDC", chain: "base", amount: 1_000_000n };
  const clearing = { state: "funds-detected", expiresAt: new Date(Date.now() + 1e6), toleranceBps: 0 };
  const due = { sourceAmount: 1_000_000n, chain: "base", asset: "USDC" };
  let looks = 0;
  const row = {
    ...{ orderId: "ord_1", chain: "base", asset: "USDC", amount: 1n, firstSeenAt: new Date() },
    ...{ toClearing: 0n, toOverpayment: 0n, toUnmatched: 0n },
    get isBooked() {
      looks += 1;
      return false;
    },
  };
  const count = 2_000;
  const seen = Array.from({ length: count }, (_, i) => ({
    ...{ isCanonical: true, isDeep: true },
    row: Object.create(row, { id: { value: `dep_${i}`, enumerable: true } }),
  }));
  let taken = 0;
  const take = async (_: unknown, logs: readonly unknown[]) => {
    taken = logs.length;
    throw new Error("far enough");
  };
  const desk = { facilitator: { deposits: { take } }, newId: () => "x" };
  const booking = { clearing: { ...clearing, ...due }, orders: [order], order, returns: [] };
  await expect(book(null as never, desk as never, booking as never, seen as never)).rejects.toThrow(
    "far enough",
  );
  expect(taken).toBe(count);
  expect(looks / count).toBeLessThan(10);
});
