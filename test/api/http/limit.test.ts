import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { memoryCount } from "../../../api/http/limit.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("a steady rate is there again after its second, what may come at once beyond it after ten", async () => {
  const count = memoryCount();
  /** How many of thirty that come at once may pass: of five in a second, and twenty at once. */
  const passing = async (who: string) => {
    let passed = 0;
    for (let i = 0; i < 30; i += 1)
      if ((await count("publishable-key-address", who))?.retryAfterSeconds === null) passed += 1;
    return passed;
  };
  expect(await passing("192.0.2.1")).toBe(20);
  expect(await passing("192.0.2.2")).toBe(20);
  vi.advanceTimersByTime(1_001);
  expect(await passing("192.0.2.1")).toBe(5);
  vi.advanceTimersByTime(10_000);
  expect(await passing("192.0.2.1")).toBe(20);
  // and who is refused is told to come again when the steady rate has room, not the burst
  const refused = await count("publishable-key-address", "192.0.2.1");
  expect(refused).toMatchObject({ remaining: 0, resetSeconds: 1, retryAfterSeconds: 1 });
});
