import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it, onTestFinished } from "vitest";
import { checksum } from "#kernel/bytes";
import { post as postEntries, resolvePending, templates } from "#ledger";
import { loadArtifacts } from "../../contracts/index.ts";
import { deriveKey } from "../../src/keys.ts";
import { payment } from "../facilitator/ledger/rows.ts";
import { atPort, databaseAt } from "../support/database-at.ts";
import { freshDatabase } from "../support/db.ts";
import { startDevChain } from "../support/dev-chain.ts";
import { newMerchant, post, startHouse, startWorld, until } from "../support/house.ts";
import { merchantWithPayouts } from "../support/payouts.ts";
import { programs } from "../support/programs.ts";
import { stateOf } from "../support/records.ts";
import { newPayment, submitAsStranger } from "../support/scene.ts";
import { shared } from "../support/shared.ts";
import { commandLine, MASTER_SECRET, shown } from "./command-line.ts";
import { dataFolder, farebox } from "./service.ts";

const { database, settings, run } = commandLine();

describe("trial-balance", () => {
  it("prints every account, posted and pending, and exits 0 while the books balance", async () => {
    const paid = payment("one", { asset: "USDC@local" });
    await database.db.tx(async (tx) => {
      await postEntries(tx, [templates.x402Credited(paid)]);
      await resolvePending(tx, "post", [templates.x402EventKey(paid)]);
      await postEntries(tx, [
        templates.x402Credited(payment("two", { asset: "USDC@local", gross: 1_230_000n, fee: 0n })),
      ]);
      const spent = {
        chain: "local",
        signer: "0xab",
        nonce: 0,
        asset: "ETH@local",
        wei: 21_000n,
        blockNumber: 1,
      };
      await postEntries(tx, [templates.gasSpent(spent)]);
    });
    const { code, stdout, stderr } = await run("trial-balance");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.trim().split(/\s+/)),
    ).toEqual([
      ["ETH@local", "-0.000000000000021000", "0.000000000000000000", "asset:gas:local"],
      ["ETH@local", "0.000000000000021000", "0.000000000000000000", "expense:gas:local"],
      ["USDC@local", "0.010000", "1.230000", "asset:treasury:local"],
      ["USDC@local", "0.000050", "0.000000", "income:fees"],
      ["USDC@local", "0.009950", "1.230000", "liability:merchant:mer_one:available"],
    ]);
  });

  it("names the asset whose books do not balance, and exits 1", async () => {
    await database.query(
      "UPDATE ledger_balance SET debits_posted = debits_posted + 3 WHERE account_id = (SELECT id FROM ledger_account WHERE path = 'asset:treasury:local')",
    );
    const { code, stdout } = await run("trial-balance");
    expect(code).toBe(1);
    expect(stdout.split("\n").filter((line) => line.startsWith("IMBALANCE"))).toEqual([
      "IMBALANCE USDC@local 6",
    ]);
  });
});

describe("reconcile", () => {
  it("prints ledger and chain side by side for every asset, and exits 1 on a difference", async () => {
    const [dev, books] = await Promise.all([startDevChain(), freshDatabase()]);
    onTestFinished(async () => void (await Promise.all([dev.stop(), books.drop()])));
    const here = { ...settings(), DATABASE_URL: books.url, FAREBOX_CHAINS: JSON.stringify([dev.config]) };
    expect(await farebox(here, "reconcile")).toMatchObject({
      code: 0,
      stdout: "No chain has been followed yet.\n",
    });
    // given a treasury with money that was followed from its opening on
    await dev.administer("mint", [dev.contracts.treasury.address, 1_500_000n]);
    await dev.anvil.mine(3);
    await (await startHouse(dev, books)).stop();
    const block = async () =>
      (await books.query<{ at: string }>("SELECT finalized_number AS at FROM observer"))[0]?.at ?? "";
    await books.query("UPDATE observer SET finalized_number = start_block");
    const equal = await farebox(here, "reconcile");
    expect(equal).toMatchObject({ code: 0, stderr: "" });
    expect(shown(equal).map((line) => line.split(/\s+/))).toEqual([
      ["asset", "place", "ledger", "waiting", "chain", "difference", "block", "status"],
      ["USDC@local", "treasury", "1.500000", "0.000000", "1.500000", "0.000000", await block(), "equal"],
      ["EURC@local", "treasury", "0.000000", "0.000000", "0.000000", "0.000000", await block(), "equal"],
      ["USDG@local", "treasury", "0.000000", "0.000000", "0.000000", "0.000000", await block(), "equal"],
    ]);
    // when money comes that nobody books
    await dev.administer("mint", [dev.contracts.treasury.address, 2n]);
    await books.query("UPDATE observer SET finalized_number = $1", [(await dev.chain.head()).number]);
    const different = await farebox(here, "reconcile");
    expect(different.code).toBe(1);
    expect(shown(different)[1]?.split(/\s+/)).toEqual([
      ...["USDC@local", "treasury", "1.500000", "0.000000", "1.500002"],
      ...["0.000002", await block(), "different"],
    ]);
    expect(await books.query("SELECT asset, status FROM reconciliation ORDER BY id DESC LIMIT 3")).toEqual([
      { asset: "USDG@local", status: "equal" },
      { asset: "EURC@local", status: "equal" },
      { asset: "USDC@local", status: "different" },
    ]);
    // and once it was seen to come, and only waits to be booked
    await books.query(
      `INSERT INTO chain_transfer (chain_id, block_number, block_hash, tx_hash, log_index, token, sender, recipient, amount,
         block_time, canonical, ordinal)
       SELECT chain_id, finalized_number, cursor_hash, cursor_hash, 0, $1, $1, $2, 2, now(), true, 0 FROM observer`,
      [dev.usdc, dev.contracts.treasury.address].map((hex) => Buffer.from(hex.slice(2), "hex")),
    );
    const waiting = await farebox(here, "reconcile");
    expect(waiting.code).toBe(0);
    expect(shown(waiting)[1]?.split(/\s+/)).toEqual([
      ...["USDC@local", "treasury", "1.500000", "0.000002", "1.500002", "0.000000", await block(), "equal"],
    ]);
  });
});

