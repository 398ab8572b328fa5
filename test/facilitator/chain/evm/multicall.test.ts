import fc from "fast-check";
import { decodeFunctionResult, encodeFunctionData, encodeFunctionResult, multicall3Abi } from "viem";
import { describe, expect, it } from "vitest";
import type { Address, Hex } from "#kernel/bytes";
import { packAggregate3, unpackCalls, unpackResults } from "../../../../facilitator/chain/evm/multicall.ts";

const functionName = "aggregate3";
const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;
const anyData = fc.uint8Array({ maxLength: 400 }).map(hexOf);
const anyAddress = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => hexOf(bytes) as Address);
const anyCalls = fc.array(fc.record({ to: anyAddress, data: anyData }), { maxLength: 12 });
const anyResults = fc.array(fc.record({ success: fc.boolean(), data: anyData }), { maxLength: 12 });

const encodedResults = (results: readonly { success: boolean; data: Hex }[]) =>
  encodeFunctionResult({
    abi: multicall3Abi,
    functionName,
    result: results.map(({ success, data }) => ({ success, returnData: data })),
  });

describe("packAggregate3", () => {
  it("makes the bytes that viem makes", () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const args = calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }));
        expect(packAggregate3(calls)).toBe(
          encodeFunctionData({ abi: multicall3Abi, functionName, args: [args] }),
        );
      }),
    );
  });

  it("is undone by unpackCalls", () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        expect(unpackCalls(packAggregate3(calls))).toEqual(calls);
      }),
    );
  });
});

describe("unpackCalls", () => {
  it("refuses a batch in which one call must not fail", () => {
    const args = [[{ target: `0x${"12".repeat(20)}`, allowFailure: false, callData: "0x1234" }]] as const;
    expect(unpackCalls(encodeFunctionData({ abi: multicall3Abi, functionName, args }))).toBeNull();
  });

  it("refuses every batch that was changed by a byte, cut or extended, unless it is another whole batch", () => {
    const spoil = fc.tuple(anyCalls, fc.nat(), fc.nat(255), fc.constantFrom("change", "cut", "extend"));
    fc.assert(
      fc.property(spoil, ([calls, place, byte, how]) => {
        const good = Buffer.from(packAggregate3(calls).slice(2), "hex");
        const at = place % good.length;
        const spoilt =
          how === "cut"
            ? good.subarray(0, at)
            : how === "extend"
              ? Buffer.concat([good, Buffer.of(byte)])
              : good;
        if (how === "change") spoilt[at] = byte;
        const read = unpackCalls(hexOf(spoilt));
        expect(read === null || packAggregate3(read) === hexOf(spoilt)).toBe(true);
        if (how !== "change") expect(read).toBeNull();
      }),
    );
  });
});

describe("unpackResults", () => {
  it("reads what viem encodes", () => {
    fc.assert(
      fc.property(anyResults, (results) => {
        expect(unpackResults(encodedResults(results), results.length)).toEqual(results);
      }),
    );
  });

  it("refuses an answer to another number of calls", () => {
    const answer = encodedResults([{ success: true, data: "0x01" }]);
    expect(() => unpackResults(answer, 2)).toThrow("malformed answer");
  });

  it("refuses or reads, but never invents, when the answer is cut", () => {
    fc.assert(
      fc.property(anyResults, fc.nat(), (results, place) => {
        const answer = encodedResults(results);
        const cut = answer.slice(0, place % answer.length) as Hex;
        let read: unknown;
        try {
          read = unpackResults(cut, results.length);
        } catch (error) {
          expect(String(error)).toContain("malformed answer");
          return;
        }
        expect(read).toEqual(results); // only padding was cut
      }),
    );
  });

  it("agrees with viem about an answer in viem's own tongue", () => {
    const answer = encodedResults([{ success: false, data: "0xe450d38c" }]);
    const [viems] = decodeFunctionResult({ abi: multicall3Abi, functionName, data: answer });
    expect(unpackResults(answer, 1)).toEqual([{ success: viems?.success, data: viems?.returnData }]);
  });
});
