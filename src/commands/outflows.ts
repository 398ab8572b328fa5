import type { Command } from "commander";
import type { OutflowProblem, OutflowRef, StrayOutflow } from "#facilitator";
import { checksum, parseHash } from "#kernel/bytes";
import { formatDecimal } from "#kernel/money";
import { ConfigProblem } from "../config.ts";
import { reasonOf } from "./deployment.ts";
import { TOKEN_DECIMALS, withHouse } from "./house.ts";
import { say } from "./output.ts";

/** `farebox outflows …`: what left a treasury or a deposit address, and nothing here has sent. */
export function addOutflowsCommands(program: Command): void {
  const outflows = program
    .command("outflows")
    .description(
      "what left a treasury or a deposit address, and nothing here has sent: until it is booked nothing of its token leaves",
    );
  outflows
    .command("list")
    .description(
      "list them: chain, transaction, log, amount, token, recipient, when, sender; exit 1 when there are any",
    )
    .action(list);
  outflows
    .command("book <chain> <transaction> <log>")
    .description(
      "say whose money one was: ours, unless a merchant is named, who has that much less; nobody has less for what went into the treasury",
    )
    .requiredOption("--reason <text>", "why, for whoever reads the books")
    .option("--merchant <id>", "whose money it was (mer_…)")
    .action(book);
}

function list(): Promise<void> {
  return withHouse(async ({ operate }) => {
    const found = await operate.strayOutflows();
    for (const outflow of found) say(line(outflow));
    process.exitCode = found.length === 0 ? 0 : 1;
  });
}

const line = ({ chain, transaction, logIndex, amount, token, sender, recipient, at }: StrayOutflow) =>
  [
    ...[chain, transaction, logIndex, formatDecimal(amount, TOKEN_DECIMALS)],
    ...[checksum(token), checksum(recipient), at.toISOString(), checksum(sender)],
  ].join("  ");

const sentences: Readonly<Record<OutflowProblem, string>> = {
  "not-stray":
    "is no transfer out of a treasury or a deposit address that waits for a word. See farebox outflows list.",
  "not-final": "lies in a block that is not final yet. Try again in some minutes.",
  "token-not-listed":
    "is in a token that its chain does not list. List it in FAREBOX_CHAINS again, then book it.",
  "too-little": "is more than that merchant may spend. See farebox trial-balance.",
  "nobodys-loss": "went into the treasury: nobody has less for it. Leave --merchant out.",
};

interface Options {
  readonly reason: string;
  readonly merchant?: string;
}

function book(chain: string, text: string, log: string, { reason, merchant }: Options): Promise<void> {
  const outflow = outflowRef(chain, text, log);
  const why = reasonOf(reason);
  return withHouse(async ({ operate }) => {
    const problem = await operate.bookOutflow(outflow, { reason: why, merchantId: merchant ?? null });
    if (problem) throw new ConfigProblem(`Log ${log} of ${text} ${sentences[problem]}`);
    say(`log ${log} of ${text} is booked; farebox reconcile tells whether books and chain are equal now`);
  });
}

function outflowRef(chain: string, text: string, log: string): OutflowRef {
  const transaction = parseHash(text);
  if (!transaction) throw new ConfigProblem(`${text} is no transaction. See farebox outflows list.`);
  if (!/^\d{1,6}$/.test(log)) throw new ConfigProblem(`${log} is no log. See farebox outflows list.`);
  return { chain, transaction, logIndex: Number(log) };
}
