/** What the checkout page shows of payments that go other ways, to whom, and what it refuses to run. */
import type { Route } from "playwright-core";
import { describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import type { CheckoutStatus } from "../../../api/pages/schema.ts";
import { newKey } from "../../support/authorization.ts";
import { expectAccessible, openTab, photograph, sharedBrowser, type Tab } from "../../support/browser.ts";
import { sharedWorld, until } from "../../support/house.ts";
import { movableClock, sendTo, sharedSeller } from "../../support/payments.ts";
import { expectAtRest, withMiningHeld } from "../../support/scene.ts";
import { untilSucceeded } from "../refund/paid.ts";

const clock = movableClock();
const world = sharedWorld({ clock });
const browser = sharedBrowser();
const seller = sharedSeller(world);

const pageOf = (id: string) => `${world.baseUrl}/checkout/${id}`;
const reads = ({ page }: Tab, title: string) =>
  page.getByRole("heading", { name: title }).waitFor({ timeout: 15_000 });

const sayWhatIsHeard = `EventSource = class extends EventSource {
  constructor(url) {
    super(url);
    this.addEventListener("state", ({ data }) => console.info("heard " + JSON.parse(data).executionPath));
  }
}`;

/** Another visitor of the same page chooses how to pay. */
async function choose(id: string, executionPath: string): Promise<void> {
  const body = new URLSearchParams({ chain: "local", asset: "USDC", executionPath });
  const answer = await fetch(`${pageOf(id)}/confirm`, { method: "POST", redirect: "manual", body });
  expect([answer.status, answer.headers.get("location")]).toEqual([303, `/checkout/${id}`]);
}

/** Resolves when the page is asked for: what is answered then comes only when it is let go. */
function slowLine({ page }: Tab, url: string): Promise<{ letGo(): void }> {
  return new Promise((asked) => {
    const answer = async (route: Route) => {
      const response = await route.fetch();
      await new Promise<void>((letGo) => asked({ letGo }));
      await route.fulfill({ response });
    };
    void page.route(url, answer, { times: 1 });
  });
}

describe("the page of a payment", () => {
  it("underpaid: says what is missing, with a code for that, and then paid", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    const tab = await openTab(browser);
    await tab.page.goto(pageOf(paymentIntent.id));
    await reads(tab, "Waiting for your payment");
    const codeBefore = await tab.page.locator("svg.qr path").getAttribute("d");
    await sendTo(world, deposit.address, 4_000_000n);
    await reads(tab, "Part of it has arrived");
    await tab.page.getByText("4.00 USDC of 10.00 USDC came.").waitFor();
    expect(await tab.page.locator("#amount").textContent()).toBe("6.00");
    expect(await tab.page.locator("#address").textContent()).toBe(deposit.address);
    expect(await tab.page.locator("svg.qr path").getAttribute("d")).not.toBe(codeBefore);
    await photograph(tab, "underpaid");
    await expectAccessible(tab);
    await sendTo(world, deposit.address, 6_000_000n);
    await reads(tab, "Paid");
    expect(tab.faults).toEqual([]);
  });

  it("paid while its payer looks at the other coins: says so there too, also when it is loaded again meanwhile", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    const tab = await openTab(browser);
    await tab.page.goto(pageOf(paymentIntent.id));
    await tab.page.getByRole("link", { name: "Another coin or network" }).click();
    await reads(tab, "How do you want to pay?");
    await sendTo(world, deposit.address, 4_000_000n);
    await reads(tab, "Part of it has arrived");
    await tab.page.reload();
    await reads(tab, "Part of it has arrived");
    await sendTo(world, deposit.address, 6_000_000n);
    await reads(tab, "Paid");
    expect(tab.faults).toEqual([]);
  });

  it("paid with less, which was accepted: says what came", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    await sendTo(world, deposit.address, 4_000_000n);
    await until(
      async () => (await seller.read(paymentIntent.id)).deposit.deposits[0]?.status === "confirmed",
      "it is confirmed",
    );
    clock.forward(32 * 60_000);
    await seller.reaches(paymentIntent.id, "in-review");
    expect(await seller.review(paymentIntent.id, { action: "accept" })).toMatchObject({ status: 200 });
    const tab = await openTab(browser);
    await tab.page.goto(pageOf(paymentIntent.id));
    await reads(tab, "Paid");
    await tab.page.getByText("4.00 USDC on Local chain").waitFor();
    expect(await tab.page.getByText("10.00 USDC").count()).toBe(0);
    await photograph(tab, "accepted");
  });

  it("paid with more: says how much is too much, and who decides", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    await sendTo(world, deposit.address, 12_340_000n);
    await seller.reaches(paymentIntent.id, "settled");
    const tab = await openTab(browser);
    await tab.page.goto(pageOf(paymentIntent.id));
    await reads(tab, "Paid");
    await tab.page.getByText("12.34 USDC on Local chain").waitFor();
    await tab.page.getByText("2.34 USDC more came than was asked for.").waitFor();
    await photograph(tab, "overpaid");
    await expectAccessible(tab);
  });

  it("refunded: says so, of a part and of all", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    await sendTo(world, deposit.address, 10_000_000n);
    await seller.reaches(paymentIntent.id, "settled");
    await expectAtRest(world);
    const refund = async (body: unknown) => {
      const made = await seller.must("POST", `/v1/payments/${paymentIntent.id}/refunds`, body);
      await untilSucceeded(world, seller, made.id);
    };
    const tab = await openTab(browser);
    await refund({ amount: { amount: "3.00", asset: "USDC" } });
    await tab.page.goto(pageOf(paymentIntent.id));
    await reads(tab, "Partly refunded");
    await tab.page.getByText("paid 3.00 USDC of it back.").waitFor();
    await photograph(tab, "partly-refunded");
    await expectAccessible(tab);
    await refund({});
    await tab.page.reload();
    await tab.page.getByRole("heading", { name: "Refunded", exact: true }).waitFor();
    await tab.page.getByText("paid 10.00 USDC back.").waitFor();
  });

  it("without its stream asks now and then, and comes to the same", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    const tab = await openTab(browser);
    await tab.page.route("**/events", (route) => route.abort());
    await tab.page.goto(pageOf(paymentIntent.id));
    await sendTo(world, deposit.address, 10_000_000n);
    await reads(tab, "Paid");
  });

  it("shows the newest, also what it heard while it asked for the page on a slow line", async () => {
    // A window of the merchant's own stays as it is when the way changes.
    const { paymentIntent } = await seller.asked({ expiresInSeconds: 3_000 });
    const tab = await openTab(browser);
    await tab.page.addInitScript(sayWhatIsHeard);
    const heard = (path: string) =>
      tab.page.waitForEvent("console", (message) => message.text() === `heard ${path}`);
    await tab.page.goto(pageOf(paymentIntent.id));
    const [line] = await Promise.all([
      slowLine(tab, pageOf(paymentIntent.id)),
      choose(paymentIntent.id, "on-chain-contract"),
    ]);
    await Promise.all([heard("x402"), choose(paymentIntent.id, "x402")]);
    line.letGo();
    await reads(tab, "Pay by signature");
    expect(tab.faults).toEqual([]);
  });

  it("asks for the page again where that failed", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    const tab = await openTab(browser);
    await tab.page.goto(pageOf(paymentIntent.id));
    await tab.page.route(pageOf(paymentIntent.id), (route) => route.abort(), { times: 2 });
    await sendTo(world, deposit.address, 5_000_000n, { token: world.dev.contracts.assets.EURC });
    await reads(tab, "Being looked at");
  });

  it("in review: money of another coin waits for a decision", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    const tab = await openTab(browser);
    await tab.page.goto(pageOf(paymentIntent.id));
    await sendTo(world, deposit.address, 5_000_000n, { token: world.dev.contracts.assets.EURC });
    await reads(tab, "Being looked at");
    await photograph(tab, "in-review");
    await expectAccessible(tab);
  });

  it("returned: says that the money is on its way back, and by itself that it was sent, with its transaction", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    const { id } = paymentIntent;
    const tab = await openTab(browser);
    await tab.page.goto(pageOf(id));
    await sendTo(world, deposit.address, 5_000_000n, { token: world.dev.contracts.assets.EURC });
    await reads(tab, "Being looked at");
    await withMiningHeld(world, async () => {
      const destination = checksum(newKey().address);
      expect((await seller.review(id, { action: "return", destination })).status).toBe(200);
      await reads(tab, "Your money is on its way back");
      await tab.page.getByText("is on its way back on Local chain").waitFor();
      await expectAccessible(tab);
    });
    const told = async () => (await (await fetch(`${pageOf(id)}/status`)).json()) as CheckoutStatus;
    await until(async () => {
      await world.dev.anvil.mine();
      return (await told()).returned[0]?.state === "sent";
    }, "it has left");
    // no stream is kept for what leaves: the page asks now and then
    await tab.page.getByRole("heading", { name: "Your money was sent back" }).waitFor({ timeout: 40_000 });
    const [returned] = (await told()).returned;
    await tab.page.locator(`[title="${returned?.transactionHash}"]`).waitFor();
    await photograph(tab, "returned");
    await expectAccessible(tab);
    expect(tab.faults).toEqual([]);
  });

  it("cancelled, and what leads nowhere", async () => {
    const { paymentIntent } = await seller.asked();
    const tab = await openTab(browser);
    await tab.page.goto(pageOf(paymentIntent.id));
    await seller.cancel(paymentIntent.id);
    await reads(tab, "Cancelled");
    await expectAccessible(tab);
    const answer = await tab.page.goto(pageOf("pi_01K2C0Z0000000000000000000"));
    expect(answer?.status()).toBe(404);
    await reads(tab, "Nothing here");
    await photograph(tab, "not-found");
    await expectAccessible(tab);
  });

  it("speaks the visitor's language, on dark paper where that is wished", async () => {
    const { paymentIntent } = await seller.asked();
    const tab = await openTab(browser, { locale: "de-AT", colorScheme: "dark" });
    await tab.page.goto(pageOf(paymentIntent.id));
    await reads(tab, "Wir warten auf Ihre Zahlung");
    expect(await tab.page.locator("html").getAttribute("lang")).toBe("de");
    await photograph(tab, "dark");
    await expectAccessible(tab);
  });

  it("explains an error code, and that there is nothing at an address, on dark paper too", async () => {
    const tab = await openTab(browser, { colorScheme: "dark" });
    for (const path of ["/errors/validation_failed", "/nothing"]) {
      await tab.page.goto(world.baseUrl + path);
      await tab.page.getByRole("link", { name: "All error codes" }).waitFor();
      await photograph(tab, `dark${path.replaceAll("/", "-")}`);
      await expectAccessible(tab);
    }
  });

  it("returns a payer who is done to the merchant's page, with the payment's id", async () => {
    const returnUrl = `${world.baseUrl}/?order=7`;
    await seller.must("PATCH", "/v1/merchant", { allowedOrigins: [world.baseUrl] });
    const { paymentIntent, deposit } = await seller.asked({ returnUrl });
    const tab = await openTab(browser);
    await tab.page.goto(pageOf(paymentIntent.id));
    await sendTo(world, deposit.address, 10_000_000n);
    await reads(tab, "Paid");
    await tab.page.waitForURL(`${returnUrl}&paymentIntentId=${paymentIntent.id}`, { timeout: 15_000 });
    await reads(tab, "One address, payable by people and by programs.");
    await photograph(tab, "landing");
    await expectAccessible(tab);
    await tab.page.getByRole("link", { name: "Dashboard for merchants" }).click();
    await reads(tab, "Sign in");
    await tab.page.getByText("No key yet?").waitFor();
    await expectAccessible(tab);
    // Who comes again, for the receipt, may stay.
    await tab.page.goto(`${world.baseUrl}/checkout/${paymentIntent.id}`);
    await tab.page.getByRole("heading", { name: "Paid" }).waitFor();
    expect(await tab.page.getByText("taken back in a few seconds").isVisible()).toBe(false);
  });

  it("copies the address and the amount as they are", async () => {
    const { paymentIntent, deposit } = await seller.asked();
    const tab = await openTab(browser, { permissions: ["clipboard-read", "clipboard-write"] });
    await tab.page.goto(pageOf(paymentIntent.id));
    const copied = async (name: string) => {
      await tab.page.getByRole("button", { name }).click();
      return tab.page.evaluate("navigator.clipboard.readText()");
    };
    expect(await copied("Copy the address")).toBe(deposit.address);
    expect(await copied("Copy the amount")).toBe("10.00");
  });
});

