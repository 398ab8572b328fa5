/** A person pays at the checkout page: Chromium, a wallet with a key, a real chain. */
import { describe, expect, it } from "vitest";
import { blockOf, inTheMempool } from "../../support/blocks.ts";
import {
  expectAccessible,
  giveWallet,
  openTab,
  photograph,
  sharedBrowser,
  type Tab,
} from "../../support/browser.ts";
import { books, newPayer, sharedWorld } from "../../support/house.ts";
import { sendTo, sharedSeller } from "../../support/payments.ts";
import { expectAtRest, withMiningHeld } from "../../support/scene.ts";

const world = sharedWorld();
const browser = sharedBrowser();
const seller = sharedSeller(world);

const pageOf = (id: string) => `${world.baseUrl}/checkout/${id}`;
const rail = ({ page }: Tab, name: string) => page.getByRole("button", { name });
/** Waits until the page says so of itself, without being loaded again. */
const reads = (tab: Tab, title: string) => heading(tab, title).waitFor({ timeout: 15_000 });
const heading = ({ page }: Tab, name: string) => page.getByRole("heading", { name });

/** A tab with a wallet that has 25 USDC and gas, at the page of a new intent. */
async function visitor(body: Record<string, unknown> = {}) {
  const payer = await newPayer(world.dev, 25_000_000n);
  await world.dev.anvil.rpc("anvil_setBalance", [payer.address, "0xde0b6b3a7640000"]);
  const { id } = await seller.intent(body);
  const tab = await openTab(browser);
  const wallet = await giveWallet(tab.page, { dev: world.dev, payer });
  await tab.page.goto(pageOf(id));
  return { id: id as string, tab, wallet, payer };
}

describe("a person with a wallet", () => {
  it("chooses a coin, sends it, and the page says paid by itself, in a second tab too", async () => {
    const { id, tab, wallet } = await visitor({ merchantReference: "Order 1042" });
    await photograph(tab, "choose");
    await expectAccessible(tab);
    await rail(tab, "USDC on Local chain").click();
    await heading(tab, "Waiting for your payment").waitFor();
    const other = await openTab(browser);
    await other.page.goto(pageOf(id));
    await heading(other, "Waiting for your payment").waitFor();
    await rail(tab, "Test Wallet").click();
    await rail(tab, "Send 10.00 USDC").waitFor();
    await photograph(tab, "wallet");
    await expectAccessible(tab);
    await rail(tab, "Send 10.00 USDC").click();
    await Promise.all([reads(tab, "Paid"), reads(other, "Paid")]);
    await photograph(tab, "paid");
    await expectAccessible(tab);
    expect(wallet.asked).toEqual(
      expect.arrayContaining(["wallet_switchEthereumChain", "eth_sendTransaction"]),
    );
    const { clearing, paymentIntent } = await seller.reaches(id, "settled");
    expect([paymentIntent.status, clearing.netAmount.amount]).toEqual(["completed", "9.950000"]);
    expect([...tab.faults, ...other.faults]).toEqual([]);
    expect(await tab.page.getByText(clearing.transactionHash.slice(0, 10)).count()).toBe(1);
  });
});

