import { describe, expect, it } from "vitest";
import { gate } from "#kernel/gate";

/** Work that ends when it is told to. */
function job() {
  let end: (error?: Error) => void = () => {};
  const state = { began: false };
  const run = () => {
    state.began = true;
    return new Promise<string>((resolve, reject) => {
      end = (error) => (error ? reject(error) : resolve("done"));
    });
  };
  return { run, state, end: (error?: Error) => end(error) };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("gate", () => {
  it("lets so many in, and the next one in its turn when one leaves, however it leaves", async () => {
    const { enter, size } = gate(2);
    const jobs = [job(), job(), job(), job()] as const;
    const ends = jobs.map(({ run }) => enter(run).catch((error: Error) => error.message));
    const begun = () => jobs.map(({ state }) => state.began);
    expect([begun(), size()]).toEqual([[true, true, false, false], 4]);
    jobs[1].end(new Error("no"));
    await settled();
    expect([begun(), size()]).toEqual([[true, true, true, false], 3]);
    jobs[0].end();
    jobs[2].end();
    await settled();
    expect([begun(), size()]).toEqual([[true, true, true, true], 1]);
    jobs[3].end();
    expect(await Promise.all(ends)).toEqual(["done", "no", "done", "done"]);
    expect(size()).toBe(0);
  });
});
