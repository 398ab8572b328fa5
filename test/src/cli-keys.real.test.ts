import { describe, expect, it, onTestFinished } from "vitest";
import { permissions } from "../../api/http/permissions.ts";
import { hashingKey, keyHmac } from "../../api/merchant/key.ts";
import { commandLine, MASTER_SECRET, shown } from "./command-line.ts";

const { database, run } = commandLine();
const keys = () =>
  database.query(`
    SELECT merchant_id AS merchant, kind, name, permissions, last4, encode(hmac, 'hex') AS hmac FROM api_key ORDER BY created_at`);

describe("keys create", () => {
  let merchant = "";

  it("makes a merchant and a key with the permissions asked for, and shows the key as its last line", async () => {
    const done = await run(
      ...["keys", "create", "--new-merchant", "Café Central", "--city", "Porto", "--country", "PT"],
      ...[
        "--fee-bps",
        "25",
        "--name",
        "till",
        "--permissions",
        `${permissions[0]}, ${permissions[1]},${permissions[0]}`,
      ],
    );
    expect(done).toMatchObject({ code: 0, stderr: "" });
    const [about = "", key = "", ...more] = shown(done);
    expect([about, key, more]).toEqual([
      expect.stringMatching(/^merchant mer_[0-9A-Z]{26}$/),
      expect.stringMatching(/^sk_[0-9A-Za-z]{50}$/),
      [],
    ]);
    merchant = about.slice("merchant ".length);
    expect(
      await database.query("SELECT id, name, city, country_code AS country, fee_bps AS fee FROM merchant"),
    ).toEqual([{ id: merchant, name: "Café Central", city: "Porto", country: "PT", fee: 25 }]);
    expect(await keys()).toEqual([
      {
        merchant,
        kind: "sk",
        name: "till",
        permissions: [permissions[0], permissions[1]],
        last4: key.slice(-4),
        hmac: keyHmac(hashingKey(MASTER_SECRET), key).slice(2),
      },
    ]);
  });

  it("makes further keys of a merchant: with all permissions, or publishable with none", async () => {
    const secret = await run("keys", "create", "--merchant", merchant);
    const publishable = await run("keys", "create", "--merchant", merchant, "--publishable");
    expect([secret.code, publishable.code]).toEqual([0, 0]);
    expect(shown(secret).at(-1)).toMatch(/^sk_/);
    expect(shown(publishable).at(-1)).toMatch(/^pk_/);
    const [, second, third] = await keys();
    expect(second).toMatchObject({ merchant, kind: "sk", permissions: [...permissions] });
    expect(third).toMatchObject({ merchant, kind: "pk", permissions: [] });
  });

  it("says in one line what is wrong, exit 1, and makes nothing", async () => {
    const counts = () =>
      database.query(
        "SELECT (SELECT count(*) FROM merchant) AS merchants, (SELECT count(*) FROM api_key) AS keys",
      );
    const before = await counts();
    const missing = "mer_00000000000000000000000000";
    const inFaro = ["--city", "Faro", "--country", "PT"];
    const cases: readonly (readonly [args: readonly string[], says: RegExp])[] = [
      [["--new-merchant", "A", "--permissions", "everything"], /^everything is not a permission\. Known: /],
      [[], /^Name the merchant with --merchant mer_…, or create one with --new-merchant NAME\.$/],
      [["--merchant", missing, "--new-merchant", "A"], /^Name the merchant with --merchant/],
      [["--merchant", missing], new RegExp(`^There is no merchant ${missing} here\\.`)],
      [["--new-merchant", "A", "--city", "Faro"], /^A new merchant needs --city and --country/],
      [["--new-merchant", "A", ...inFaro, "--fee-bps", "half"], /^The fee is a whole number .*, got half: /],
      [["--new-merchant", "A", ...inFaro, "--fee-bps", "0x10"], /^The fee is a whole number .*, got 0x10: /],
      [["--new-merchant", "A", ...inFaro, "--fee-bps", ""], /^The fee is a whole number /],
      [
        ["--merchant", merchant, "--fee-bps", "50"],
        /^--fee-bps is for a new merchant\. Change .* fee mer_\S+ BPS/,
      ],
      [["--merchant", merchant, "--city", "Faro"], /^--city and --country are for a new merchant/],
      [["--merchant", merchant, "--country", "PT"], /^--city and --country are for a new merchant/],
      [["--merchant", merchant, "--permissions", ""], /^Nothing is not a permission\. Known: /],
      [["--merchant", merchant, "--permissions", `${permissions[0]},`], /^Nothing is not a permission/],
      [["--merchant", merchant, "--name", " "], /^--name is some text of at most 140 characters\.$/],
      [["--merchant", merchant, "--name", "x".repeat(141)], /^--name is some text/],
      [["--new-merchant", "A", "--city", "Faro", "--country", "Portugal"], /^--country: /],
      [
        ["--new-merchant", "A", "--publishable", "--permissions", permissions[0]],
        /^A publishable key has no perm/,
      ],
    ];
    const ends = await Promise.all(cases.map(([args]) => run("keys", "create", ...args)));
    for (const [index, { code, stdout, stderr }] of ends.entries()) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr.trimEnd()).toMatch(cases[index]?.[1] ?? /never/);
      expect(stderr.trimEnd()).not.toContain("\n");
    }
    expect(await counts()).toEqual(before);
  });
});