describe("reviews list, accept, return", () => {
  it("list the payments that wait for a person, exit 1, and decide about one", async () => {
    const world = await startWorld();
    onTestFinished(() => world.stop());
    const here = {
      ...settings(),
      DATABASE_URL: world.database.url,
      FAREBOX_CHAINS: JSON.stringify([world.dev.config]),
    };
    expect(await farebox(here, "reviews", "list")).toMatchObject({ code: 0, stdout: "", stderr: "" });
    // given a payment that was verified for one thing, submitted by a stranger, and claimed for another
    const merchant = await newMerchant(world);
    const paid = await newPayment(world, merchant);
    await paid.verify();
    const strangers = await submitAsStranger(world, paid.signed.call);
    const other = await merchant.register();
    const { body } = await post(world.baseUrl, `/x402/resources/${other.id}/settle`, paid.body);
    const id = body.extra.paymentId as string;
    const listed = await farebox(here, "reviews", "list");
    expect(listed).toMatchObject({ code: 1, stderr: "" });
    expect(shown(listed).map((line) => line.split("  ").slice(0, 7))).toEqual([
      [
        id,
        "0.010000",
        checksum(world.dev.usdc),
        checksum(paid.payer.address),
        merchant.id,
        other.id,
        strangers,
      ],
    ]);
    expect(await farebox(here, "reviews", "accept", id)).toMatchObject({
      code: 0,
      stdout: `${id} is accepted\n`,
    });
    for (const verb of ["accept", "return"])
      expect(await farebox(here, "reviews", verb, id)).toMatchObject({
        code: 1,
        stderr: `${id} waits for nobody. See farebox reviews list.\n`,
      });
    await until(async () => (await stateOf(world.database, paid.nonce)) !== "claimed", "it goes on");
    expect(await farebox(here, "reviews", "list")).toMatchObject({ code: 0, stdout: "" });
  });
});

describe("approvals list, give", () => {
  it("list what waits for an operator, exit 1, and let it leave", async () => {
    const config = { approvalsAbove: { USDC: "0.005" } };
    const world = await startWorld(config);
    onTestFinished(() => world.stop());
    const chains = JSON.stringify([{ ...world.dev.config, ...config }]);
    const here = { ...settings(), DATABASE_URL: world.database.url, FAREBOX_CHAINS: chains };
    expect(await farebox(here, "approvals", "list")).toMatchObject({ code: 0, stdout: "", stderr: "" });
    // given a payout of more than leaves by itself
    const { merchant, recipient, payOut, leaves } = await merchantWithPayouts(world);
    await payOut("po_large", 6_000n);
    const listed = await farebox(here, "approvals", "list");
    expect(listed).toMatchObject({ code: 1, stderr: "" });
    expect(shown(listed).map((line) => line.split("  ").slice(0, 6))).toEqual([
      ["po_large", "payout", "0.006000", checksum(world.dev.usdc), checksum(recipient), merchant.id],
    ]);
    expect(await farebox(here, "approvals", "give", "po_large")).toMatchObject({
      code: 0,
      stdout: "po_large may leave\n",
    });
    expect(await farebox(here, "approvals", "give", "po_large")).toMatchObject({
      code: 1,
      stderr: "po_large waits for no approval. See farebox approvals list.\n",
    });
    await leaves("po_large");
    expect(await farebox(here, "approvals", "list")).toMatchObject({ code: 0, stdout: "" });
  });
});

