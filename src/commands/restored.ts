import type { Command } from "commander";
import { checksum } from "#kernel/bytes";
import { ConfigProblem } from "../config.ts";
import { withHouse } from "./house.ts";
import { say } from "./output.ts";

/** `farebox restored`: the database is one of an earlier time. */
export function addRestoredCommand(program: Command): void {
  program
    .command("restored")
    .description(
      "to be called once after the database was restored from a backup, before anything is served: no nonce and no deposit address of the time since is used twice",
    )
    .action(restored);
}

function restored(): Promise<void> {
  return withHouse(async ({ operate }) => {
    const done = await operate.afterRestore();
    if (!done)
      throw new ConfigProblem(
        "A process follows a chain. Stop every process, wait half a minute, and repeat.",
      );
    const { lanes, skipped } = done;
    for (const { chain, address, before, nonce } of lanes)
      say(`lane ${checksum(address)} on ${chain}: goes on from nonce ${nonce}, was at ${before}`);
    say(`deposit addresses ${skipped.first} to ${skipped.last} are given to nobody`);
  });
}
