/** Words of a seller's that no line holds break; the page stays as wide as the phone. */
import { expect, it } from "vitest";
import { openTab, photograph, sharedBrowser } from "../../support/browser.ts";
import { sharedWorld } from "../../support/house.ts";
import { sharedSeller } from "../../support/payments.ts";

const world = sharedWorld();
const browser = sharedBrowser();
const seller = sharedSeller(world);

const word = "Donaudampfschifffahrtsgesellschaftskapitänsmützen";
const merchant = { name: word };
const ten = { amount: "10.00", asset: "USD" };
const linkOf = async (body: Record<string, unknown>): Promise<string> =>
  (await seller.must("POST", "/v1/payment-links", { merchant, title: word, ...body })).url;
const checkoutOf = async (): Promise<string> => {
  const { id } = await seller.intent({ merchant, merchantReference: word });
  await seller.confirm(id);
  return `${world.baseUrl}/checkout/${id}`;
};
const cancelled = async () => {
  const url = await checkoutOf();
  await seller.cancel(url.split("/").at(-1) ?? "");
  return url;
};

const sticksOut = `(() => {
  const { right } = document.querySelector("main").getBoundingClientRect();
  return [...document.querySelectorAll("main *")]
    .filter((each) => Math.floor(each.getBoundingClientRect().right) > right)
    .map(({ outerHTML }) => outerHTML);
})()`;

it.each([
  ["a link", () => linkOf({ kind: "fixed", amount: ten })],
  ["an open link", () => linkOf({ kind: "open", currency: "USD" })],
  ["a payment that waits", checkoutOf],
  ["a cancelled payment", cancelled],
  ["a refund", async () => `${await checkoutOf()}/refund`],
] as const)("%s fits on a phone", async (name, address) => {
  const tab = await openTab(browser, { viewport: { width: 375, height: 740 } });
  await tab.page.goto(await address());
  await photograph(tab, `long-word-${name.replaceAll(" ", "-")}`);
  expect(await tab.page.evaluate(sticksOut)).toEqual([]);
  expect(await tab.page.evaluate("document.documentElement.scrollWidth")).toBe(375);
});
