import { Command } from "commander";
import { ZodError } from "zod";
import { addressOf } from "#facilitator";
import { checksum } from "#kernel/bytes";
import { Fault } from "#kernel/fault";
import { formatDecimal } from "#kernel/money";
import { imbalance, trialBalance } from "#ledger";
import { outageOf, sqlState } from "#store";
import { loadArtifacts, routerCreation } from "../contracts/index.ts";
import { addApprovalsCommands } from "./commands/approvals.ts";
import { addChainsCommands } from "./commands/chains.ts";
import { withDeployment } from "./commands/deployment.ts";
import { addFactsCommands } from "./commands/facts.ts";
import { addKeysCommands } from "./commands/keys.ts";
import { addLanesCommands } from "./commands/lanes.ts";
import { addMerchantsCommands } from "./commands/merchants.ts";
import { addOutflowsCommands } from "./commands/outflows.ts";
import { outliveReaders, say } from "./commands/output.ts";
import { addProofCommands } from "./commands/proof.ts";
import { addReconcileCommand } from "./commands/reconcile.ts";
import { addRestoredCommand } from "./commands/restored.ts";
import { addReviewsCommands } from "./commands/reviews.ts";
import { addSettlementsCommands } from "./commands/settlements.ts";
import { readConfig } from "./config.ts";
import { recordedParts } from "./dev/recorded-parts.ts";
import { resetDataFolder } from "./dev/reset.ts";
import { deriveKey } from "./keys.ts";
import { version } from "./version.ts";

const program = new Command("farebox").description("Operate a Farebox deployment").version(version);

addMerchantsCommands(program);
addKeysCommands(program);

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
};

outliveReaders();
try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${sentence(error)}\n`);
  process.exitCode = 1;
}
