/** A shop that ships what is paid, told by webhook: an order is paid by transfer, the shop hears of it and ships; the same
 *  event sent again ships nothing. `npm run example:shop`. */
import { type Deployment, freePort, startDeployment } from "../demo/deployment.ts";
import { until } from "../payments/merchant.ts";
import { payByTransfer } from "../payments/payer.ts";
import { openShop, type Shop } from "./shop.ts";

const say = (line: string) => void process.stdout.write(`${line}\n`);

interface Delivery {
  readonly id: string;
  readonly type: string;
  readonly state: string;
  readonly attempts: readonly { readonly status: number | null }[];
}

async function call<T>({ baseUrl, secretKey }: Deployment, method: string, path: string): Promise<T> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { Authorization: `Bearer ${secretKey}` },
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

async function sell(deployment: Deployment, shop: Shop): Promise<void> {
  const position = await shop.order("a harbour chart", "12.50");
  say(`ordered: a harbour chart for 12.50 USD, to be paid to ${position.deposit?.address}`);
  if (shop.shipped.length > 0) throw new Error("shipped before it was paid");
  await payByTransfer(deployment, position, 12_500_000n);
  await until(
    async () => shop.shipped.length,
    (count) => count === 1,
  );
  say(`paid, told by webhook, shipped: ${shop.shipped.join(", ")}`);
}

/** Asks for the event that made the shop ship once more. */
async function sendAgain(deployment: Deployment, shop: Shop): Promise<void> {
  const log = () =>
    call<readonly Delivery[]>(deployment, "GET", `/v1/webhook-endpoints/${shop.endpointId}/deliveries`);
  const deliveries = await until(log, (all) => all.every(({ state }) => state === "succeeded"));
  for (const { type, attempts } of [...deliveries].reverse())
    say(`  ${type}: ${attempts.map(({ status }) => status).join(", ")}`);
  const paid = deliveries.find(({ type }) => type === "payment.completed");
  if (!paid) throw new Error("no delivery told that it was paid");
  const before = shop.taken();
  await call(deployment, "POST", `/v1/webhook-deliveries/${paid.id}/redeliver`);
  await until(
    async () => shop.taken(),
    (count) => count > before,
  );
  if (shop.shipped.length !== 1) throw new Error("the same event shipped twice");
  say("sent again: nothing was shipped twice");
}

async function example(): Promise<void> {
  say("Starting a database, a chain and Farebox ...\n");
  const { deployment, stop } = await startDeployment();
  try {
    const shop = await openShop(deployment, await freePort());
    try {
      await sell(deployment, shop);
      await sendAgain(deployment, shop);
    } finally {
      shop.close();
    }
    say("\nDone: one order, one payment, one parcel.");
  } finally {
    await stop();
  }
}

example().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
