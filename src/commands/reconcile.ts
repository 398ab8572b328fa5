import type { Command } from "commander";
import type { Reconciled } from "#facilitator";
import { formatDecimal } from "#kernel/money";
import { withHouse } from "./house.ts";
import { say } from "./output.ts";

const TOKEN_DECIMALS = 6;

/** `farebox reconcile`: the books against every chain, now. */
export function addReconcileCommand(program: Command): void {
  program
    .command("reconcile")
    .description("compare the books with every chain at its final block; exit 1 on a difference")
    .action(reconcile);
}

function reconcile(): Promise<void> {
  return withHouse(async (house) => {
    const found = await house.reconcile();
    if (found.length === 0) say("No chain has been followed yet.");
    else for (const line of [heading, ...found.map(cells)]) say(table(line));
    process.exitCode = found.some(({ status }) => status === "different") ? 1 : 0;
  });
}

type Line = readonly [
  asset: string,
  place: string,
  ledger: string,
  waiting: string,
  chain: string,
  difference: string,
  block: string,
  status: string,
];
const heading: Line = ["asset", "place", "ledger", "waiting", "chain", "difference", "block", "status"];

/** What was seen to come and is not in the books yet is no difference. */
function cells({
  asset,
  place,
  ledger,
  waiting,
  onChain,
  blockNumber,
  status,
  unexplained,
}: Reconciled): Line {
  const money = (amount: bigint) => formatDecimal(amount, TOKEN_DECIMALS);
  const why =
    unexplained > 0 ? `${status} (${unexplained} transfers out that nothing of ours explains)` : status;
  const chain = onChain === null ? "-" : money(onChain);
  const difference = onChain === null ? "-" : money(onChain - ledger - waiting);
  return [asset, place, money(ledger), money(waiting), chain, difference, String(blockNumber), why];
}

const table = ([asset, place, ledger, waiting, chain, difference, block, status]: Line) =>
  [
    asset.padEnd(18),
    place.padEnd(10),
    ...[ledger, waiting, chain, difference].map((text) => text.padStart(20)),
    block.padStart(12),
    ` ${status}`,
  ].join(" ");
