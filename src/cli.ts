import { Command } from "commander";
import { ZodError } from "zod";
import { createKey, createMerchant, type Permission, permissions, replaceKey, revokeKey } from "#api";
import { addressOf } from "#facilitator";
import { checksum } from "#kernel/bytes";
import { Fault } from "#kernel/fault";
import { idMaker } from "#kernel/id";
import { formatDecimal } from "#kernel/money";
import { systemClock, systemRandom } from "#kernel/system";
import { imbalance, trialBalance } from "#ledger";
import { type Database, outageOf, sqlState } from "#store";
import { loadArtifacts, routerCreation } from "../contracts/index.ts";
import { addApprovalsCommands } from "./commands/approvals.ts";
import { addChainsCommands } from "./commands/chains.ts";
import { say, withDeployment } from "./commands/deployment.ts";
import { addFactsCommands } from "./commands/facts.ts";
import { addLanesCommands } from "./commands/lanes.ts";
import { addOutflowsCommands } from "./commands/outflows.ts";
import { addProofCommands } from "./commands/proof.ts";
import { addReconcileCommand } from "./commands/reconcile.ts";
import { addRestoredCommand } from "./commands/restored.ts";
import { addReviewsCommands } from "./commands/reviews.ts";
import { addSettlementsCommands } from "./commands/settlements.ts";
import { ConfigProblem, readConfig } from "./config.ts";
import { recordedParts } from "./dev/recorded-parts.ts";
import { resetDataFolder } from "./dev/reset.ts";
import { deriveKey } from "./keys.ts";
import { version } from "./version.ts";

const program = new Command("farebox").description("Operate a Farebox deployment").version(version);

const keys = program.command("keys").description("API keys");
keys
  .command("create")
  .description("create a key; it is shown once, as the last line")
  .option("--merchant <id>", "the merchant it belongs to (mer_…)")
  .option("--new-merchant <name>", "create a merchant of this name for it")
  .option("--city <city>", "city of the new merchant", "Unknown")
  .option("--country <code>", "two-letter country code of the new merchant", "US")
  .option("--fee-bps <bps>", "our fee on the new merchant's payments, in basis points", "0")
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

const FOREIGN_KEY_VIOLATION = "23503";

interface KeyOptions {
  readonly merchant?: string;
  readonly newMerchant?: string;
  readonly city: string;
  readonly country: string;
  readonly feeBps: string;
  readonly publishable?: boolean;
  readonly name: string;
  readonly permissions?: string;
}

async function createKeyCommand(options: KeyOptions): Promise<void> {
  const asked = options.permissions?.split(",").map((each) => each.trim());
  const unknown = asked?.find((each) => !permissions.includes(each as Permission));
  if (unknown) throw new ConfigProblem(`${unknown} is not a permission. Known: ${permissions.join(", ")}.`);
  if (!options.merchant === !options.newMerchant)
    throw new ConfigProblem(
      "Name the merchant with --merchant mer_…, or create one with --new-merchant NAME.",
    );
  if (options.publishable && asked) throw new ConfigProblem("A publishable key has no permissions.");
  await withDeployment(async ({ db, masterSecret }) => {
    const operator = { ...operatorOf(db), random: systemRandom, masterSecret };
    const merchantId = options.merchant ?? (await newMerchant(operator, options));
    const key = await createKey(operator, {
      merchantId,
      kind: options.publishable ? "pk" : "sk",
      name: options.name,
      ...(asked ? { permissions: asked as Permission[] } : {}),
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

function operatorOf(db: Database) {
  return { db, clock: systemClock, newId: idMaker({ clock: systemClock, random: systemRandom }) };
}

async function rotateKeyCommand(key: string, options: { readonly graceSeconds: string }): Promise<void> {
  if (!/^\d{1,6}$/.test(options.graceSeconds))
    throw new ConfigProblem("--grace-seconds is a whole number of seconds.");
  await withDeployment(async ({ db, masterSecret }) => {
    const graceSeconds = Number(options.graceSeconds);
    const maker = { ...operatorOf(db), random: systemRandom, masterSecret };
    const made = await replaceKey(maker, { key, graceSeconds }).catch(asUnknownKey(key));
    say(`merchant ${made.merchantId}`);
    say(made.plaintext);
  });
}

async function revokeKeyCommand(key: string): Promise<void> {
  await withDeployment(async ({ db }) => {
    const { merchantId, id } = await revokeKey(operatorOf(db), { key }).catch(asUnknownKey(key));
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
  const { id } = await createMerchant(operator, {
    name: options.newMerchant ?? "",
    city: options.city,
    countryCode: options.country,
    feeBps: Number(options.feeBps),
  });
  return id;
}

program
  .command("trial-balance")
  .description("every account with its balance; exit 1 when the books do not balance")
  .action(() =>
    withDeployment(async ({ db }) => {
      for (const { asset, path, posted, pending } of await trialBalance(db.pool)) {
        const decimals = asset.startsWith("ETH@") ? 18 : 6;
        say(
          [
            asset.padEnd(14),
            formatDecimal(posted, decimals).padStart(28),
            formatDecimal(pending, decimals).padStart(20),
            ` ${path}`,
          ].join(" "),
        );
      }
      const off = (await imbalance(db.pool)).filter(({ difference }) => difference !== 0n);
      for (const { asset, difference } of off) say(`IMBALANCE ${asset} ${difference}`);
      process.exitCode = off.length === 0 ? 0 : 1;
    }),
  );

addProofCommands(program);
addReconcileCommand(program);
addApprovalsCommands(program);
addReviewsCommands(program);
addOutflowsCommands(program);
addFactsCommands(program);
addSettlementsCommands(program);
addLanesCommands(program);
addChainsCommands(program);
addRestoredCommand(program);

program
  .command("router")
  .description("what to deploy as payment router: the operator it obeys; as the last line, its creation code")
  .action(async () => {
    const { outside, dataDir } = readConfig(process.env);
    const { masterSecret } = outside ?? (await recordedParts(dataDir));
    const operator = addressOf(deriveKey(masterSecret, "operator"));
    say(`operator ${checksum(operator)}`);
    say(routerCreation(await loadArtifacts(), operator));
  });

program
  .command("reset")
  .description("stop the local deployment's parts and delete its data folder")
  .action(() => resetDataFolder({ dataDir: readConfig(process.env).dataDir, say }));

/** One line. A query's error is told by its code: its message holds the statement and its parameters. */
function sentence(error: unknown): string {
  if (error instanceof ZodError) {
    const [issue] = error.issues;
    const option = optionOf[String(issue?.path[0])] ?? String(issue?.path[0]);
    return `${option}: ${issue?.message}`;
  }
  if (error instanceof Fault && error.code === "chain_unavailable")
    return `The chain ${error.context.chain} cannot be read. Its rpcUrls in FAREBOX_CHAINS must be endpoints that can be reached.`;
  const code = sqlState(error) ?? (error as { readonly code?: string } | null)?.code;
  if (outageOf(error))
    return `The database cannot be reached${code ? ` (${code})` : ""}. Does the deployment run?`;
  if (sqlState(error)) return `The database refused (${code}).`;
  if (error instanceof Fault) return error.detail;
  return error instanceof Error ? error.message : String(error);
}

const optionOf: Readonly<Record<string, string>> = {
  name: "--new-merchant",
  city: "--city",
  countryCode: "--country",
  feeBps: "--fee-bps",
};

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${sentence(error)}\n`);
  process.exitCode = 1;
}
