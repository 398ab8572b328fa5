import { decodeFunctionResult, encodeFunctionData, multicall3Abi, parseAbi } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { multicall3Address } from "../../src/dev/deploy.ts";
import { openChain, type TestChain } from "./chain.ts";

const token = parseAbi([
  "function balanceOf(address) view returns (uint256)",
  "function transfer(address, uint256) returns (bool)",
]);

let chain: TestChain;
beforeAll(async () => {
  chain = await openChain();
}, 30_000);
afterAll(() => chain.close(), 30_000);

/** A balance that is there, and a transfer that the contract has no money for. */
function calls(allowFailure: boolean) {
  const { payer, assets } = chain.contracts;
  const read = encodeFunctionData({ abi: token, functionName: "balanceOf", args: [payer.address] });
  const spend = encodeFunctionData({ abi: token, functionName: "transfer", args: [payer.address, 1n] });
  return [
    { target: assets.USDC, allowFailure, callData: read },
    { target: assets.USDC, allowFailure, callData: spend },
  ];
}

describe("aggregate3 at Multicall3's address", () => {
  it("answers per call, with the error of the one that failed", async () => {
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls(true)] });
    const answer = await chain.client.call({ to: multicall3Address, data });
    const results = decodeFunctionResult({
      abi: multicall3Abi,
      functionName: "aggregate3",
      data: answer.data ?? "0x",
    });
    expect(
      results.map(({ success, returnData }) => [
        success,
        success ? BigInt(returnData) : returnData.slice(0, 10),
      ]),
    ).toEqual([
      [true, 1_000_000_000_000n],
      [false, "0xe450d38c"],
    ]);
  });

  it("reverts as a whole when a call that must not fail does", async () => {
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls(false)] });
    await expect(chain.client.call({ to: multicall3Address, data })).rejects.toThrow(
      "Multicall3: call failed",
    );
  });

  it("tells block, time, fee and balance, and serves viem's multicall", async () => {
    const { payer, assets } = chain.contracts;
    const address = multicall3Address;
    const read = { address, abi: multicall3Abi } as const;
    const block = await chain.client.getBlock();
    const [number, timestamp, gas, usdc] = await chain.client.multicall({
      multicallAddress: address,
      blockNumber: block.number,
      allowFailure: false,
      contracts: [
        {
          address,
          abi: parseAbi(["function getBlockNumber() view returns (uint256)"]),
          functionName: "getBlockNumber",
        },
        { ...read, functionName: "getCurrentBlockTimestamp" },
        { ...read, functionName: "getEthBalance", args: [payer.address] },
        { address: assets.USDC, abi: token, functionName: "balanceOf", args: [payer.address] },
      ],
    });
    expect([number, timestamp, gas, usdc]).toEqual([
      block.number,
      block.timestamp,
      100n * 10n ** 18n,
      1_000_000_000_000n,
    ]);
  });
});
