/** The main job, from nothing to the end: a merchant sells an endpoint, an agent finds it, pays it once, and the books
 *  equal the chain. Everything an agent or merchant does here is done with unmodified x402 packages. */
import { findOverMcp, pay, payAgain } from "./agent.ts";
import { compare, trialBalance } from "./books.ts";
import { freePort, startDeployment } from "./deployment.ts";
import { agentUrl, issueInvoice, paidInvoice } from "./invoice.ts";
import { register, serveMerchant } from "./merchant.ts";

const say = (line: string) => void process.stdout.write(`${line}\n`);

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the demo expected: ${what}`);
}

async function demo(): Promise<void> {
  say("Starting a database, a chain and Farebox ...");
  const { deployment, dataDir, stop } = await startDeployment();
  const closers: (() => void)[] = [];
  try {
    say(`Farebox serves at ${deployment.baseUrl}\n`);
    const resource = await register(deployment, `http://127.0.0.1:${await freePort()}/weather`);
    say(`Merchant: registered and listed ${resource.url} as ${resource.id} for 0.01 USD`);
    closers.push(
      (await serveMerchant(deployment, `${deployment.baseUrl}/x402/resources/${resource.id}`, resource))
        .close,
    );

    const found = await findOverMcp(deployment, "weather Lisbon");
    expect(found.id === resource.id, "the agent finds the resource");
    say(
      `Agent:    found over MCP ${found.url} ("${found.description}") for ${found.price.decimal} ${found.price.symbol}`,
    );
    for (const note of found.clientNotes) say(`          note: ${note}`);

    const paid = await pay(deployment, found.url);
    expect(paid.receipt.success, "the payment settles");
    say(`Agent:    paid in ${paid.receipt.transaction} and received ${JSON.stringify(paid.content)}`);

    const again = await payAgain(resource.url, paid.paymentHeader);
    expect(again.status === 402 && again.reason === "duplicate_settlement", "the second settle is refused");
    say(`Agent:    the same payment once more is refused: ${again.status} ${again.reason}`);

    const invoice = await issueInvoice(deployment);
    const bill = await pay(deployment, agentUrl(deployment, invoice));
    expect(bill.receipt.success, "the invoice is paid by its URL");
    const { number, state } = await paidInvoice(deployment, invoice);
    say(
      `Merchant: invoice ${number} is ${state}; the agent paid it by its URL in ${bill.receipt.transaction}\n`,
    );

    const balance = await trialBalance(dataDir);
    say(`Ledger (posted, pending):\n${balance}`);
    say("Treasury, in atomic units:");
    for (const { token, ledger, chain } of await compare(deployment, balance)) {
      say(
        `  ${token.padEnd(5)} ledger ${ledger.padStart(12)}   chain ${chain.padStart(12)}   ${ledger === chain ? "equal" : "DIFFERENT"}`,
      );
      expect(ledger === chain, `ledger equals chain for ${token}`);
    }
    say("\nDone: found and paid, each once; the second settle was refused; the books equal the chain.");
  } finally {
    for (const close of closers) close();
    await stop();
  }
}

demo().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
