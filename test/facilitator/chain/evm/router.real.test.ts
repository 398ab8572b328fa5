import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Address, address, checksum } from "#kernel/bytes";
import { openEvmChain } from "../../../../facilitator/chain/evm/index.ts";
import { checkRouter } from "../../../../facilitator/chain/rails.ts";
import { chainRow } from "../../../../facilitator/chain/registry.ts";
import { newKey } from "../../../support/authorization.ts";
import { type DevChain, silentLog, startDevChain } from "../../../support/dev-chain.ts";
import { type FakeNode, type NodeAnswer, startFakeNode } from "../../../support/fake-node.ts";

/** operator() */
const OPERATOR = "0x570ca735";

let dev: DevChain;
let relay: FakeNode;
/** What the node says to a call of operator(), where it is not let through. */
let says: NodeAnswer | null = null;
let operator: Address;

beforeAll(async () => {
  dev = await startDevChain();
  relay = await startFakeNode(async (method, params) => {
    const isAsked = method === "eth_call" && (params[0] as { data?: string }).data === OPERATOR;
    return (isAsked && says) || { result: await dev.anvil.rpc(method, params) };
  });
  operator = address(dev.contracts.operator.address);
});
afterAll(async () => {
  await relay?.stop();
  await dev?.stop();
});
afterEach(() => {
  says = null;
});

const chainWith = (router: string | undefined) =>
  openEvmChain({ row: chainRow({ ...dev.config, router, rpcUrls: [relay.url] }), log: silentLog });

describe("checkRouter", () => {
  it("is content with a router of our operator, and where none is set", async () => {
    expect(await checkRouter(await chainWith(dev.contracts.router), operator)).toBeNull();
    expect(await checkRouter(await chainWith(undefined), operator)).toBeNull();
  });

  it("refuses an address without code", async () => {
    const { address: nowhere } = newKey();
    expect(await checkRouter(await chainWith(nowhere), operator)).toBe(
      `the router at ${checksum(nowhere)} on local: expected a contract, got an address without code`,
    );
  });

  it("refuses the router of another operator", async () => {
    const { address: stranger } = newKey();
    const where = `the router at ${dev.contracts.router} on local`;
    expect(await checkRouter(await chainWith(dev.contracts.router), stranger)).toBe(
      `${where}: expected the operator ${checksum(stranger)}, got ${checksum(operator)}`,
    );
  });

  it("refuses a contract that is no router", async () => {
    expect(await checkRouter(await chainWith(dev.usdc), operator)).toMatch(
      /expected the operator .*, got none$/,
    );
  });

  it.each<[string, string]>([
    ["more than an address", `0x01${"00".repeat(31)}`],
    ["two words", `0x${"00".repeat(64)}`],
    ["nothing", "0x"],
  ])("refuses a contract that says %s", async (_, result) => {
    says = { result };
    expect(await checkRouter(await chainWith(dev.contracts.router), operator)).toMatch(/, got none$/);
  });

  it("is an outage, not a verdict, when the node cannot be asked", async () => {
    const chain = await chainWith(dev.contracts.router);
    says = { error: { code: -32603, message: "internal error" } };
    await expect(checkRouter(chain, operator)).rejects.toMatchObject({ code: "chain_unavailable" });
  });
});
