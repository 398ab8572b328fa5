/** A payment that failed is paid again where it stands, as long as it can be. */
import { afterEach, expect, it } from "vitest";
import {
  expectAccessible,
  giveWallet,
  openTab,
  photograph,
  sharedBrowser,
  type Tab,
} from "../../support/browser.ts";
import { chainFaults, holdDispatch } from "../../support/chain-faults.ts";
import { books, newPayer, sharedWorld, until } from "../../support/house.ts";
import { sharedSeller } from "../../support/payments.ts";
import { ledgerOf, stateOf } from "../../support/records.ts";
import { cancel, drain, expectAtRest } from "../../support/scene.ts";

const faults = chainFaults();
const world = sharedWorld({ wrapChain: faults.wrap });
const browser = sharedBrowser();
const seller = sharedSeller(world);
afterEach(() => faults.clear());

const button = ({ page }: Tab, name: string) => page.getByRole("button", { name });
const reads = ({ page }: Tab, name: string) =>
  page.getByRole("heading", { name }).waitFor({ timeout: 30_000 });

/** Signs at the page of an intent, and spends the money elsewhere before it is sent. */
async function failing(id: string) {
  const payer = await newPayer(world.dev, 10_000_000n);
  const tab = await openTab(browser);
  const wallet = await giveWallet(tab.page, { dev: world.dev, payer });
  await tab.page.goto(`${world.baseUrl}/checkout/${id}`);
  await button(tab, "USDC on Local chain").click();
  await button(tab, "Test Wallet").click();
  const dispatch = holdDispatch(faults);
  await button(tab, "Sign and pay, no gas needed").click();
  await dispatch.reached;
  await drain(world, payer, 10_000_000n);
  dispatch.letGo();
  await reads(tab, "The payment did not work");
  faults.clear();
  return { tab, payer, wallet };
}

it("is signed again at the same page while it can be paid, and then it is paid once", async () => {
  const { id } = await seller.intent({ executionPath: "x402" });
  const { tab, payer, wallet } = await failing(id);
  await tab.page.getByText("Nothing was paid. You can pay again here.").waitFor();
  await button(tab, "Test Wallet").waitFor();
  await photograph(tab, "failed-again");
  await expectAccessible(tab);
  await world.dev.administer("mint", [payer.address, 12_000_000n]);
  await button(tab, "Sign and pay, no gas needed").click();
  await tab.page.getByText("What you signed before can still be charged.").waitFor();
  const { message } = JSON.parse(String(wallet.lastParams("eth_signTypedData_v4")?.[1]));
  await cancel(world, payer, message.nonce);
  await world.dev.anvil.mine(3);
  await until(
    async () => (await stateOf(world.database, message.nonce)) === "cancelled",
    "the first signature is good for nothing",
  );
  await button(tab, "Sign and pay, no gas needed").click();
  await reads(tab, "Paid");
  const { clearing } = await seller.reaches(id, "settled");
  expect(clearing.netAmount.amount).toBe("9.950000");
  expect(await world.dev.chain.tokenBalance(world.dev.usdc, payer.address, "latest")).toBe(2_000_000n);
  const rows = await ledgerOf(world.database, clearing.providerReference);
  expect(rows.filter((row) => row.startsWith("pending"))).toEqual([
    "pending net treasury → available 9950000",
    "pending fee treasury → fees 50000",
  ]);
});

it("leaves the books equal to the chain", async () => {
  await expectAtRest(world);
  expect((await books(world.dev, world.database)).balanced).toBe(true);
});
