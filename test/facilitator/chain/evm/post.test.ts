import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { postTo } from "../../../../facilitator/chain/evm/post.ts";
import { type FakeNode, type NodeAnswer, startFakeNode } from "../../../support/fake-node.ts";

const WITHIN_MS = 300;
const call = { method: "test_ask", params: [] };

let node: FakeNode;
afterEach(() => node.stop());

async function ask(script: () => NodeAnswer | Promise<NodeAnswer>) {
  node = await startFakeNode(script);
  return postTo(node.url, WITHIN_MS)(call);
}

function beBusy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe("an endpoint that is asked", () => {
  it("is given up when it stays silent", async () => {
    await expect(ask(() => new Promise(() => undefined))).rejects.toMatchObject({ name: "TimeoutError" });
  });

  it("is given up in the end, too, by a process that is busy all the time", async () => {
    const asked = ask(() => new Promise(() => undefined));
    let isOver = false;
    const over = expect(asked)
      .rejects.toMatchObject({ name: "TimeoutError" })
      .finally(() => {
        isOver = true;
      });
    while (!isOver) {
      beBusy(WITHIN_MS / 3);
      await nextTurn();
    }
    await over;
  });

  it("is not taken for silent by a process that had no time to hear it", async () => {
    const asked = ask(() => ({ result: "said" }));
    for (let turn = 0; turn < 3; turn += 1) {
      await nextTurn();
      beBusy(WITHIN_MS + 50);
    }
    expect(await asked).toMatchObject({ result: "said" });
  });
});
