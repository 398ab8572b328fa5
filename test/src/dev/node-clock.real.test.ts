/** A node that does not mine while something is done to it, and mines on afterwards as it did. */
import { describe, expect, it, onTestFinished } from "vitest";
import { nodeClock } from "../../../src/dev/node-clock.ts";
import { type AnvilOptions, startAnvil } from "../../support/anvil.ts";
import { until } from "../../support/house.ts";

async function started(options: AnvilOptions) {
  const node = await startAnvil(options);
  onTestFinished(node.stop);
  const ask = <T>(method: string, params: readonly unknown[] = []) => node.rpc<T>(method, params);
  return {
    ask,
    still: nodeClock(ask).still,
    mode: async () => [await ask("anvil_getIntervalMining"), await ask("anvil_getAutomine")],
    head: async () => Number(await ask<string>("eth_blockNumber")),
    send: async () => {
      const [from] = await ask<string[]>("eth_accounts");
      return ask<string>("eth_sendTransaction", [{ from, to: from, value: "0x1" }]);
    },
    isMined: async (transaction: string) => (await ask("eth_getTransactionReceipt", [transaction])) !== null,
  };
}

describe.each([
  { name: "a block a second", options: { blockTimeSeconds: 1 }, mode: [1, false] },
  { name: "a block for each transaction", options: {}, mode: [null, true] },
])("a node with $name", ({ options, mode }) => {
  it("mines nothing meanwhile, and afterwards as before", async () => {
    const node = await started(options);
    const waiting = await node.still(async () => {
      expect(await node.mode()).toEqual([null, false]);
      const sent = await node.send();
      expect(await node.isMined(sent)).toBe(false);
      return sent;
    });
    expect(await node.mode()).toEqual(mode);
    await node.send(); // one that mines by transaction takes what waits along with the next
    await until(() => node.isMined(waiting), "it is mined");
  });

  it("mines on where the work failed", async () => {
    const node = await started(options);
    await expect(node.still(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await node.mode()).toEqual(mode);
  });
});

it("a clock that is stopped again and again brings blocks all the same", async () => {
  const node = await started({ blockTimeSeconds: 1 });
  await until(async () => {
    await node.still(async () => undefined);
    return (await node.head()) >= 3;
  }, "three blocks came");
});