describe("merchants list, fee, suspend, resume, keys list", () => {
  it("tell who is there, and whose keys are good", async () => {
    const [about = "", first = ""] = shown(
      await run(
        ...["keys", "create", "--new-merchant", "Tea & Co", "--city", "Bath", "--country", "GB"],
        ...["--fee-bps", "50"],
      ),
    );
    const merchant = about.slice("merchant ".length);
    const [, second = ""] = shown(
      await run("keys", "create", "--merchant", merchant, "--publishable", "--name", "web"),
    );
    await run("keys", "revoke", first.slice(3, 15));
    const [merchants, own, every] = await Promise.all([
      run("merchants", "list"),
      run("keys", "list", merchant),
      run("keys", "list"),
    ]);
    const at = "\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z";
    const line = new RegExp(`^${merchant}  ${at}  50  1  Tea & Co$`);
    expect(shown(merchants)).toContainEqual(expect.stringMatching(line));
    expect(shown(own).map((each) => each.split("  ").filter((_, i) => i !== 1))).toEqual([
      [merchant, first.slice(0, 15), "ended", "-", "created on the command line"],
      [merchant, second.slice(0, 15), "good", "-", "web"],
    ]);
    expect(shown(every)).toEqual(expect.arrayContaining(shown(own)));
  });

  it("change our fee on what a merchant sells, once, with a note of it", async () => {
    const [{ id: merchant = "" } = {}] = await database.query<{ id: string }>(
      "UPDATE merchant SET fee_bps = 50 WHERE name = 'Tea & Co' RETURNING id",
    );
    for (const before of [50, 30])
      expect(shown(await run("merchants", "fee", merchant, "30"))).toEqual([
        `${merchant} pays 30 basis points, before ${before}`,
      ]);
    expect(await database.query("SELECT fee_bps AS fee FROM merchant WHERE id = $1", [merchant])).toEqual([
      { fee: 30 },
    ]);
    const notes =
      "SELECT actor, detail FROM audit_entry WHERE merchant_id = $1 AND action = 'merchant.updated'";
    expect(await database.query(notes, [merchant])).toEqual([{ actor: null, detail: { feeBps: 30 } }]);
  });

  it("suspend a merchant, say so in the list, and resume it", async () => {
    const [{ id: merchant = "" } = {}] = await database.query<{ id: string }>(
      "SELECT id FROM merchant WHERE name = 'Tea & Co'",
    );
    const suspend = ["merchants", "suspend", merchant, "--reason"] as const;
    expect(shown(await run(...suspend, "Nothing was sent."))).toEqual([`${merchant} is suspended`]);
    const line = async () => shown(await run("merchants", "list")).find((each) => each.includes(merchant));
    expect(await line()).toMatch(/ {2}Tea & Co {2}suspended since \d{4}-\S+Z: Nothing was sent\.$/);
    for (const told of ["sells again", "was not suspended"])
      expect(shown(await run("merchants", "resume", merchant))).toEqual([`${merchant} ${told}`]);
    expect(await line()).toMatch(/ {2}Tea & Co$/);
    const blank = await run(...suspend, "  ");
    expect([blank.code, blank.stderr]).toEqual([
      1,
      expect.stringMatching(/^--reason is some text of at most 500/),
    ]);
    expect(await line()).toMatch(/ {2}Tea & Co$/);
  });

  it("say in one line what is wrong, exit 1", async () => {
    const missing = "mer_00000000000000000000000000";
    const ends = await Promise.all([
      run("merchants", "fee", missing, "10"),
      run("merchants", "suspend", missing, "--reason", "none"),
      run("merchants", "resume", missing),
      run("merchants", "fee", missing, "10001"),
      run("merchants", "fee", missing, "0.5"),
      run("keys", "list", missing),
    ]);
    expect(ends.map(({ code, stdout, stderr }) => [code, stdout, stderr.trimEnd()])).toEqual([
      ...Array.from({ length: 3 }, () => [
        ...[1, ""],
        `There is no merchant ${missing} here. See farebox merchants list.`,
      ]),
      [1, "", expect.stringMatching(/^The fee is a whole number of basis points from 0 to 10000, got 10001/)],
      [1, "", expect.stringMatching(/^The fee is a whole number of basis points from 0 to 10000, got 0\.5/)],
      [1, "", `There is no merchant ${missing} here. See farebox merchants list.`],
    ]);
  });
});

