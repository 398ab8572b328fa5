/** A merchant's margin on exchange rates: in everything that is priced by a market, and nowhere else. */
import { beforeAll, expect, it } from "vitest";
import { sharedWorld } from "../../support/house.ts";
import { newSeller, type Seller } from "../../support/payments.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers off the wire, compared by the tests
type Body = any;
const world = sharedWorld();
let plain: Seller;
let seller: Seller;
beforeAll(async () => {
  [plain, seller] = await Promise.all([newSeller(world), newSeller(world)]);
  await seller.must("PATCH", "/v1/merchant", { spreadBps: 200 });
});

const pounds = { amount: { amount: "10.00", asset: "GBP" } };
/** An amount of atomic units with two percent on it, rounded up as money is. */
const withMargin = (amount: bigint) => (amount * 102n + 99n) / 100n;

async function askedOfAgents(from: Seller, body: Record<string, unknown>): Promise<bigint> {
  const { id } = await from.intent(body);
  const visit = await fetch(`${world.baseUrl}/x402/payables/${id}`);
  const header = visit.headers.get("PAYMENT-REQUIRED") ?? "";
  return BigInt(JSON.parse(Buffer.from(header, "base64").toString()).accepts[0].amount);
}
const atomic = ({ amount }: { amount: string }) => BigInt(amount.replace(".", ""));
const locks = (of: Seller) =>
  world.database.query<{ spread: number; scaled: string }>(
    "SELECT spread_bps AS spread, scaled_rate AS scaled FROM rate_snapshot WHERE merchant_id = $1 ORDER BY id",
    [of.id],
  );

it("is in what agents and payers are asked for, and in the locked rate, which tells it", async () => {
  const [without, withIt] = [await askedOfAgents(plain, pounds), await askedOfAgents(seller, pounds)];
  expect(withIt).toBe(withMargin(without));
  const [free, own] = [await plain.asked(pounds), await seller.asked(pounds)];
  expect(atomic(own.clearing.sourceAmount)).toBe(withMargin(atomic(free.clearing.sourceAmount)));
  expect(atomic(own.deposit.requiredAmount ?? own.clearing.sourceAmount)).toBe(
    atomic(own.clearing.sourceAmount),
  );
  expect(BigInt(own.clearing.rate.scaledRate)).toBe(withMargin(BigInt(free.clearing.rate.scaledRate)));
  expect((await locks(plain)).map(({ spread }) => spread)).toEqual([0, 0, 0]);
  expect((await locks(seller)).map(({ spread }) => spread)).toEqual([200, 200, 200]);
});

it("is in quotes and in what the rails of a link cost", async () => {
  const quote = async (from: Seller): Promise<bigint> =>
    atomic((await from.must("POST", "/v1/quotes", { ...pounds, assets: ["USDC"] })).quotes[0].amount);
  expect(await quote(seller)).toBe(withMargin(await quote(plain)));
  const onLink = async (from: Seller): Promise<bigint> => {
    const { id } = await from.must("POST", "/v1/payment-links", { kind: "fixed", ...pounds });
    const rails: Body = await (await fetch(`${world.baseUrl}/v1/payment-links/${id}/rails`)).json();
    return atomic(rails.find(({ asset }: Body) => asset === "USDC").amount);
  };
  expect(await onLink(seller)).toBe(withMargin(await onLink(plain)));
});

it("is told to payers where they choose how to pay", async () => {
  const page = async (from: Seller) => {
    const { checkoutUrl } = await from.intent(pounds);
    return (await fetch(checkoutUrl, { headers: { accept: "text/html" } })).text();
  };
  expect(await page(seller)).toContain("Rates that a market makes include the seller&#39;s margin of 2 %.");
  expect(await page(plain)).not.toContain("margin");
});

it("is never taken between a currency and its coin", async () => {
  expect(await askedOfAgents(seller, {})).toBe(10_000_000n);
  const { clearing } = await seller.asked();
  expect([clearing.sourceAmount.amount, clearing.rate.source]).toEqual(["10.000000", "parity"]);
});
