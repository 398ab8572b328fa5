/** Journeys beside the straight ones: a provider's payment, money that comes late, beginning anew, a script that does not
 *  come; and how soon the page says paid. */
import { describe, expect, it } from "vitest";
import {
  expectAccessible,
  giveWallet,
  openTab,
  photograph,
  sharedBrowser,
  type Tab,
} from "../../support/browser.ts";
import { newPayer, sharedWorld, until } from "../../support/house.ts";
import { movableClock, sendTo, sharedSeller } from "../../support/payments.ts";

const clock = movableClock();
const world = sharedWorld({ clock, withSandbox: true });
const browser = sharedBrowser();
const seller = sharedSeller(world);

const PATIENCE_MS = 60_000;
const pageOf = (id: string) => `${world.baseUrl}/checkout/${id}`;
const reads = ({ page }: Tab, name: string) =>
  page.getByRole("heading", { name }).waitFor({ timeout: PATIENCE_MS });
const press = ({ page }: Tab, name: string) =>
  page.getByRole("button", { name }).click({ timeout: PATIENCE_MS });

describe("the word paid", () => {
  it.each([
    ["by transfer", "deposit-match", "Send 10.00 USDC"],
    ["through the contract", "on-chain-contract", "Pay 10.00 USDC through the contract"],
    ["by signature", "x402", "Sign and pay, no gas needed"],
  ])("is on the page two blocks after a payment %s at most", async (_, executionPath, button) => {
    const payer = await newPayer(world.dev, 25_000_000n);
    await world.dev.anvil.rpc("anvil_setBalance", [payer.address, "0xde0b6b3a7640000"]);
    const { id } = await seller.intent({ executionPath });
    const tab = await openTab(browser);
    await giveWallet(tab.page, { dev: world.dev, payer });
    await tab.page.goto(pageOf(id));
    await press(tab, "USDC on Local chain");
    await press(tab, "Test Wallet");
    await press(tab, button);
    await reads(tab, "Paid");
    const { number: head } = await world.dev.chain.head();
    const { clearing } = await seller.reaches(id, "settled");
    const receipt = await world.dev.chain.receipt(clearing.transactionHash);
    expect(receipt?.succeeded).toBe(true);
    expect(head - (receipt?.blockNumber ?? 0)).toBeLessThanOrEqual(1);
    expect(tab.faults.filter((fault) => !fault.includes("402 (Payment Required)"))).toEqual([]);
  });
});

describe("a provider's payment", () => {
  it("begins with one tap, says where it is paid, and paid by itself; its refund needs no address", async () => {
    const { id } = await seller.intent({ provider: "sandbox" });
    const tab = await openTab(browser);
    await tab.page.goto(pageOf(id));
    await photograph(tab, "provider-choose");
    await expectAccessible(tab);
    await press(tab, "Continue to payment");
    await reads(tab, "Waiting for your payment");
    await reads(tab, "Pay with sandbox");
    expect(await tab.page.locator("#address, #wallet").count()).toBe(0);
    await photograph(tab, "provider-waiting");
    await expectAccessible(tab);
    const asked = async () => (await seller.read(id)).clearing.providerReference !== null;
    await until(asked, "the provider was asked", PATIENCE_MS);
    await seller.must("POST", "/v1/test/deposits", { paymentId: id });
    await reads(tab, "Paid");
    await photograph(tab, "provider-paid");
    await expectAccessible(tab);
    expect(tab.faults).toEqual([]);
  });
});

