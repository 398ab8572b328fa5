/** What a process says of its chains while the database does not tell. */
import { expect, it } from "vitest";
import type { Engine } from "#facilitator";
import { workingChains } from "../../../facilitator/settlement/working.ts";
import { manualClock } from "../../support/manual-clock.ts";

const FOLLOWED = { chain_id: "31337", halted: false, works: true };

/** The database answers each read with what is left of these: rows, or nothing at all. */
function chainsNow(...answers: readonly (readonly unknown[] | "away")[]) {
  const left = [...answers];
  const clock = manualClock();
  const execute = async () => {
    const rows = left.shift();
    if (!Array.isArray(rows)) throw new Error("the connection was lost");
    return { rows };
  };
  const engine = { clock, chains: new Map([[31_337, {}]]), db: { pool: { execute } } } as unknown as Engine;
  return { clock, read: workingChains(engine) };
}

it("takes no payments on a chain of which nothing could be read so far: perhaps nobody follows it", async () => {
  const { clock, read } = chainsNow("away", [FOLLOWED]);
  expect([...(await read()).closed]).toEqual([31_337]);
  await clock.advance(100);
  expect([...(await read()).closed]).toEqual([]);
});

it("goes by what it read last while the database is away", async () => {
  const { clock, read } = chainsNow([FOLLOWED], "away");
  await read();
  await clock.advance(1_000);
  const { working, closed } = await read();
  expect([[...working], [...closed]]).toEqual([[31_337], []]);
});
