/** What an operator does by hand, on the command line of a deployment that runs. */
import { describe, expect, it } from "vitest";
import { address, checksum } from "#kernel/bytes";
import { newKey } from "../support/authorization.ts";
import { sharedMerchant, sharedWorld, until } from "../support/house.ts";
import { ledgerOf } from "../support/records.ts";
import { expectAtRest, newPayment, transfer } from "../support/scene.ts";
import { type Ended, farebox } from "./service.ts";

const world = sharedWorld({ settings: { maxWaitMs: 2_000 } });
const merchant = sharedMerchant(world);

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
const health = async () => (await world.house.sources.health()).chains[0];
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
    await until(async () => (await health())?.lanes[0]?.state === "quarantined", "it is quarantined");
    expect(await pay()).toMatchObject({ success: false, errorReason: "settlement_pending" });
    expect(await run("lanes", "resume", "local", lane())).toMatchObject({
      code: 0,
      stdout: `${checksum(lane().toLowerCase() as never)} on local signs again, from nonce ${await nextNonce()} on\n`,
    });
    await until(async () => (await pay()).success === true, "it sends");
  });

  it("signs nothing more while it is quarantined by hand", async () => {
    expect(await run("lanes", "quarantine", "local", lane())).toMatchObject({ code: 0 });
    await until(async () => (await pay()).success === false, "it has heard of it");
    const quiet = await nextNonce();
    expect(await pay()).toMatchObject({ errorReason: "settlement_pending" });
    expect(await nextNonce()).toBe(quiet);
    expect(await run("lanes", "resume", "local", lane())).toMatchObject({ code: 0 });
  });

  it("one whose key left the configuration is listed as removed, and is no trouble, quarantined or not", async () => {
    const removed = newKey().address;
    await world.database.query(
      `INSERT INTO signer (chain_id, address, next_nonce, state) VALUES ($1, decode($2, 'hex'), 3, 'quarantined')`,
      [world.dev.anvil.chainId, removed.slice(2)],
    );
    const { code, stdout } = await run("lanes", "list");
    expect(code).toBe(0);
    expect(stdout.split("\n")).toContain(`local  ${removed}  removed  free  0  -`);
    const { lanes } = (await health()) ?? {};
    expect(lanes?.map(({ address, isConfigured }) => [address, isConfigured])).toEqual(
      [
        [lane().toLowerCase(), true],
        [removed, false],
      ].sort(),
    );
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

describe("settlements", () => {
  it("are told with what became of them, and what was signed for them, by id and by transaction", async () => {
    const { transaction, extra, payer } = await pay();
    await expectAtRest(world);
    const { code, stdout } = await run("settlements", "inspect", extra.paymentId);
    expect(code).toBe(0);
    const [first, ...lines] = stdout.trimEnd().split("\n");
    expect(first).toBe(`${extra.paymentId}  x402  final  0.010000 USDC  local`);
    expect(lines.find((line) => line.startsWith("  from"))).toBe(`  from    ${payer}`);
    expect(lines.find((line) => line.startsWith("  paid by"))).toMatch(
      new RegExp(`^  paid by ${transaction}, block \\d+, log \\d+$`),
    );
    const instant = "\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z";
    for (const state of ["claimed", "submitting", "included", "final"])
      expect(lines.filter((line) => new RegExp(`^  ${instant}  ${state}  .`).test(line))).toHaveLength(1);
    expect(lines.at(-1)).toMatch(
      new RegExp(`^  ${instant}  ${transaction}  nonce \\d+ of 0x.{40}, .*, in block \\d+$`),
    );
    expect((await run("settlements", "inspect", transaction)).stdout).toBe(stdout);
  });

  it("says what is none", async () => {
    for (const ref of [`stl_${"0".repeat(26)}`, `0x${"12".repeat(32)}`, "hello"])
      expect(await run("settlements", "inspect", ref)).toMatchObject({
        code: 1,
        stderr: `${ref} is no settlement of this deployment, and no transaction of one.\n`,
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

describe("outflows", () => {
  const nobody = `0x${"34".repeat(20)}`;
  /** Blocks come until what is there now is final. */
  const untilFinal = async () => {
    const { number } = await world.dev.chain.head();
    await world.dev.anvil.rpc("anvil_mine", ["0x5"]);
    await until(async () => ((await health())?.finalized ?? 0) >= number, "its block is final");
  };
  const balance = async (path: string) =>
    (
      await world.database.query<{ left: string }>(
        `SELECT credits_posted - debits_posted AS left FROM ledger_balance JOIN ledger_account ON id = account_id WHERE path LIKE $1`,
        [path],
      )
    )[0]?.left;

  it("what left by no order of ours is booked on whom an operator names, once; then books and chain are equal", async () => {
    await expectAtRest(world);
    expect(await run("outflows", "list")).toMatchObject({ code: 0, stdout: "" });
    const before = Number(await balance(`liability:merchant:${merchant.id}:available`));
    const hash = await transfer(world, world.dev.contracts.treasury.address, nobody, 5_000n);
    await until(async () => (await world.house.operate.strayOutflows()).length > 0, "it is seen");
    const { stdout } = await run("outflows", "list");
    const [chain, transaction, log = "", amount, token, recipient, , sender] = stdout.trimEnd().split("  ");
    expect([chain, transaction, amount, token, recipient, sender]).toEqual([
      "local",
      hash,
      "0.005000",
      checksum(world.dev.usdc),
      checksum(nobody as never),
      checksum(address(world.dev.contracts.treasury.address)),
    ]);
    const book = (...more: string[]) =>
      run("outflows", "book", "local", hash, log, "--reason", "asked for in May", ...more);
    expect(await book()).toMatchObject({ code: 1, stderr: expect.stringContaining("not final yet") });
    // in the last final block it lies there still
    expect((await world.house.reconcile()).filter(({ status }) => status !== "equal")).toEqual([]);
    await untilFinal();
    expect(await book("--merchant", "mer_nobody")).toMatchObject({
      code: 1,
      stderr: `Log ${log} of ${hash} is more than that merchant may spend. See farebox trial-balance.\n`,
    });
    expect((await world.house.reconcile()).filter(({ status }) => status === "different")).toHaveLength(1);
    expect(await book("--merchant", merchant.id)).toMatchObject({ code: 0 });
    expect((await world.house.reconcile()).filter(({ status }) => status !== "equal")).toEqual([]);
    expect(Number(await balance(`liability:merchant:${merchant.id}:available`))).toBe(before - 5_000);
    expect(await ledgerOf(world.database, hash)).toEqual(["single out merchant → treasury 5000"]);
    expect(await world.database.query("SELECT merchant_id, reason FROM outflow_booking")).toEqual([
      { merchant_id: merchant.id, reason: "asked for in May" },
    ]);
    expect(await book()).toMatchObject({ code: 1, stderr: expect.stringContaining("waits for a word") });
    expect(await run("outflows", "list")).toMatchObject({ code: 0, stdout: "" });
    await expectAtRest(world);
  });

  it("what was ours is ours no more", async () => {
    const hash = await transfer(world, world.dev.contracts.treasury.address, nobody, 7n);
    await until(async () => (await world.house.operate.strayOutflows()).length > 0, "it is seen");
    const log = `${(await world.house.operate.strayOutflows())[0]?.logIndex}`;
    await untilFinal();
    expect(await run("outflows", "book", "local", hash, log, "--reason", "to the bank")).toMatchObject({
      code: 0,
    });
    expect(await ledgerOf(world.database, hash)).toEqual(["single out funding → treasury 7"]);
    await expectAtRest(world);
  });

  it("says what is no transaction, no log, and no chain", async () => {
    const hash = `0x${"ab".repeat(32)}`;
    for (const [given, said] of [
      [["local", "0x12", "1"], "0x12 is no transaction."],
      [["local", hash, "x"], "x is no log."],
      [["base", hash, "1"], `Log 1 of ${hash} is no transfer out`],
    ] as const)
      expect(await run("outflows", "book", ...given, "--reason", "none")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(said),
      });
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
