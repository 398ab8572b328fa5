/** A coffee shop that bills by the week: each cycle is an invoice that its subscriber finds in the mail. One is paid by an
 *  agent at its URL, one by a plain transfer, one is let lie until it is reminded of. `npm run example:subscriptions`. */
import { compare, trialBalance } from "../demo/books.ts";
import { type Deployment, startDeployment } from "../demo/deployment.ts";
import { until } from "../payments/merchant.ts";
import { payByAgent, payByTransfer } from "../payments/payer.ts";
import { type Mailbox, mailboxOf, payLinkIn } from "./mailbox.ts";
import { type Cycle, type Shop, type Subscription, shopOf } from "./shop.ts";

const say = (line: string) => void process.stdout.write(`${line}\n`);
const PRICE_ATOMIC = 18_000_000n;
const WEEK = 7;

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the example expected: ${what}`);
}

interface Place {
  readonly deployment: Deployment;
  readonly shop: Shop;
  readonly mailbox: Mailbox;
  readonly subscription: Subscription;
}

/** Waits for this many cycles; the last one, and where its mail says that it can be paid. */
async function billed({ shop, mailbox, subscription }: Place, count: number) {
  const { cycles } = await until(
    () => shop.read(subscription.id),
    (found) => found.cycles.length >= count,
  );
  expect(cycles.length === count, `${count} cycles, and no more`);
  const cycle = cycles[count - 1] as Cycle;
  const link = payLinkIn(await mailbox.find(`Invoice ${cycle.number} from`));
  expect(link.invoiceId === cycle.id, "the mail's link is the invoice's");
  say(`cycle ${count}: ${cycle.number} of ${cycle.total.formatted}, by mail: ${link.url}`);
  return link;
}

async function paid({ shop, subscription }: Place, invoiceId: string): Promise<void> {
  const isPaid = (cycles: readonly Cycle[]) =>
    cycles.some(({ id, status }) => id === invoiceId && status === "paid");
  await until(async () => (await shop.read(subscription.id)).cycles, isPaid);
}

async function subscribe(deployment: Deployment, dataDir: string): Promise<Place> {
  const shop = shopOf(deployment);
  const subscription = await shop.subscribe({
    customer: { name: "Ada", email: "ada@buyer.example" },
    description: "Coffee of the week",
    amount: { amount: "18.00", asset: "USD" },
    interval: "week",
    daysUntilDue: WEEK,
  });
  say(`${subscription.id}: coffee of the week, 18 dollars, to ada@buyer.example\n`);
  return { deployment, shop, mailbox: mailboxOf(dataDir), subscription };
}

async function threeWeeks(place: Place): Promise<void> {
  const { deployment, shop, mailbox, subscription } = place;
  // The first week: her agent opens the link's invoice and pays what it asks for.
  const first = await billed(place, 1);
  await payByAgent(deployment, first.invoiceId);
  await paid(place, first.invoiceId);
  say("  paid by an agent at its URL\n");

  await shop.advance(WEEK);
  const second = await billed(place, 2);
  await payByTransfer(deployment, await shop.deposit(second.invoiceId), PRICE_ATOMIC);
  await paid(place, second.invoiceId);
  say("  paid by a transfer to an address of its own\n");

  await shop.advance(WEEK);
  await billed(place, 3);
  // Due after a week, and not paid: three days later there is a reminder, and the fourth cycle meanwhile.
  await shop.advance(WEEK);
  await billed(place, 4);
  await shop.advance(3);
  await mailbox.find("3 days overdue");
  await until(
    async () => (await shop.read(subscription.id)).subscription.state,
    (state) => state === "past-due",
  );
  say("  the third was let lie: she is reminded, the subscription is past due\n");
}

async function table({ shop, mailbox, subscription }: Place): Promise<void> {
  const { cycles } = await shop.read(subscription.id);
  say("cycle  invoice            issued      due         status   to pay");
  for (const [i, cycle] of cycles.entries())
    say(
      [
        String(i + 1).padEnd(5),
        cycle.number.padEnd(17),
        cycle.issuedAt.slice(0, 10),
        cycle.dueAt.slice(0, 10),
        cycle.status.padEnd(7),
        cycle.outstanding.formatted,
      ].join("  "),
    );
  const statuses = cycles.map(({ status }) => status).join(" ");
  expect(statuses === "paid paid overdue open", `two paid, one overdue, one open; found ${statuses}`);
  say("\nmails");
  const mails = await until(
    () => mailbox.all(),
    (found) => found.filter(({ subject }) => subject.startsWith("Receipt")).length === 2,
  );
  for (const { to, subject } of mails) say(`  ${to}  ${subject}`);
}

async function example(): Promise<void> {
  say("Starting a database, a chain and Farebox ...\n");
  const { deployment, dataDir, stop } = await startDeployment();
  try {
    const place = await subscribe(deployment, dataDir);
    await threeWeeks(place);
    await table(place);
    const compared = await until(
      async () => compare(deployment, await trialBalance(dataDir)),
      (lines) => lines.every(({ ledger, chain }) => ledger === chain),
    );
    for (const { token, ledger, chain } of compared) say(`\n${token}: ledger ${ledger}, chain ${chain}`);
    say("\nDone: four cycles billed by mail, two paid; the books equal the chain.");
  } finally {
    await stop();
  }
}

example().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
