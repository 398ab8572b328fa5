/** What a chain is found to be at boot, where one of its endpoints tells something else than the others. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { address } from "#kernel/bytes";
import { openEvmChain } from "../../../../facilitator/chain/evm/index.ts";
import { checkRails, checkRouter, recheckRails } from "../../../../facilitator/chain/rails.ts";
import { chainRow, MULTICALL3 } from "../../../../facilitator/chain/registry.ts";
import { newKey } from "../../../support/authorization.ts";
import { type DevChain, silentLog, startDevChain } from "../../../support/dev-chain.ts";
import { type FakeNode, type NodeAnswer, startFakeNode } from "../../../support/fake-node.ts";

let dev: DevChain;
/** Answers some methods otherwise than the node behind it. */
let liar: FakeNode;
let lies: Readonly<Record<string, NodeAnswer>> = {};
let honest: readonly FakeNode[];
const problems: string[] = [];
const log = { ...silentLog, warn: (_: unknown, text: string) => void problems.push(text) };

beforeAll(async () => {
  dev = await startDevChain();
  const ask = async (method: string, params: readonly unknown[]) => ({
    result: await dev.anvil.rpc(method, params),
  });
  liar = await startFakeNode(async (method, params) => lies[method] ?? ask(method, params));
  honest = await Promise.all([startFakeNode(ask), startFakeNode(ask)]);
});
afterAll(async () => {
  for (const node of [liar, ...(honest ?? [])]) await node?.stop();
  await dev?.stop();
});
afterEach(() => {
  lies = {};
  problems.length = 0;
});

/** The liar is asked first. */
const opened = (others: number) =>
  openEvmChain({
    row: chainRow({
      ...dev.config,
      rpcUrls: [liar.url, ...honest.slice(0, others).map(({ url }) => url)],
      router: dev.contracts.router,
    }),
    log,
  });
const NO_CODE = { eth_getCode: { result: "0x" } };
const DOWN = { eth_getCode: { http: { status: 500, body: "" } } };
const operator = () => address(dev.contracts.operator.address);

describe("one endpoint of three that says there is no code", () => {
  it("is outvoted about Multicall3, the router and the tokens", async () => {
    lies = NO_CODE;
    const chain = await opened(2);
    expect(chain.row).toMatchObject({ multicall: MULTICALL3, batchLimit: expect.any(Number) });
    expect(chain.row.batchLimit).toBeGreaterThan(1);
    expect(await checkRouter(chain, operator())).toBeNull();
    expect((await checkRails(chain)).map(({ ok }) => ok)).toEqual([true, true, true]);
    expect(problems).toEqual([]);
  });
});

describe.each([
  ["says there is no code", NO_CODE],
  ["is silent", DOWN],
])("one endpoint of two that %s", (_, lie) => {
  it("takes no Multicall3 away, as long as no other says so too", async () => {
    lies = lie;
    const chain = await opened(1);
    expect(chain.row.multicall).toBe(MULTICALL3);
    expect(problems).toEqual([
      "whether Multicall3 is there could not be heard from two endpoints alike: it is taken as configured",
    ]);
  });

  it("leaves open whose the router is", async () => {
    const chain = await opened(1);
    lies = lie;
    await expect(checkRouter(chain, operator())).rejects.toMatchObject({ code: "chain_unavailable" });
  });

  it("keeps tokens from being taken until both say the same of them", async () => {
    const chain = await opened(1);
    lies = lie;
    const refused = await checkRails(chain);
    expect(refused).toMatchObject(
      Array(3).fill({
        ok: false,
        problem: expect.stringMatching(/could not be heard from its endpoints alike/),
      }),
    );
    lies = {};
    const taken = await recheckRails(chain, refused);
    expect(taken).toMatchObject(Array(3).fill({ ok: true, paused: null }));
    expect(taken).toEqual(await checkRails(chain));
  });
});

it("a rail that was refused is refused as long as its contract is not what is listed", async () => {
  const row = chainRow({ ...dev.config, rpcUrls: [liar.url] });
  const contract = newKey().address;
  const tokens = row.tokens.slice(0, 1).map((token) => ({ ...token, contract }));
  const chain = await openEvmChain({ row: { ...row, tokens }, log });
  const refused = await checkRails(chain);
  expect(refused).toMatchObject([{ ok: false }]);
  expect(await recheckRails(chain, refused)).toEqual(refused);
});
