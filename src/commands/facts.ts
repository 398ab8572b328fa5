import type { Command } from "commander";
import { outbox } from "#store";
import { ConfigProblem } from "../config.ts";
import { withDeployment } from "./deployment.ts";
import { say } from "./output.ts";

/** `farebox facts …`: facts that no hearer could take. */
export function addFactsCommands(program: Command): void {
  const facts = program
    .command("facts")
    .description("facts that were set aside, because no hearer could take them");
  facts
    .command("dead")
    .description(
      "list them: id, type, subject, when it was set aside, tries, last error; exit 1 when there are any",
    )
    .action(listDead);
  facts
    .command("redeliver <id>")
    .description("have one told again (evt_…), with all its tries before it")
    .action(redeliver);
}

function listDead(): Promise<void> {
  return withDeployment(async ({ db }) => {
    const found = await outbox.dead(db.pool);
    for (const { id, type, subject, deadAt, attempts, lastError } of found)
      say([id, type, subject, deadAt?.toISOString() ?? "", attempts, lastError ?? ""].join("  "));
    process.exitCode = found.length === 0 ? 0 : 1;
  });
}

function redeliver(id: string): Promise<void> {
  return withDeployment(async ({ db }) => {
    if (!(await outbox.redeliver(db.pool, id)))
      throw new ConfigProblem(`No fact ${id} was set aside. See farebox facts dead.`);
    say(`${id} is told again`);
  });
}