describe("facts dead, facts redeliver", () => {
  it("list what was set aside, exit 1, and have one told again", async () => {
    await database.query("DELETE FROM outbox WHERE id IN ('evt_dead', 'evt_waiting')");
    const none = await run("facts", "dead");
    expect(none).toMatchObject({ code: 0, stdout: "", stderr: "" });
    await database.query(`
      INSERT INTO outbox (id, type, subject, merchant_id, payload, attempts, last_error, retry_at, dead_at)
      VALUES ('evt_dead', 'thing.sold', 'x402r_1', 'mer_1', '{}', 8, 'Error out of paper', now(), '2026-01-02T03:04:05Z'),
        ('evt_waiting', 'thing.sold', 'x402r_1', 'mer_1', '{}', 0, NULL, NULL, NULL)`);
    expect(await run("facts", "dead")).toMatchObject({
      code: 1,
      stdout: "evt_dead  thing.sold  x402r_1  2026-01-02T03:04:05.000Z  8  Error out of paper\n",
    });
    expect(await run("facts", "redeliver", "evt_dead")).toMatchObject({
      code: 0,
      stdout: "evt_dead is told again\n",
    });
    expect(
      await database.query("SELECT id, attempts, retry_at, dead_at FROM outbox WHERE id = 'evt_dead'"),
    ).toEqual([{ id: "evt_dead", attempts: 0, retry_at: null, dead_at: null }]);
    expect(await run("facts", "redeliver", "evt_waiting")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "No fact evt_waiting was set aside. See farebox facts dead.\n",
    });
  });
});

describe("any command", () => {
  const folder = shared(dataFolder, ({ remove }) => remove());

  it("says in one line where it cannot work, exit 1", async () => {
    const nobody = atPort(database.url, 1);
    const local = { FAREBOX_DATA: folder.dataDir };
    const cases: readonly (readonly [env: Record<string, string>, args: readonly string[], says: RegExp])[] =
      [
        [local, ["trial-balance"], /^No deployment is running on .*Start one with npm start/],
        [
          { ...settings(), DATABASE_URL: nobody },
          ["trial-balance"],
          /^The database cannot be reached \(ECONNREFUSED\)\./,
        ],
        [{ ...settings(), DATABASE_URL: nobody }, ["reconcile"], /^The database cannot be reached \(ECONN/],
        [settings(), ["reconcile"], /^The chain local cannot be read\. Its rpcUrls in FAREBOX_CHAINS must/],
        [
          { ...settings(), DATABASE_URL: databaseAt(database.url, "nowhere") },
          ["trial-balance"],
          /^The database of DATABASE_URL cannot be used \(3D000: database "nowhere" does not exist\)\. Set/,
        ],
        [{ ...settings(), FAREBOX_X: "1" }, ["trial-balance"], /^FAREBOX_X is not a setting/],
        [local, ["trial-balanced"], /^error: unknown command 'trial-balanced'/],
      ];
    const ends = await Promise.all(cases.map(([env, args]) => farebox(env, ...args)));
    for (const [index, { code, stdout, stderr }] of ends.entries()) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(cases[index]?.[2] ?? /never/);
      expect(stderr).not.toMatch(/postgres:|^\s+at /m);
    }
  });

  it("goes on where who reads has left, and says where its answer found no room, exit 1", async () => {
    const said = async (command: string) => {
      const shell = `${process.execPath} ${programs.cli} ${command}; echo "exit $?" >&2`;
      const env = { ...process.env, ...settings() };
      return (await promisify(execFile)("sh", ["-c", `{ ${shell}; } | true`], { env })).stderr;
    };
    expect(await said("router")).toBe("exit 0\n");
    expect(await said("router > /dev/full")).toBe(
      "What the command did is done, and not all that it says could be written (ENOSPC).\nexit 1\n",
    );
  });

  it("finds nothing to reset where there is nothing", async () => {
    const done = await farebox({ FAREBOX_DATA: folder.dataDir }, "reset");
    expect(done).toMatchObject({ code: 0, stdout: `nothing to reset: ${folder.dataDir} does not exist\n` });
  });
});

describe("router", () => {
  it("names the operator, and gives the code that makes a router of it as its last line", async () => {
    const done = await run("router");
    expect(done).toMatchObject({ code: 0, stderr: "" });
    const operator = privateKeyToAccount(deriveKey(MASTER_SECRET, "operator")).address;
    const { paymentRouter } = await loadArtifacts();
    expect(shown(done)).toEqual([
      `operator ${operator}`,
      `${paymentRouter.bytecode}${operator.slice(2).toLowerCase().padStart(64, "0")}`,
    ]);
  });
});
