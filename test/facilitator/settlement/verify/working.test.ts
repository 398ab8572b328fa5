/** What a process says of its chains while the database does not tell. */
import { expect, it } from "vitest";
import type { Engine } from "#facilitator";
import { workingChains } from "../../../../facilitator/settlement/verify/working.ts";
import { manualClock } from "../../../support/manual-clock.ts";

const USDC = `0x${"c1".repeat(20)}`;
const EURC = `0x${"c2".repeat(20)}`;
const FOLLOWED = { chain_id: "31337", halted: false, works: true, tokens: [USDC] };

/** The database answers each read with what is left of these: rows, or nothing at all. */
function chainsNow(...answers: readonly (readonly unknown[] | "away")[]) {
  const left = [...answers];
  const clock = manualClock();
  const execute = async () => {
    const rows = left.shift();
    if (!Array.isArray(rows)) throw new Error("the connection was lost");
    return { rows };
  };
  const rails = [USDC, EURC].map((contract) => ({ ok: true, token: { contract } }));
  const chains = new Map([[31_337, { rails, laneAddresses: [] }]]);
  const engine = { clock, chains, db: { pool: { execute } } } as unknown as Engine;
  const read = workingChains(engine);
  return { clock, read, taken: async () => [...((await read()).taken.get(31_337) ?? [])] };
}

it("takes no payments on a chain of which nothing could be read so far: perhaps nobody follows it", async () => {
  const { clock, taken } = chainsNow("away", [FOLLOWED]);
  expect(await taken()).toEqual([]);
  await clock.advance(100);
  expect(await taken()).toEqual([USDC]);
});

it("takes none in a token that nobody follows so far, and soon looks again", async () => {
  const { clock, taken } = chainsNow([FOLLOWED], [{ ...FOLLOWED, tokens: [USDC, EURC] }]);
  expect(await taken()).toEqual([USDC]);
  await clock.advance(100);
  expect(await taken()).toEqual([USDC, EURC]);
});

it("takes none on a chain that is halted", async () => {
  const { taken } = chainsNow([{ ...FOLLOWED, halted: true }]);
  expect(await taken()).toEqual([]);
});

it("goes by what it read last while the database is away", async () => {
  const { clock, read, taken } = chainsNow([FOLLOWED], "away");
  await read();
  await clock.advance(1_000);
  expect([...(await read()).working]).toEqual([31_337]);
  expect(await taken()).toEqual([USDC]);
});