describe("what a wallet should show", () => {
  /** The terms and what is said of them, of the list that is open. */
  const shown = async ({ page }: Tab): Promise<Readonly<Record<string, string>>> => {
    const list = page.locator("details.signed[open] dl").first();
    const texts = async (name: string) =>
      (await list.locator(name).allTextContents()).map((text) => text.trim());
    const [terms, said] = [await texts("dt"), await texts("dd")];
    return Object.fromEntries(terms.map((term, i) => [term, said[i] ?? ""]));
  };

  it("is, of a signature, what it is asked to sign: amount, coin, recipient, network and end", async () => {
    const { tab, wallet } = await visitor();
    await rail(tab, "USDC on Local chain").click();
    await rail(tab, "Test Wallet").click();
    expect(await shown(tab)).toMatchObject({ "Good until": "5 minutes after you sign" });
    await photograph(tab, "signed");
    await expectAccessible(tab);
    wallet.decline("eth_signTypedData_v4");
    await rail(tab, "Sign and pay, no gas needed").click();
    await tab.page.getByText("You declined in the wallet.").waitFor();
    const { domain, message } = JSON.parse(String(wallet.lastParams("eth_signTypedData_v4")?.[1]));
    const end = new Date(message.validBefore * 1_000).toISOString().slice(0, 19).replace("T", " ");
    expect(await shown(tab)).toEqual({
      "Amount that is paid": `10.00 USDC; a wallet may write ${message.value}`,
      "Coin, and its contract": `USDC ${domain.verifyingContract}`,
      Recipient: message.to,
      Network: `Local chain, number ${domain.chainId}`,
      "Good until": `${end} UTC; a wallet may write ${message.validBefore}`,
    });
    await photograph(tab, "signed-declined");
  });

  it("is, of a transfer, where it goes; and through the contract, which one and until when", async () => {
    const { id, tab, wallet } = await visitor();
    await rail(tab, "USDC on Local chain").click();
    await rail(tab, "Test Wallet").click();
    const { deposit } = await seller.read(id);
    await tab.page.locator("details.signed[open] summary").click();
    await tab.page.locator("details.signed summary").last().click();
    expect(await shown(tab)).toMatchObject({ Recipient: deposit.address });
    expect(await shown(tab)).not.toHaveProperty("Good until");
    await rail(tab, "Pay through the contract instead").click();
    await reads(tab, "Pay through the payment contract");
    await rail(tab, "Test Wallet").click();
    await tab.page.locator("details.signed[open] summary").click();
    await tab.page.locator("details.signed summary").last().click();
    const said = await shown(tab);
    await photograph(tab, "signed-contract");
    await rail(tab, "Pay 10.00 USDC through the contract").click();
    await reads(tab, "Paid");
    const [call] = wallet.lastParams("eth_sendTransaction") as [
      { readonly to: string; readonly data: string },
    ];
    const { paymentIntent } = await seller.read(id);
    const seconds = Date.parse(paymentIntent.expiresAt) / 1_000;
    expect(said["Contract that is called"]?.toLowerCase()).toBe(call.to.toLowerCase());
    expect(said["Good until"]).toContain(`a wallet may write ${seconds}`);
    for (const part of [said.Recipient?.slice(2).toLowerCase() ?? "none", seconds.toString(16)])
      expect(call.data).toContain(part);
  });
});

describe("other ways of a wallet", () => {
  it("pays through the contract: the amount is allowed to it first", async () => {
    const { id, tab, wallet } = await visitor();
    await rail(tab, "USDC on Local chain").click();
    await rail(tab, "Pay through the contract instead").click();
    await reads(tab, "Pay through the payment contract");
    await rail(tab, "Test Wallet").click();
    await rail(tab, "Pay 10.00 USDC through the contract").waitFor();
    await photograph(tab, "contract");
    await expectAccessible(tab);
    await rail(tab, "Pay 10.00 USDC through the contract").click();
    await reads(tab, "Paid");
    expect(wallet.asked.filter((method) => method === "eth_sendTransaction")).toHaveLength(2);
    const { paymentIntent, timeline } = await seller.reaches(id, "settled");
    expect(paymentIntent.executionPath).toBe("on-chain-contract");
    expect(timeline.filter(({ from }: { from: string | null }) => from === "awaiting-funds")).toHaveLength(2);
    expect(tab.faults).toEqual([]);
  });

  it("pays by a signature: no transaction of its own, and no gas", async () => {
    const { id, tab, wallet, payer } = await visitor();
    await world.dev.anvil.rpc("anvil_setBalance", [payer.address, "0x0"]);
    await rail(tab, "USDC on Local chain").click();
    await rail(tab, "Test Wallet").click();
    await rail(tab, "Sign and pay, no gas needed").click();
    await reads(tab, "Paid");
    expect(wallet.asked).toContain("eth_signTypedData_v4");
    expect(wallet.asked).not.toContain("eth_sendTransaction");
    const { paymentIntent, clearing } = await seller.reaches(id, "settled");
    expect([paymentIntent.executionPath, clearing.netAmount.amount]).toEqual(["x402", "9.950000"]);
    expect(paymentIntent.payment.payerAddress.toLowerCase()).toBe(payer.address);
    // A browser tells of every 402, also of the one that was asked for.
    expect(tab.faults.filter((fault) => !fault.includes("402 (Payment Required)"))).toEqual([]);
  });

  it("sends what was signed once more where the answer was lost, and it is charged once", async () => {
    const { id, tab, payer } = await visitor();
    await rail(tab, "USDC on Local chain").click();
    await rail(tab, "Test Wallet").click();
    let lost = 0;
    await tab.page.route("**/x402/payables/*", async (route) => {
      if (route.request().headers()["payment-signature"] === undefined || lost > 0) return route.fallback();
      lost += 1;
      await route.fetch();
      await route.abort();
    });
    await rail(tab, "Sign and pay, no gas needed").click();
    await reads(tab, "Paid");
    expect(lost).toBe(1);
    const { clearing } = await seller.reaches(id, "settled");
    expect(clearing.netAmount.amount).toBe("9.950000");
    expect(await world.dev.chain.tokenBalance(world.dev.usdc, payer.address, "latest")).toBe(15_000_000n);
  });

  it("says that it is not known where no answer comes, and lets nobody pay again", async () => {
    const { tab } = await visitor();
    await rail(tab, "USDC on Local chain").click();
    await rail(tab, "Test Wallet").click();
    await tab.page.route("**/x402/payables/*", (route) =>
      route.request().headers()["payment-signature"] === undefined ? route.fallback() : route.abort(),
    );
    await rail(tab, "Sign and pay, no gas needed").click();
    await tab.page.getByText("Do not pay again").waitFor();
    expect(await rail(tab, "Sign and pay, no gas needed").isDisabled()).toBe(true);
    expect(await rail(tab, "Send 10.00 USDC").isDisabled()).toBe(true);
  });

  it("pays by a signature where the merchant asked for that, and nothing else is offered first", async () => {
    const { id, tab } = await visitor({ executionPath: "x402" });
    await rail(tab, "USDC on Local chain").click();
    await reads(tab, "Pay by signature");
    expect(await tab.page.locator("#address").count()).toBe(0);
    await rail(tab, "Test Wallet").click();
    await rail(tab, "Sign and pay, no gas needed").click();
    await reads(tab, "Paid");
    expect((await seller.reaches(id, "settled")).paymentIntent.executionPath).toBe("x402");
  });

  it("finds a wallet that only stands on the window, and says what it declined", async () => {
    const payer = await newPayer(world.dev, 3_000_000n);
    const { id } = await seller.intent();
    const tab = await openTab(browser);
    const wallet = await giveWallet(tab.page, { dev: world.dev, payer, isOld: true });
    await tab.page.goto(pageOf(id));
    await rail(tab, "USDC on Local chain").click();
    await rail(tab, "Browser wallet").waitFor();
    wallet.decline("eth_requestAccounts");
    await rail(tab, "Browser wallet").click();
    await tab.page.getByText("You declined in the wallet. Nothing was sent.").waitFor();
    await rail(tab, "Browser wallet").click();
    await rail(tab, "Send 10.00 USDC").click();
    await tab.page.getByText("This account has 3.00 USDC, which is less than needed.").waitFor();
    expect(wallet.asked).not.toContain("eth_sendTransaction");
    expect((await seller.read(id)).clearing.state).toBe("awaiting-funds");
  });
});

