/** A person whose refund waits for an address claims it with the wallet that paid. */
import { describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { newKey } from "../../support/authorization.ts";
import { expectAccessible, giveWallet, openTab, photograph, sharedBrowser } from "../../support/browser.ts";
import { newPayer, sharedWorld } from "../../support/house.ts";
import { sendTo, sharedSeller } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { expectAtRest } from "../../support/scene.ts";
import { held, untilSucceeded } from "../refund/paid.ts";

const world = sharedWorld();
const browser = sharedBrowser();
const seller = sharedSeller(world);

/** A payment whose wallet has lent itself a contract's code (EIP-7702), so that its refund waits for an address. */
async function waiting(body: Record<string, unknown> = {}) {
  const payer = await newPayer(world.dev, 0n);
  const { paymentIntent, deposit } = await seller.asked(body);
  const id: string = paymentIntent.id;
  await sendTo(world, deposit.address, 10_000_000n, { payer });
  await seller.reaches(id, "settled");
  await expectAtRest(world);
  await world.dev.anvil.rpc("anvil_setCode", [payer.address, `0xef0100${"00".repeat(20)}`]);
  const made = await seller.must("POST", `/v1/payments/${id}/refunds`, {});
  return { id, payer, refundId: made.id as string };
}

describe("the page of a refund that waits", () => {
  it("leads from the payment to a signature, and to the money at the address that was named", async () => {
    const { id, payer, refundId } = await waiting({ merchant: { name: `Tea <b>&</b> "Cake"` } });
    const tab = await openTab(browser);
    const { page } = tab;
    const wallet = await giveWallet(page, { dev: world.dev, payer });
    await page.goto(`${world.baseUrl}/checkout/${id}`);
    await page.getByRole("link", { name: "Claim your refund" }).click();
    await page.getByRole("heading", { name: "Say where your refund goes" }).waitFor();
    await photograph(tab, "refund");
    await expectAccessible(tab);
    await page.getByRole("button", { name: "Test Wallet" }).click();
    const address = page.getByLabel("Your address on Local chain");
    await address.waitFor();
    expect((await address.inputValue()).toLowerCase()).toBe(payer.address);
    const destination = checksum(newKey().address);
    await address.fill(destination);
    await photograph(tab, "refund-wallet");
    await expectAccessible(tab);
    wallet.decline("personal_sign");
    await page.getByRole("button", { name: "Sign and claim 10.00 USDC" }).click();
    await page.getByText("You declined in the wallet.").waitFor();
    await page.getByRole("button", { name: "Sign and claim 10.00 USDC" }).click();
    await page.getByRole("heading", { name: "10.00 USDC is on its way back" }).waitFor();
    await photograph(tab, "refund-claimed");
    await expectAccessible(tab);
    await untilSucceeded(world, seller, refundId);
    await page.reload();
    await page.getByRole("heading", { name: "10.00 USDC was paid back" }).waitFor();
    expect(await held(world, destination)).toBe(10_000_000n);
    expect(await ledgerOf(world.database, refundId)).toEqual([
      "single net merchant → merchant 9950000",
      "single fee fees → merchant 50000",
      "pending out merchant → treasury 10000000",
      "post out merchant → treasury 10000000",
    ]);
    expect(await page.locator("header b").count()).toBe(0);
    expect(tab.faults).toEqual([]);
  });

  it("says of a mistyped address that it is the address, and of a refund that was taken back that nothing waits", async () => {
    const { id, payer, refundId } = await waiting();
    const tab = await openTab(browser);
    const { page } = tab;
    const wallet = await giveWallet(page, { dev: world.dev, payer });
    await page.goto(`${world.baseUrl}/checkout/${id}/refund`);
    await page.getByRole("button", { name: "Test Wallet" }).click();
    const address = page.getByLabel("Your address on Local chain");
    await address.fill("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed");
    const claim = page.getByRole("button", { name: "Sign and claim 10.00 USDC" });
    await claim.click();
    await page.getByText("The refund cannot be sent to that address. Choose another.").waitFor();
    await address.fill(checksum(newKey().address));
    await seller.must("POST", `/v1/refunds/${refundId}/cancel`);
    await claim.click();
    await page.getByText("Nothing waits for an address any more.").waitFor();
    expect(wallet.asked).not.toContain("personal_sign");
  });

  it("with another wallet says which account it has to be, and signs nothing", async () => {
    const { id, payer } = await waiting();
    const tab = await openTab(browser);
    const wallet = await giveWallet(tab.page, { dev: world.dev, payer: await newPayer(world.dev, 0n) });
    await tab.page.goto(`${world.baseUrl}/checkout/${id}/refund`);
    await tab.page.getByRole("button", { name: "Test Wallet" }).click();
    await tab.page.getByRole("button", { name: "Sign and claim 10.00 USDC" }).click();
    const account = checksum(payer.address);
    await tab.page.getByText(`${account.slice(0, 6)}…${account.slice(-4)} in it.`).waitFor();
    expect(wallet.asked).not.toContain("personal_sign");
    await expectAccessible(tab);
  });

  it("without JavaScript says what to do instead", async () => {
    const { id } = await waiting();
    const tab = await openTab(browser, { javaScriptEnabled: false });
    await tab.page.goto(`${world.baseUrl}/checkout/${id}/refund`);
    await tab.page.getByText("tell Test Merchant your address on Local chain").waitFor();
    expect(await tab.page.content()).toContain("A wallet needs JavaScript on this page. It is off.");
    expect(await tab.page.locator("#wallet").isVisible()).toBe(false);
  });
});
