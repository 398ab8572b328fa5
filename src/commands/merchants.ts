import type { Command } from "commander";
import { changeFee, listMerchants } from "#api";
import { ConfigProblem } from "../config.ts";
import { asUnknownMerchant, operatorOf, say, withDeployment } from "./deployment.ts";

/** `farebox merchants …`: who sells here. One is made with `farebox keys create --new-merchant`. */
export function addMerchantsCommands(program: Command): void {
  const merchants = program.command("merchants").description("who sells here");
  merchants
    .command("list")
    .description("list them, oldest first: id, since when, our fee in basis points, keys that are good, name")
    .action(list);
  merchants
    .command("fee <merchant> <bps>")
    .description(
      "change our fee on a merchant's payments, in basis points; payments and invoices that were asked for already keep theirs",
    )
    .action(fee);
}

function list(): Promise<void> {
  return withDeployment(async ({ db }) => {
    for (const { id, createdAt, feeBps, keys, name } of await listMerchants(operatorOf(db)))
      say([id, createdAt.toISOString(), feeBps, keys, name].join("  "));
  });
}

async function fee(merchantId: string, bps: string): Promise<void> {
  const feeBps = /^\d{1,5}$/.test(bps) ? Number(bps) : Number.NaN;
  if (!(feeBps <= 10_000))
    throw new ConfigProblem(
      `The fee is a whole number of basis points from 0 to 10000, got ${bps}: 50 is 0.5 %.`,
    );
  await withDeployment(async ({ db }) => {
    const before = await changeFee(operatorOf(db), { merchantId, feeBps }).catch(
      asUnknownMerchant(merchantId),
    );
    say(`${merchantId} pays ${feeBps} basis points, before ${before}`);
  });
}
