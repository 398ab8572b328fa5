import { expect, it } from "vitest";
import { exactEvm } from "../../../facilitator/scheme/exact-evm/exact-evm.ts";
import { schemeFor } from "../../../facilitator/scheme/index.ts";

it("offers exact on EVM chains", () => {
  expect(schemeFor("exact", "eip155")).toBe(exactEvm);
});

it.each([
  ["upto", "eip155"],
  ["exact", "solana"],
  ["Exact", "eip155"],
  ["", ""],
])("offers no %j on %j", (scheme, family) => {
  expect(schemeFor(scheme, family)).toBe(null);
});