describe("after its time", () => {
  async function expired(body: Record<string, unknown> = {}) {
    const position = await seller.asked({ expiresInSeconds: 300, ...body });
    const { id } = position.paymentIntent;
    const tab = await openTab(browser);
    await tab.page.goto(pageOf(id));
    await reads(tab, "Waiting for your payment");
    clock.forward(10 * 60_000);
    await until(
      async () => {
        await world.dev.anvil.mine();
        return (await seller.read(id)).clearing.state === "expired";
      },
      "it expires",
      PATIENCE_MS,
    );
    await reads(tab, "The time to pay is over");
    return { id: id as string, tab, address: position.deposit.address as string };
  }

  it("money that comes late is noticed by the page that had given up, and by another tab", async () => {
    const { id, tab, address } = await expired();
    await sendTo(world, address, 10_000_000n);
    await seller.reaches(id, "settled");
    await reads(tab, "Paid");
    const other = await openTab(browser);
    await other.page.goto(pageOf(id));
    await reads(other, "Paid");
    await photograph(other, "late-paid");
    expect([...tab.faults, ...other.faults]).toEqual([]);
  });

  it("money that comes late and is too little is looked at by somebody, and the page says so", async () => {
    const { tab, address } = await expired();
    await sendTo(world, address, 4_000_000n);
    await reads(tab, "Being looked at");
    await expectAccessible(tab);
  });

  it("what a merchant's server asked for cannot be begun anew here: the way back is shown", async () => {
    const returnUrl = `${world.baseUrl}/?order=7`;
    await seller.must("PATCH", "/v1/merchant", { allowedOrigins: [world.baseUrl] });
    const { id, tab } = await expired({ returnUrl });
    const back = tab.page.getByRole("link", { name: "Back to Test Merchant" });
    expect(await back.getAttribute("href")).toBe(`${returnUrl}&paymentIntentId=${id}`);
    expect(await tab.page.getByRole("button").count()).toBe(0);
    const body = new URLSearchParams({ chain: "local", asset: "USDC", executionPath: "deposit-match" });
    const refused = await fetch(`${pageOf(id)}/confirm`, { method: "POST", redirect: "manual", body });
    expect(refused.status).toBe(303);
    const orders = await world.database.query(
      "SELECT 1 FROM clearing_order JOIN clearing ON clearing.id = clearing_id WHERE intent_id = $1",
      [id],
    );
    expect(orders).toHaveLength(1);
    await photograph(tab, "expired-back");
  });

  it("what came from a link is begun anew with one tap, as a payment of its own", async () => {
    const link = await seller.must("POST", "/v1/payment-links", {
      kind: "fixed",
      amount: { amount: "10.00", asset: "USD" },
    });
    const tab = await openTab(browser);
    await tab.page.goto(link.url);
    await press(tab, "Pay $10.00");
    await press(tab, "USDC on Local chain");
    await reads(tab, "Waiting for your payment");
    const first = new URL(tab.page.url()).pathname;
    clock.forward(2 * 3_600_000);
    await until(
      async () => {
        await world.dev.anvil.mine();
        return (await seller.read(first.split("/")[2] ?? "")).paymentIntent.status === "expired";
      },
      "it expires",
      PATIENCE_MS,
    );
    await reads(tab, "The time to pay is over");
    await tab.page.getByRole("link", { name: "Start again" }).click();
    await press(tab, "Pay $10.00");
    await reads(tab, "How do you want to pay?");
    expect(new URL(tab.page.url()).pathname).not.toBe(first);
  });
});

describe("a script that does not come", () => {
  it("keeps nothing back: the page is painted, and can be read and used", async () => {
    const { id } = await seller.intent();
    const tab = await openTab(browser);
    let asked = 0;
    // Never answered, as on a line that is lost.
    await tab.page.route("**/assets/*.js", () => {
      asked += 1;
    });
    await tab.page.goto(pageOf(id), { waitUntil: "commit" });
    await reads(tab, "How do you want to pay?");
    const painted = async () =>
      (await tab.page.evaluate("performance.getEntriesByName('first-contentful-paint').length")) === 1;
    await until(painted, "it is painted", PATIENCE_MS);
    expect(asked).toBe(1);
    expect(await tab.page.evaluate("document.documentElement.className")).toBe("");
    await tab.page.getByRole("button", { name: "USDC on Local chain" }).click({ noWaitAfter: true });
    await reads(tab, "Waiting for your payment");
    expect(await tab.page.locator("#amount").textContent()).toBe("10.00");
  });
});