describe("without JavaScript", () => {
  it("a rail is chosen, address and amount can be read, and the page asks again by itself", async () => {
    const { id } = await seller.intent();
    const tab = await openTab(browser, { javaScriptEnabled: false });
    await tab.page.goto(pageOf(id));
    await tab.page.getByRole("button", { name: "USDC on Local chain" }).click();
    await reads(tab, "Waiting for your payment");
    const { deposit } = await seller.read(id);
    expect(await tab.page.locator("#address").textContent()).toBe(deposit.address);
    expect(await tab.page.locator("#amount").textContent()).toBe("10.00");
    expect(await tab.page.content()).toContain('http-equiv="refresh"');
    await photograph(tab, "no-script");
    await sendTo(world, deposit.address, 10_000_000n);
    await seller.reaches(id, "settled");
    await tab.page.goto(pageOf(id));
    await reads(tab, "Paid");
  });
});

describe("hostile text of a merchant", () => {
  it("is text: nothing of it runs, and nothing but ours is loaded", async () => {
    const evil = `"><script>alert(1)</script><img src=x onerror="alert(2)">{{7*7}}`;
    const { id } = await seller.intent({
      merchantReference: evil,
      merchant: { name: `<b onmouseover=alert(3)>Shop</b>'"` },
      metadata: { secret: "only the merchant's" },
    });
    const tab = await openTab(browser);
    const loaded: string[] = [];
    tab.page.on("request", (request) => loaded.push(new URL(request.url()).origin));
    tab.page.on("dialog", (dialog) => tab.faults.push(dialog.message()));
    await tab.page.goto(pageOf(id));
    await tab.page.getByText(evil).waitFor();
    await tab.page.getByRole("button", { name: "USDC on Local chain" }).click();
    await reads(tab, "Waiting for your payment");
    await photograph(tab, "hostile");
    expect(await tab.page.content()).not.toContain("only the merchant's");
    expect(await tab.page.locator("header img, header b, header script").count()).toBe(0);
    expect(tab.faults).toEqual([]);
    expect(new Set(loaded)).toEqual(new Set([world.baseUrl, "null"].filter((each) => loaded.includes(each))));
  });
});

