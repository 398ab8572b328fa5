import { expect, it } from "vitest";
import { prometheus } from "../../src/metrics.ts";

it("metrics are served on the address that is set, and on no other", async () => {
  const unread = new Proxy({}, { get: () => async () => ({}) });
  const metrics = await prometheus().listen({ host: "127.0.0.2", port: 0 }, unread as never);
  const answer = await fetch(`http://127.0.0.2:${metrics.port}/metrics`);
  expect([answer.status, await answer.text()]).toEqual([
    200,
    expect.stringContaining("farebox_loop_errors_total"),
  ]);
  await expect(fetch(`http://127.0.0.1:${metrics.port}/metrics`)).rejects.toThrow();
  await metrics.close();
});
