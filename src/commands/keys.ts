import type { Command } from "commander";
import {
  createKey,
  createMerchant,
  listEveryKey,
  type Permission,
  permissions,
  replaceKey,
  revokeKey,
} from "#api";
import { Fault } from "#kernel/fault";
import { systemRandom } from "#kernel/system";
import { sqlState } from "#store";
import { ConfigProblem } from "../config.ts";
import { asUnknownMerchant, feeBpsOf, withDeployment, wordsOf } from "./deployment.ts";
import { say } from "./output.ts";

/** `farebox keys …`: API keys of any merchant. */
export function addKeysCommands(program: Command): void {
  const keys = program.command("keys").description("API keys");
  keys
    .command("list [merchant]")
    .description(
      "list them, or those of one merchant (mer_…): merchant, id, prefix and 12 characters, good, ended or until when it is good, last used or -, name",
    )
    .action(listKeysCommand);
  keys
    .command("create")
    .description("create a key; it is shown once, as the last line")
    .option("--merchant <id>", "the merchant it belongs to (mer_…)")
    .option("--new-merchant <name>", "create a merchant of this name for it")
    .option("--city <city>", "city of the new merchant, for receipts")
    .option("--country <code>", "two-letter country code of the new merchant, for receipts")
    .option("--fee-bps <bps>", "our fee on the new merchant's payments, in basis points; none when left out")
    .option("--publishable", "a publishable key, without permissions")
    .option("--name <name>", "what the key is for", "created on the command line")
    .option("--permissions <list>", `comma-separated; all when left out: ${permissions.join(", ")}`)
    .action(createKeyCommand);
  keys
    .command("rotate <key>")
    .description("replace a key (key_…, or the 12 characters after its prefix); the new one is the last line")
    .option("--grace-seconds <seconds>", "how long the replaced key stays good", "86400")
    .action(rotateKeyCommand);
  keys
    .command("revoke <key>")
    .description("end a key (key_…, or the 12 characters after its prefix); it is refused within 5 seconds")
    .action(revokeKeyCommand);
}

async function listKeysCommand(merchantId?: string): Promise<void> {
  await withDeployment(async ({ operator }) => {
    const now = operator.clock.now();
    const keys = await listEveryKey(operator, { merchantId }).catch(asUnknownMerchant(merchantId));
    for (const key of keys) {
      const { endsAt, lastUsedAt } = key;
      const until = endsAt === null ? "good" : endsAt > now ? endsAt.toISOString() : "ended";
      const shown = `${key.kind}_${key.keyId}`;
      say([key.merchantId, key.id, shown, until, lastUsedAt?.toISOString() ?? "-", key.name].join("  "));
    }
  });
}

const FOREIGN_KEY_VIOLATION = "23503";
const LONGEST_NAME = 140;
const LONGEST_GRACE = 604_800;

interface KeyOptions {
  readonly merchant?: string;
  readonly newMerchant?: string;
  readonly city?: string;
  readonly country?: string;
  readonly feeBps?: string;
  readonly publishable?: boolean;
  readonly name: string;
  readonly permissions?: string;
}

async function createKeyCommand(options: KeyOptions): Promise<void> {
  const asked = options.permissions?.split(",").map((each) => each.trim());
  const unknown = asked?.find((each) => !permissions.includes(each as Permission));
  if (unknown !== undefined)
    throw new ConfigProblem(`${unknown || "Nothing"} is not a permission. Known: ${permissions.join(", ")}.`);
  if (!options.merchant === !options.newMerchant)
    throw new ConfigProblem(
      "Name the merchant with --merchant mer_…, or create one with --new-merchant NAME.",
    );
  if (options.publishable && asked) throw new ConfigProblem("A publishable key has no permissions.");
  refuseStray(options);
  const name = wordsOf("--name", options.name, LONGEST_NAME);
  await withDeployment(async ({ operator: by, masterSecret }) => {
    const operator = { ...by, random: systemRandom, masterSecret };
    const merchantId = options.merchant ?? (await newMerchant(operator, options));
    const key = await createKey(operator, {
      merchantId,
      kind: options.publishable ? "pk" : "sk",
      name,
      ...(asked ? { permissions: [...new Set(asked as Permission[])] } : {}),
    }).catch((error: unknown) => {
      if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error;
      throw new ConfigProblem(
        `There is no merchant ${merchantId} here. Create one with --new-merchant NAME instead of --merchant.`,
      );
    });
    say(`merchant ${merchantId}`);
    say(key.plaintext);
  });
}

/** Said of a merchant that is there, they would change nothing. */
function refuseStray({ merchant, city, country, feeBps }: KeyOptions): void {
  if (merchant === undefined) return;
  if (feeBps !== undefined)
    throw new ConfigProblem(
      `--fee-bps is for a new merchant. Change the fee of one that is there with farebox merchants fee ${merchant} BPS.`,
    );
  if (city !== undefined || country !== undefined)
    throw new ConfigProblem("--city and --country are for a new merchant: another one changes them itself.");
}

async function rotateKeyCommand(key: string, options: { readonly graceSeconds: string }): Promise<void> {
  if (!/^\d{1,6}$/.test(options.graceSeconds) || Number(options.graceSeconds) > LONGEST_GRACE)
    throw new ConfigProblem(
      `--grace-seconds is a whole number of seconds, ${LONGEST_GRACE} at most, which is a week.`,
    );
  await withDeployment(async ({ operator, masterSecret }) => {
    const graceSeconds = Number(options.graceSeconds);
    const maker = { ...operator, random: systemRandom, masterSecret };
    const made = await replaceKey(maker, { key, graceSeconds }).catch(asUnknownKey(key));
    say(`merchant ${made.merchantId}`);
    say(made.plaintext);
  });
}

async function revokeKeyCommand(key: string): Promise<void> {
  await withDeployment(async ({ operator }) => {
    const { merchantId, id } = await revokeKey(operator, { key }).catch(asUnknownKey(key));
    say(`merchant ${merchantId}`);
    say(`revoked ${id}`);
  });
}

function asUnknownKey(key: string) {
  return (error: unknown): never => {
    if (!(error instanceof Fault) || error.code !== "not_found") throw error;
    throw new ConfigProblem(
      `There is no key ${key} here. Name it by its id, or by the 12 characters after sk_ or pk_.`,
    );
  };
}

async function newMerchant(
  operator: Parameters<typeof createMerchant>[0],
  options: KeyOptions,
): Promise<string> {
  const { city, country } = options;
  if (city === undefined || country === undefined)
    throw new ConfigProblem("A new merchant needs --city and --country (two letters): receipts name them.");
  const { id } = await createMerchant(operator, {
    name: options.newMerchant ?? "",
    city,
    countryCode: country,
    feeBps: feeBpsOf(options.feeBps ?? "0"),
  });
  return id;
}
