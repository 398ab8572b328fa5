/** A newcomer's first minutes: what `npm start` prints, and from there nothing but the pages. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { signIn } from "../api/dashboard/selling.ts";
import { expectAccessible, openTab, photograph, sharedBrowser } from "../support/browser.ts";
import { until } from "../support/house.ts";
import { booksOf, type Deployment, dataFolder, killAll, startDeployment } from "./service.ts";

const browser = sharedBrowser();
let folder: Awaited<ReturnType<typeof dataFolder>>;
let service: Deployment;
beforeAll(async () => {
  folder = await dataFolder();
  service = await startDeployment(folder.dataDir);
});
afterAll(async () => {
  await killAll();
  await folder.remove();
});

/** What the start printed behind a word. */
const printed = (name: string) =>
  new RegExp(`^${name} +(\\S+)`, "m").exec(service.stdout())?.[1] ?? `no ${name}`;

it("signs in, makes a link, opens it, pays it with the sandbox's payer, and sees it settled", async () => {
  const dashboard = new URL(printed("Dashboard"));
  const me = await signIn(browser, dashboard.origin, printed("Secret key"));
  await me.follow("Make a payment link");
  await me.page.locator(".empty").getByRole("link", { name: "New link" }).click();
  await me.fill({ title: "A pot of tea", "amount.amount": "10.00" });
  await me.press("Make the link");
  await me.says("The link is made.");
  const { page } = me;
  const theLink = page.url();

  await me.follow("Open its page");
  await page.getByRole("button", { name: "Pay $10.00" }).click();
  await page.getByRole("button", { name: "USDC on Local chain" }).click();
  const pay = page.getByRole("button", { name: "Pay 10.00 USDC with test money" });
  await pay.waitFor();
  await photograph(me.tab, "checkout-test-payment");
  await expectAccessible(me.tab);
  const checkout = page.url();
  // Who is impatient presses twice.
  const other = await openTab(page.context());
  await other.page.goto(checkout);
  const again = other.page.getByRole("button", { name: "Pay 10.00 USDC with test money" });
  await Promise.all([pay.click(), again.click()]);
  await page.getByRole("heading", { name: "Paid" }).waitFor();
  await other.page.getByRole("heading", { name: "Paid" }).waitFor();

  await page.goto(theLink);
  await page.locator("main table").getByText("completed").waitFor();
  await page.locator("main table a").first().click();
  await me.says("settled");
  await me.look("payment-of-newcomer");
  const available = async () =>
    Object.entries(await booksOf(service.dev)).filter(([path]) => path.includes("available USDC"));
  await until(async () => (await available()).every(([, [, pending]]) => pending === 0n), "it is final");
  expect((await available()).map(([, balances]) => balances)).toEqual([[9_950_000n, 0n]]);
  expect(me.tab.faults).toEqual([]);
});
