import type { Command } from "commander";
import { checksum } from "#kernel/bytes";
import { formatDecimal } from "#kernel/money";
import { ConfigProblem } from "../config.ts";
import { TOKEN_DECIMALS, withHouse } from "./house.ts";
import { say } from "./output.ts";

/** `farebox approvals …`: what leaves the treasury only with a second person's word. */
export function addApprovalsCommands(program: Command): void {
  const approvals = program
    .command("approvals")
    .description("what leaves the treasury only when an operator approves it: see approvalsAbove of a chain");
  approvals
    .command("list")
    .description(
      "list what waits: id, kind, amount, token, recipient, merchant, since when; exit 1 when there is any",
    )
    .action(list);
  approvals
    .command("give <id>")
    .description("let one leave (po_…, re_… or ret_…); until then its merchant can cancel it")
    .action(give);
}

function list(): Promise<void> {
  return withHouse(async ({ approvals }) => {
    const found = await approvals.list();
    for (const { id, kind, amount, token, recipient, merchantId, since } of found)
      say(
        [
          ...[id, kind, formatDecimal(amount, TOKEN_DECIMALS), checksum(token), checksum(recipient)],
          ...[merchantId, since.toISOString()],
        ].join("  "),
      );
    process.exitCode = found.length === 0 ? 0 : 1;
  });
}

function give(id: string): Promise<void> {
  return withHouse(async ({ approvals }) => {
    if (!(await approvals.give(id)))
      throw new ConfigProblem(`${id} waits for no approval. See farebox approvals list.`);
    say(`${id} may leave`);
  });
}