describe("keys rotate, keys revoke", () => {
  it("replace a key for a while and end one at once, by its id or by what logs show; each is noted", async () => {
    const made = shown(
      await run("keys", "create", "--new-merchant", "Rotating", "--city", "Bath", "--country", "GB"),
    );
    const [about = "", old = ""] = made;
    const merchant = about.slice("merchant ".length);
    const rotated = await run("keys", "rotate", old.slice(3, 15), "--grace-seconds", "60");
    expect(rotated).toMatchObject({ code: 0, stderr: "" });
    expect(shown(rotated)).toEqual([about, expect.stringMatching(/^sk_/)]);
    const rows = () =>
      database.query<{ id: string; ends: number | null }>(
        "SELECT id, extract(epoch FROM revoked_at - now())::int AS ends FROM api_key WHERE merchant_id = $1 ORDER BY created_at",
        [merchant],
      );
    const [first, second] = await rows();
    expect(first?.ends).toBeGreaterThan(0);
    expect(second?.ends).toBeNull();
    const revoked = await run("keys", "revoke", second?.id ?? "");
    expect(shown(revoked)).toEqual([about, `revoked ${second?.id}`]);
    expect((await rows())[1]?.ends).toBeLessThanOrEqual(0);
    const notes = await database.query<{ action: string }>(
      "SELECT action FROM audit_entry WHERE merchant_id = $1 AND actor IS NULL ORDER BY action",
      [merchant],
    );
    expect(notes.map(({ action }) => action)).toEqual([
      "key.created",
      "key.created",
      "key.revoked",
      "key.rotated",
    ]);
  });

  it("leave the replaced key good for as long as asked by the time of a sandbox that was moved on", async () => {
    await database.query("INSERT INTO sandbox_clock (id, offset_seconds) VALUES (1, 2592000)"); // a month
    onTestFinished(async () => void (await database.query("DELETE FROM sandbox_clock")));
    const made = await run("keys", "create", "--new-merchant", "Moved", "--city", "Bath", "--country", "GB");
    const [about = "", old = ""] = shown(made);
    await run("keys", "rotate", old.slice(3, 15), "--grace-seconds", "600");
    const [key] = await database.query<{ ends: number }>(
      `SELECT extract(epoch FROM revoked_at - now() - interval '30 days')::int AS ends FROM api_key
       WHERE merchant_id = $1 AND revoked_at IS NOT NULL`,
      [about.slice("merchant ".length)],
    );
    expect(key?.ends).toBeGreaterThan(500);
    expect(key?.ends).toBeLessThanOrEqual(600);
  });

  it("say in one line what is wrong, exit 1", async () => {
    const ends = await Promise.all([
      run("keys", "revoke", "nobody"),
      run("keys", "rotate", "nobody"),
      run("keys", "rotate", "nobody", "--grace-seconds", "soon"),
      run("keys", "rotate", "nobody", "--grace-seconds", "604801"),
    ]);
    expect(ends.map(({ code, stdout, stderr }) => [code, stdout, stderr.trimEnd()])).toEqual([
      [1, "", expect.stringMatching(/^There is no key nobody here\./)],
      [1, "", expect.stringMatching(/^There is no key nobody here\./)],
      [1, "", expect.stringMatching(/^--grace-seconds /)],
      [1, "", expect.stringMatching(/^--grace-seconds .* 604800 at most/)],
    ]);
  });
});