describe("time", () => {
  it("runs out: the page says so by itself, without asking for money any more", async () => {
    const { paymentIntent } = await seller.asked({ expiresInSeconds: 300 });
    const tab = await openTab(browser);
    await tab.page.goto(pageOf(paymentIntent.id));
    await reads(tab, "Waiting for your payment");
    clock.forward(10 * 60_000);
    await until(async () => {
      await world.dev.anvil.mine();
      return (await seller.read(paymentIntent.id)).clearing.state === "expired";
    }, "it expires");
    await reads(tab, "The time to pay is over");
    expect(await tab.page.locator("#address").count()).toBe(0);
    await photograph(tab, "expired");
    await expectAccessible(tab);
    expect(await tab.page.locator("a[href^=mailto]").count()).toBe(0);
    await seller.call("/v1/merchant", {
      method: "PATCH",
      body: JSON.stringify({ contactEmail: "tea+help@shop.example" }),
    });
    await tab.page.reload();
    const contact = tab.page.getByRole("link", { name: "tea+help@shop.example" });
    expect(await contact.getAttribute("href")).toBe(
      `mailto:tea%2Bhelp@shop.example?subject=${paymentIntent.id}`,
    );
    await photograph(tab, "expired-contact");
    await expectAccessible(tab);
  });
});