describe("another account of the same wallet", () => {
  it("is gone on with as soon as it is chosen there, and the first is forgotten", async () => {
    const { id, tab, wallet } = await visitor({ amount: { amount: "30.00", asset: "USD" } });
    await rail(tab, "USDC on Local chain").click();
    await rail(tab, "Test Wallet").click();
    await rail(tab, "Send 30.00 USDC").click();
    await tab.page.getByText("This account has 25.00 USDC, which is less than needed.").waitFor();
    const rich = await newPayer(world.dev, 40_000_000n);
    await world.dev.anvil.rpc("anvil_setBalance", [rich.address, "0xde0b6b3a7640000"]);
    await wallet.switchTo(rich);
    await tab.page.getByText(/^Connected: 0x/).waitFor();
    await rail(tab, "Send 30.00 USDC").click();
    await reads(tab, "Paid");
    await seller.reaches(id, "settled");
    expect(await world.dev.chain.tokenBalance(world.dev.usdc, rich.address, "latest")).toBe(10_000_000n);
  });

  it("is asked for anew where none is connected any more", async () => {
    const { tab, wallet } = await visitor();
    await rail(tab, "USDC on Local chain").click();
    await rail(tab, "Test Wallet").click();
    await wallet.switchTo(null);
    await rail(tab, "Send 10.00 USDC").waitFor({ state: "hidden" });
    await tab.page.locator("#wallet-note", { hasText: "Choose a wallet" }).waitFor();
  });
});

