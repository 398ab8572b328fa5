import type { Command } from "commander";
import { changeFee, type ListedMerchant, listMerchants, resumeMerchant, suspendMerchant } from "#api";
import { asUnknownMerchant, feeBpsOf, reasonOf, withDeployment } from "./deployment.ts";
import { say } from "./output.ts";

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
  merchants
    .command("suspend <merchant>")
    .description(
      "let a merchant ask for no payments, take none and pay nothing out; what it was paid it can refund, what was asked for is booked when it comes",
    )
    .requiredOption("--reason <text>", "why, as the merchant is told")
    .action(suspend);
  merchants
    .command("resume <merchant>")
    .description("let a suspended merchant sell again; billing catches up within the hour")
    .action(resume);
}

function list(): Promise<void> {
  return withDeployment(async ({ operator }) => {
    for (const { id, createdAt, feeBps, keys, name, ...rest } of await listMerchants(operator))
      say([id, createdAt.toISOString(), feeBps, keys, name, ...suspensionOf(rest)].join("  "));
  });
}

function suspensionOf({
  suspendedAt,
  suspensionReason,
}: Pick<ListedMerchant, "suspendedAt" | "suspensionReason">) {
  return suspendedAt === null ? [] : [`suspended since ${suspendedAt.toISOString()}: ${suspensionReason}`];
}

async function suspend(merchantId: string, options: { readonly reason: string }): Promise<void> {
  const reason = reasonOf(options.reason);
  await withDeployment(async ({ operator }) => {
    const held = await suspendMerchant(operator, { merchantId, reason }).catch(asUnknownMerchant(merchantId));
    const waits = held === 0 ? "" : `; payouts that wait for farebox approvals give: ${held}`;
    say(`${merchantId} is suspended${waits}`);
  });
}

function resume(merchantId: string): Promise<void> {
  return withDeployment(async ({ operator }) => {
    const was = await resumeMerchant(operator, merchantId).catch(asUnknownMerchant(merchantId));
    say(was ? `${merchantId} sells again` : `${merchantId} was not suspended`);
  });
}

async function fee(merchantId: string, bps: string): Promise<void> {
  const feeBps = feeBpsOf(bps);
  await withDeployment(async ({ operator }) => {
    const before = await changeFee(operator, { merchantId, feeBps }).catch(asUnknownMerchant(merchantId));
    say(`${merchantId} pays ${feeBps} basis points, before ${before}`);
  });
}
