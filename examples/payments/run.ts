/** A payment on each rail, from the intent to the payout: created, confirmed, paid, settled, refunded in part, refunded
 *  in full, another one paid out; and the books equal the chain. `npm run example:payments`. */
import { compare, trialBalance } from "../demo/books.ts";
import { type Deployment, startDeployment } from "../demo/deployment.ts";
import { type ExecutionPath, type Merchant, merchantOf, type Position, until } from "./merchant.ts";
import { payByAgent, payByRouter, payByTransfer } from "./payer.ts";

const say = (line: string) => void process.stdout.write(`${line}\n`);
const PRICE = { amount: "49.99", asset: "USD" };
const PRICE_ATOMIC = 49_990_000n;

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the example expected: ${what}`);
}

type Pay = (deployment: Deployment, position: Position) => Promise<void>;
const rails: Readonly<Record<ExecutionPath, Pay>> = {
  "deposit-match": (deployment, position) => payByTransfer(deployment, position, PRICE_ATOMIC),
  "on-chain-contract": (deployment, { paymentIntent }) => payByRouter(deployment, paymentIntent.id),
  x402: (deployment, { paymentIntent }) => payByAgent(deployment, paymentIntent.id),
};

async function settle(deployment: Deployment, merchant: Merchant, path: ExecutionPath): Promise<Position> {
  const id = await merchant.createIntent(PRICE, path);
  const confirmed = await merchant.confirm(id);
  expect(confirmed.clearing.state === "awaiting-funds", "a confirmed intent waits for funds");
  await rails[path](deployment, confirmed);
  const settled = await until(
    () => merchant.payment(id),
    ({ paymentIntent }) => paymentIntent.status === "completed",
  );
  const { settlementAmount, fee, netAmount, transactionHash } = settled.clearing;
  say(`${path}: settled ${settlementAmount?.amount} USDC in ${transactionHash}`);
  say(
    `  fee ${fee?.amount}, net ${netAmount?.amount}; ${settled.timeline.map(({ state }) => state).join(" → ")}`,
  );
  expect(settlementAmount?.amount === "49.990000", "the whole price was settled");
  expect(fee?.amount === "0.249950", "the fee is half a per cent");
  expect(netAmount?.amount === "49.740050", "the rest is the merchant's");
  return settled;
}

async function refundAll(merchant: Merchant, paymentId: string): Promise<void> {
  const part = await merchant.refund(paymentId, { amount: "20.000000", asset: "USDC" });
  await until(
    () => merchant.readRefund(part.id),
    ({ state }) => state === "succeeded",
  );
  const rest = await merchant.refund(paymentId);
  expect(rest.amount.amount === "29.990000", "an omitted amount refunds everything that is left");
  await until(
    () => merchant.readRefund(rest.id),
    ({ state }) => state === "succeeded",
  );
  say(`  refunded ${part.amount.amount} and ${rest.amount.amount} USDC`);
}

async function example(): Promise<void> {
  say("Starting a database, a chain and Farebox ...\n");
  const { deployment, dataDir, stop } = await startDeployment();
  try {
    const merchant = merchantOf(deployment);
    for (const path of Object.keys(rails) as ExecutionPath[]) {
      const settled = await settle(deployment, merchant, path);
      await refundAll(merchant, settled.paymentIntent.id);
      await settle(deployment, merchant, path);
      // Money can be spent once its block is final.
      const available = await until(
        () => merchant.available("USDC"),
        (money) => /[1-9]/.test(money),
      );
      const amount = { amount: available, asset: "USDC" };
      const payout = await merchant.payOut(amount, deployment.payer.address);
      await until(
        () => merchant.readPayout(payout.id),
        ({ state }) => state === "succeeded",
      );
      say(`  paid out ${amount.amount} USDC\n`);
    }
    await equalBooks(deployment, dataDir);
  } finally {
    await stop();
  }
}

async function equalBooks(deployment: Deployment, dataDir: string): Promise<void> {
  const compared = await until(
    async () => compare(deployment, await trialBalance(dataDir)),
    (lines) => lines.every(({ ledger, chain }) => ledger === chain),
  );
  for (const { token, ledger, chain } of compared) say(`${token}: ledger ${ledger}, chain ${chain}`);
  say("\nDone: three rails, each paid, refunded and paid out; the books equal the chain.");
}

example().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