describe("a page that is drawn anew", () => {
  const declined = ({ page }: Tab) => page.getByText("You declined in the wallet. Nothing was sent.");

  /** A visitor who has declined a transfer, at a page whose payment then is partly paid from elsewhere. */
  async function declining() {
    const visit = await visitor();
    await rail(visit.tab, "USDC on Local chain").click();
    await rail(visit.tab, "Test Wallet").click();
    visit.wallet.decline("eth_sendTransaction");
    const { deposit } = await seller.read(visit.id);
    return { ...visit, pay: () => sendTo(world, deposit.address, 4_000_000n) };
  }

  it("says still what it said of the wallet, also when another one shows up, and leaves people where they are", async () => {
    const { tab, pay } = await declining();
    await rail(tab, "Send 10.00 USDC").click();
    await declined(tab).waitFor();
    await tab.page.evaluate("dispatchEvent(new Event('eip6963:requestProvider'))");
    expect(await declined(tab).count()).toBe(1);
    await rail(tab, "Send 10.00 USDC").focus();
    await pay();
    await reads(tab, "Part of it has arrived");
    expect(await declined(tab).count()).toBe(1);
    expect(await tab.page.evaluate("document.activeElement.textContent")).toBe(
      "Send 6.00 USDC from this wallet",
    );
    expect(await rail(tab, "Send 6.00 USDC").isEnabled()).toBe(true);
  });

  it("lets nobody press again while the wallet is asked", async () => {
    const { tab, wallet, pay } = await declining();
    const letGo = wallet.hold("eth_sendTransaction");
    await rail(tab, "Send 10.00 USDC").click();
    await tab.page.getByText("Please confirm in your wallet.").waitFor();
    await pay();
    await reads(tab, "Part of it has arrived");
    await tab.page.getByText("Please confirm in your wallet.").waitFor();
    expect(await rail(tab, "Send 6.00 USDC").isDisabled()).toBe(true);
    expect(await rail(tab, "Test Wallet").isDisabled()).toBe(true);
    letGo();
    await declined(tab).waitFor();
    expect(await rail(tab, "Send 6.00 USDC").isEnabled()).toBe(true);
  });
});

/** The page of a payment that waits for its wallet, and the same page in a second tab. */
async function twoTabs() {
  const visit = await visitor();
  await rail(visit.tab, "USDC on Local chain").click();
  await heading(visit.tab, "Waiting for your payment").waitFor();
  const other = await openTab(browser);
  await other.page.goto(pageOf(visit.id));
  await heading(other, "Waiting for your payment").waitFor();
  return { ...visit, other };
}

describe("two blocks after a wallet has sent it", () => {
  const ways = [
    ["by a transfer", "deposit-match", ["Test Wallet", "Send 10.00 USDC"], 1],
    [
      "through the contract",
      "on-chain-contract",
      ["Pay through the contract instead", "Test Wallet", "Pay 10.00 USDC through the contract"],
      2,
    ],
    ["by a signature", "x402", ["Test Wallet", "Sign and pay, no gas needed"], 1],
  ] as const;

  it.each(ways)("%s, both tabs say paid, and no third one was mined", async (_, path, presses, sent) => {
    const { id, tab, other, payer } = await twoTabs();
    const { dev } = world;
    await withMiningHeld(world, async () => {
      for (const name of presses) await rail(tab, name).click();
      // What goes before the payment itself, an allowance, has blocks of its own.
      for (let before = 1; before < sent; before++) {
        await inTheMempool(dev, payer);
        await dev.anvil.mine();
      }
      await inTheMempool(dev, payer);
      const { number } = await dev.chain.head();
      await dev.anvil.mine(2);
      await Promise.all([reads(tab, "Paid"), reads(other, "Paid")]);
      const { clearing, paymentIntent } = await seller.read(id);
      const { number: paidIn } = await blockOf(dev, clearing.transactionHash);
      const { number: newest } = await dev.chain.head();
      expect([paymentIntent.executionPath, paidIn, newest]).toEqual([path, number + 1, number + 2]);
    });
  });
});

describe("a transfer that the network has not taken up yet", () => {
  it("is offered no second time by the page that is loaded again", async () => {
    const { id, tab, payer } = await visitor();
    await rail(tab, "USDC on Local chain").click();
    await rail(tab, "Test Wallet").click();
    await withMiningHeld(world, async () => {
      await rail(tab, "Send 10.00 USDC").click();
      const sent = tab.page.getByText(/^Sent\. Waiting for the network\. 0x/);
      await sent.waitFor();
      await tab.page.reload();
      await sent.waitFor();
      expect(await rail(tab, "Test Wallet").isDisabled()).toBe(true);
      await inTheMempool(world.dev, payer);
      await world.dev.anvil.mine(2);
      await reads(tab, "Paid");
    });
    expect((await seller.read(id)).deposit.deposits).toHaveLength(1);
  });

  it("is not said to be uncharged where the wallet failed after it was sent", async () => {
    const { tab, wallet, payer } = await visitor();
    await rail(tab, "USDC on Local chain").click();
    await rail(tab, "Test Wallet").click();
    await withMiningHeld(world, async () => {
      wallet.lose("eth_sendTransaction");
      await rail(tab, "Send 10.00 USDC").click();
      await tab.page.getByText("Look there whether it was sent, before you pay again.").waitFor();
      await inTheMempool(world.dev, payer);
      await world.dev.anvil.mine(2);
      await reads(tab, "Paid");
    });
  });
});

describe("the books", () => {
  it("balance after all of it and equal the chain", async () => {
    await expectAtRest(world);
    expect((await books(world.dev, world.database)).balanced).toBe(true);
  });
});
