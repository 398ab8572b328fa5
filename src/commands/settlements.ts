import type { Command } from "commander";
import type { InspectedClaim, SignedTransaction } from "#facilitator";
import { checksum } from "#kernel/bytes";
import { formatDecimal } from "#kernel/money";
import { ConfigProblem } from "../config.ts";
import { TOKEN_DECIMALS, withHouse } from "./house.ts";
import { say } from "./output.ts";

/** `farebox settlements …`: payments, refunds, payouts, returns and sweeps, as the engine has them. */
export function addSettlementsCommands(program: Command): void {
  program
    .command("settlements")
    .description("what is moved by authorizations: payments, refunds, payouts, returns, sweeps")
    .command("inspect <ref>")
    .description("all that is known of one (stl_…), or of those that a transaction carries (0x…)")
    .action(inspect);
}

function inspect(ref: string): Promise<void> {
  return withHouse(async ({ operate }) => {
    const found = await operate.inspect(ref);
    if (found.length === 0)
      throw new ConfigProblem(`${ref} is no settlement of this deployment, and no transaction of one.`);
    say(found.map((each) => linesOf(each).join("\n")).join("\n\n"));
  });
}

function linesOf({ claim, chain, asset, timeline, signed }: InspectedClaim): readonly string[] {
  const amount = formatDecimal(claim.amount, TOKEN_DECIMALS);
  const place = `block ${claim.includedBlock}, log ${claim.includedLog}`;
  return [
    [claim.id, claim.kind, claim.state, `${amount} ${asset ?? checksum(claim.token)}`, chain ?? "-"].join(
      "  ",
    ),
    fact("for", `${claim.payableId} of ${claim.merchantId}`),
    fact("from", checksum(claim.payer)),
    fact("to", checksum(claim.payTo)),
    fact("nonce", claim.nonce),
    fact("ends", new Date(Number(claim.validBefore) * 1_000).toISOString()),
    fact("paid by", claim.includedTx ? `${claim.includedTx}, ${place}` : "-"),
    fact("told", claim.grantedAt ? claim.grantedAt.toISOString() : "-"),
    ...(claim.reason ? [fact("why", [claim.reason, claim.message].filter(Boolean).join(": "))] : []),
    ...timeline.map(({ at, state, cause }) => `  ${at.toISOString()}  ${state}  ${cause}`),
    ...signed.map(lineOf),
  ];
}

const fact = (name: string, value: string) => `  ${name.padEnd(8)}${value}`;

function lineOf({ at, transaction, signer, nonce, maxFee, tip, minedBlock }: SignedTransaction): string {
  const fees = `at most ${maxFee} wei a gas, tip ${tip}`;
  const place = minedBlock === null ? "not mined" : `in block ${minedBlock}`;
  return `  ${at.toISOString()}  ${transaction}  nonce ${nonce} of ${checksum(signer)}, ${fees}, ${place}`;
}
