/** What an operator does by hand, on the command line of a deployment that runs. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { checksum } from "#kernel/bytes";
import { newMerchant, startWorld, until } from "../support/house.ts";
import { newPayment } from "../support/scene.ts";
import { type Ended, farebox } from "./service.ts";

vi.setConfig({ testTimeout: 60_000 });

let world: Awaited<ReturnType<typeof startWorld>>;
let merchant: Awaited<ReturnType<typeof newMerchant>>;

beforeAll(async () => {
  world = await startWorld({ settings: { maxWaitMs: 2_000 } });
  merchant = await newMerchant(world);
});
afterAll(() => world.stop());

const run = (...args: readonly string[]): Promise<Ended> =>
  farebox(
    {
      DATABASE_URL: world.database.url,
      FAREBOX_CHAINS: JSON.stringify([world.dev.config]),
      FAREBOX_SIGNER_KEYS: world.dev.contracts.signers[0]?.privateKey ?? "",
      FAREBOX_MASTER_SECRET: "the master secret of an operator",
    },
    ...args,
  );
const pay = async () => (await (await newPayment(world, merchant)).settle()).body;

describe("lanes", () => {
  const lane = () => world.dev.contracts.signers[0]?.address as `0x${string}`;
  const listed = async () => {
    const { code, stdout } = await run("lanes", "list");
    return { code, cells: stdout.trimEnd().split("  ").slice(0, 4) };
  };
  const nextNonce = async () =>
    Number(await world.dev.anvil.rpc("eth_getTransactionCount", [lane(), "latest"]));

  it("one that somebody else used is quarantined, and signs again when an operator says so", async () => {
    expect(await pay()).toMatchObject({ success: true });
    expect(await listed()).toEqual({ code: 0, cells: ["local", lane().toLowerCase(), "active", "held"] });
    await world.dev.transact(lane(), { to: lane() as never, data: "0x" });
    await until(async () => (await listed()).code === 1, "it is quarantined");
    expect(await pay()).toMatchObject({ success: false, errorReason: "settlement_pending" });
    expect(await run("lanes", "resume", "local", lane())).toMatchObject({
      code: 0,
      stdout: `${checksum(lane().toLowerCase() as never)} on local signs again, from nonce ${await nextNonce()} on\n`,
    });
    expect(await listed()).toMatchObject({ code: 0 });
    await until(async () => (await pay()).success === true, "it sends");
  });

  it("signs nothing more while it is quarantined by hand", async () => {
    const before = await nextNonce();
    expect(await run("lanes", "quarantine", "local", lane())).toMatchObject({ code: 0 });
    await until(async () => (await pay()).success === false, "it has heard of it");
    const quiet = await nextNonce();
    expect(await pay()).toMatchObject({ errorReason: "settlement_pending" });
    expect(await nextNonce()).toBe(quiet);
    expect(quiet).toBeGreaterThanOrEqual(before);
    expect(await run("lanes", "resume", "local", lane())).toMatchObject({ code: 0 });
  });

  it("says what is no lane", async () => {
    const nobody = `0x${"12".repeat(20)}`;
    expect(await run("lanes", "resume", "local", nobody)).toMatchObject({
      code: 1,
      stderr: `There is no lane ${checksum(nobody as never)} on local. See farebox lanes list.\n`,
    });
    expect(await run("lanes", "quarantine", "base", lane())).toMatchObject({ code: 1 });
    expect(await run("lanes", "quarantine", "local", "0x12")).toMatchObject({
      code: 1,
      stderr: "0x12 is no address. See farebox lanes list.\n",
    });
  });
});

describe("chains", () => {
  it("one that was halted is followed again when an operator says so", async () => {
    expect(await run("chains", "list")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^local {2}\d+ {2}\d+ {2}- {2}-\n$/),
    });
    expect(await run("chains", "resume", "local")).toMatchObject({
      code: 1,
      stderr: "local is no chain that was halted. See farebox chains list.\n",
    });
    await world.database.query("UPDATE observer SET halted_reason = 'an endpoint lied'");
    await until(async () => (await pay()).success === false, "it is halted");
    expect(await run("chains", "list")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/ {2}an endpoint lied\n$/),
    });
    expect(await run("chains", "resume", "local")).toMatchObject({
      code: 0,
      stdout: "was halted: an endpoint lied\nlocal is followed again\n",
    });
    await until(async () => (await pay()).success === true, "it is followed");
  });
});

describe("restored", () => {
  it("does nothing while a process follows a chain", async () => {
    expect(await run("restored")).toMatchObject({
      code: 1,
      stderr: "A process follows a chain. Stop every process, wait half a minute, and repeat.\n",
    });
  });
});
