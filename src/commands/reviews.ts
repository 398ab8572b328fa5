import type { Command } from "commander";
import type { ReviewedPayment, ReviewProblem } from "#facilitator";
import { checksum } from "#kernel/bytes";
import { formatDecimal } from "#kernel/money";
import type { House } from "../compose.ts";
import { ConfigProblem } from "../config.ts";
import { TOKEN_DECIMALS, withHouse } from "./house.ts";
import { say } from "./output.ts";

/** `farebox reviews …`: payments that wait for a person. */
export function addReviewsCommands(program: Command): void {
  const reviews = program
    .command("reviews")
    .description("payments that wait for a person, since whose they are cannot be told from the chain");
  reviews
    .command("list")
    .description(
      "list them: id, amount, token, payer, merchant, what it was claimed for, the transaction that brought it or -, why; exit 1 when there are any",
    )
    .action(list);
  reviews
    .command("accept <id>")
    .description("have one go on (stl_…): what came is credited to its merchant, what did not is sent")
    .action((id: string) => decide(id, ({ reviews: { accept } }) => accept(id), "is accepted"));
  reviews
    .command("return <id>")
    .description("send its money back to its payer (stl_…); its merchant gets nothing")
    .action((id: string) =>
      decide(id, ({ reviews: { sendBack } }) => sendBack(id), "goes back to its payer"),
    );
}

function list(): Promise<void> {
  return withHouse(async (house) => {
    const found = await house.reviews.list();
    for (const payment of found) say(line(payment));
    process.exitCode = found.length === 0 ? 0 : 1;
  });
}

function line({
  id,
  amount,
  token,
  payer,
  merchantId,
  payableId,
  transaction,
  why,
}: ReviewedPayment): string {
  return [
    ...[id, formatDecimal(amount, TOKEN_DECIMALS), checksum(token), checksum(payer)],
    ...[merchantId, payableId, transaction ?? "-", why],
  ].join("  ");
}

const sentences: Readonly<Record<ReviewProblem, string>> = {
  "not-in-review": "waits for nobody. See farebox reviews list.",
  "token-not-listed":
    "is in a token that its chain does not list. List it in FAREBOX_CHAINS again, then decide.",
  spent: "cannot be paid any more: its authorization was cancelled or used elsewhere. It ends by itself.",
  "not-paid": "brought no money that could go back. It ends by itself when its authorization expires.",
  "not-final": "lies in a block that is not final yet. Try again in some minutes.",
};

function decide(
  id: string,
  decision: (house: House) => Promise<ReviewProblem | null>,
  done: string,
): Promise<void> {
  return withHouse(async (house) => {
    const problem = await decision(house);
    if (problem) throw new ConfigProblem(`${id} ${sentences[problem]}`);
    say(`${id} ${done}`);
  });
}
