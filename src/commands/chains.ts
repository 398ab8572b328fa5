import type { Command } from "commander";
import { ConfigProblem } from "../config.ts";
import { withHouse } from "./house.ts";
import { say } from "./output.ts";

/** `farebox chains …`: how far each chain is followed, and whether it goes on. */
export function addChainsCommands(program: Command): void {
  const chains = program.command("chains").description("the chains that are followed");
  chains
    .command("list")
    .description(
      "list them: chain, followed block, final block, tokens in which nothing is paid or -, why it is halted or -; exit 1 when one is halted",
    )
    .action(list);
  chains
    .command("resume <chain>")
    .description(
      "follow a halted chain again, when its endpoints tell the truth: it is halted anew if they do not",
    )
    .action(resume);
}

function list(): Promise<void> {
  return withHouse(async ({ sources }) => {
    const { chains } = await sources.health();
    for (const { chain, cursor, finalized, refused, halted } of chains)
      say([chain, cursor ?? "-", finalized ?? "-", refused.join(",") || "-", halted ?? "-"].join("  "));
    process.exitCode = chains.some(({ halted }) => halted !== null) ? 1 : 0;
  });
}

function resume(chain: string): Promise<void> {
  return withHouse(async ({ operate }) => {
    const why = await operate.resumeChain(chain);
    if (why === null)
      throw new ConfigProblem(`${chain} is no chain that was halted. See farebox chains list.`);
    say(`was halted: ${why}`);
    say(`${chain} is followed again`);
  });
}
