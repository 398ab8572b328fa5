/** A merchant at the dashboard: sells an endpoint, is paid out, reads the books, and gives programs their way in. */
import { beforeAll, describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { newKey } from "../../support/authorization.ts";
import { expectAccessible, openTab, photograph, sharedBrowser, type Tab } from "../../support/browser.ts";
import { books, newPayer, post, sharedWorld, signPayment, until } from "../../support/house.ts";
import { sharedSeller } from "../../support/payments.ts";
import { shared } from "../../support/shared.ts";
import { receiveWebhooks } from "../../support/webhook-receiver.ts";

const world = sharedWorld();
const seller = sharedSeller(world);
const browser = sharedBrowser();
const receiver = shared(receiveWebhooks, (each) => each.stop());
let tab: Tab;
beforeAll(async () => {
  const context = await browser.newContext({ javaScriptEnabled: true });
  tab = await openTab(context);
  await tab.page.goto(`${world.baseUrl}/dashboard/sign-in`);
  await tab.page.getByLabel("Secret key").fill(seller.secretKey);
  await press("Sign in");
  await tab.page.getByRole("heading", { name: "Overview", exact: true }).waitFor();
});

const go = (path: string) => tab.page.goto(`${world.baseUrl}/dashboard/${path}`);
const press = (name: string) => tab.page.getByRole("button", { name, exact: true }).click();
const follow = (name: string) =>
  tab.page.locator("main").getByRole("link", { name, exact: true }).first().click();
const reads = (text: string | RegExp) => tab.page.locator("main").getByText(text).first().waitFor();
const fill = (label: string, value: string) => tab.page.getByLabel(label, { exact: true }).fill(value);
const secret = () =>
  tab.page
    .locator(".value code")
    .textContent()
    .then((text) => text ?? "");
/** As a person and an assistive device meet it. */
async function looksGood(name: string): Promise<void> {
  await photograph(tab, `dashboard-${name}`);
  await expectAccessible(tab);
}
/** Markup is taken out of most text as it comes in; what could end an attribute is not. */
const hostile = `Tea & "cake" 'x' onload=alert(1)`;

describe("x402 resources, balances and the ledger", () => {
  it("registers an endpoint, sells it, pays out, and the books tell it", async () => {
    await go("resources");
    await looksGood("resources-empty");
    await go("balances");
    await looksGood("balances-empty");
    await go("ledger");
    await looksGood("ledger-empty");
    await go("resources");
    await follow("Register an endpoint");
    await fill("URL", "https://shop.example/tea");
    await fill("Price", "a cup");
    await fill("Description", hostile);
    await press("Register");
    await reads("An amount in digits");
    expect(await tab.page.getByLabel("Description").inputValue()).toBe(hostile);
    await looksGood("resource-new-refused");
    await fill("Price", "0.01");
    await press("Register");
    await reads("It is on sale now.");
    const [made] = (await seller.must("GET", "/v1/x402/resources")).resources;
    expect(made).toMatchObject({ url: "https://shop.example/tea", listed: true, description: hostile });
    const { body } = await signPayment(world.dev, await newPayer(world.dev), made);
    expect(await post(world.baseUrl, `/x402/resources/${made.id}/settle`, body)).toMatchObject({
      body: { success: true },
    });
    await until(async () => {
      await world.dev.anvil.mine();
      return (await seller.available()) === "0.009950";
    }, "the payment is final");
    await go(`resources/${made.id}`);
    await reads(`${world.baseUrl}/x402/resources/${made.id}`);
    await tab.page.getByRole("rowheader", { name: "0.01" }).waitFor();
    await looksGood("resource");
    await press("Unlist");
    await reads("Unlisted: it can still be paid");
    await follow("Change");
    await fill("Price", "0.02");
    await press("Register anew");
    await reads("Agents are quoted these terms");
    expect(await seller.must("GET", `/v1/x402/resources/${made.id}`)).toMatchObject({
      price: { amount: "0.02" },
      listed: false,
      description: hostile,
    });
    await go("resources");
    await looksGood("resources");
  }, 120_000);

  it("adds an address and pays out once; cancels none that is signed", async () => {
    const address = checksum(newKey().address);
    await go("balances");
    await follow("Add an address");
    await fill("Address", "0x12");
    await press("Add the address");
    await tab.page.getByRole("alert").waitFor();
    expect(await tab.page.locator("#field-address-error").textContent()).toContain("40 hex digits");
    await looksGood("payout-address-refused");
    await fill("Address", address);
    await fill("Label", hostile);
    await press("Add the address");
    await reads("The address is in the book.");
    // The house of this test is no sandbox by its own word: a new address waits a day.
    await world.database.query("UPDATE payout_address SET usable_from = created_at");
    await follow("Pay out");
    await fill("Amount", "5");
    await press("Pay out");
    await tab.page.getByRole("alert").waitFor();
    await looksGood("payout-refused");
    await fill("Amount", "0.004");
    await press("Pay out");
    await reads("On its way.");
    const [payout] = await seller.must("GET", "/v1/payouts");
    expect(payout).toMatchObject({ amount: { amount: "0.004000" }, destination: address });
    await until(async () => {
      await world.dev.anvil.mine();
      return (await seller.must("GET", `/v1/payouts/${payout.id}`)).state === "succeeded";
    }, "the payout succeeds");
    await tab.page.reload();
    await looksGood("payout");
    expect(await seller.must("GET", "/v1/payouts")).toHaveLength(1);
    expect(await books(world.dev, world.database)).toMatchObject({
      balanced: true,
      available: { posted: 5_950n, pending: 0n },
    });
    await follow("Ledger entries");
    await reads("payout created");
    await looksGood("ledger");
    const rows = await seller.must("GET", `/v1/ledger/entries?subject=${payout.id}`);
    expect(await tab.page.locator("tbody tr").count()).toBe(rows.length);
    const csv = await tab.page.request.get(
      `${world.baseUrl}/dashboard/ledger/entries.csv?subject=${payout.id}`,
    );
    const same = await seller.call(`/v1/ledger/entries?subject=${payout.id}`, {
      headers: { Accept: "text/csv" },
    });
    expect(await csv.text()).toBe(await same.text());
    await go("balances");
    await looksGood("balances");
    await follow(`Remove ${address}`);
    await looksGood("payout-address-remove");
    await press("Remove it");
    await reads("The address is out of the book.");
    expect(await seller.must("GET", "/v1/payout-addresses")).toEqual([]);
  }, 120_000);
});

describe("developers", () => {
  it("makes a key that is seen once, replaces it and revokes it", async () => {
    await go("api-keys");
    await follow("New secret key");
    await fill("Name", hostile);
    await press("Create the key");
    await reads("give permissions or a preset");
    await looksGood("api-key-refused");
    await tab.page.getByLabel("ledger:read").check();
    await press("Create the key");
    const first = await secret();
    expect(first).toMatch(/^sk_/);
    expect(tab.page.url()).not.toContain("sk_");
    expect(JSON.stringify(await tab.page.context().cookies())).not.toContain(first);
    await looksGood("api-key-once");
    const stored = await world.database.query(
      "SELECT 1 FROM idempotency_key WHERE position($1::bytea in coalesce(body, ''::bytea)) > 0 OR headers::text LIKE '%' || $2 || '%'",
      [Buffer.from(first), first],
    );
    expect(stored).toEqual([]);
    // Sent again, the form leads to the list: no second key, and the secret is not there.
    await tab.page.reload();
    await reads("The key was made.");
    expect(await tab.page.content()).not.toContain(first);
    const keys = (await seller.must("GET", "/v1/api-keys")) as { name: string; id: string }[];
    expect(keys.filter(({ name }) => name === hostile)).toHaveLength(1);
    await looksGood("api-keys");
    await follow(hostile);
    await looksGood("api-key");
    await follow("Rotate");
    await looksGood("api-key-rotate");
    await fill("The old one stays good for", "0");
    await press("Replace it");
    const second = await secret();
    const ask = (key: string) =>
      fetch(`${world.baseUrl}/v1/balances`, { headers: { Authorization: `Bearer ${key}` } });
    expect((await ask(second)).status).toBe(200);
    await follow("It is copied");
    await follow(hostile);
    await follow("Revoke");
    await looksGood("api-key-revoke");
    await press("Revoke it");
    await reads("The key is revoked.");
    await until(async () => (await ask(second)).status === 401, "the key has ended");
  }, 120_000);

  it("listens to events: adds an endpoint, pings it, sees what was sent, sends it again", async () => {
    await go("webhooks");
    await looksGood("webhooks-empty");
    await follow("Add an endpoint");
    await fill("URL", receiver.url);
    await fill("Events", "nothing.*");
    await press("Add the endpoint");
    await tab.page.getByRole("alert").waitFor();
    await looksGood("webhook-refused");
    await fill("Events", "payment.*\npayout.*");
    await press("Add the endpoint");
    const first = await secret();
    expect(first).toMatch(/^whsec_/);
    await looksGood("webhook-secret");
    await follow("It is copied");
    await press("Send a ping");
    await reads("A ping is on its way.");
    await until(async () => receiver.got.length === 1, "the ping came");
    const [endpoint] = await seller.must("GET", "/v1/webhook-endpoints");
    const sent = () => seller.must("GET", `/v1/webhook-endpoints/${endpoint.id}/deliveries`);
    await until(async () => (await sent())[0]?.state === "succeeded", "the ping is noted");
    await go(`webhooks/${endpoint.id}`);
    await looksGood("webhook");
    await follow("ping");
    await reads("taken");
    await looksGood("webhook-delivery");
    await press("Send it again");
    await reads("It is sent again now.");
    await until(async () => receiver.got.length === 2, "it came again");
    await go(`webhooks/${endpoint.id}`);
    const minute = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 16);
    await fill("From (UTC)", minute(-3_600_000));
    await fill("Until (UTC)", minute(-7_200_000));
    await press("Replay");
    await tab.page.getByRole("alert").waitFor();
    await fill("Until (UTC)", minute(3_600_000));
    await press("Replay");
    await reads("The events are on their way again");
    await until(async () => receiver.got.length >= 4, "what happened came");
    await press("Disable");
    await reads("Disabled: what happens meanwhile");
    await press("Enable");
    await reads("Enabled: what waits is sent now.");
    await follow("Change");
    await fill("Description", "<img src=x onerror=alert(1)>");
    await press("Save");
    await follow("Rotate secret");
    await press("Replace it");
    expect(await secret()).not.toBe(first);
    await follow("It is copied");
    await follow("Delete");
    await looksGood("webhook-delete");
    await press("Delete it");
    await reads("Deleted.");
    expect(await seller.must("GET", "/v1/webhook-endpoints")).toEqual([]);
  }, 120_000);

  it("reads events, and changes the settings", async () => {
    await tab.page.setViewportSize({ width: 320, height: 640 });
    for (const place of ["events", "resources", "webhooks"]) {
      await go(place);
      const wider = await tab.page.evaluate("document.documentElement.scrollWidth > innerWidth");
      expect([place, wider]).toEqual([place, false]);
    }
    await go("events?types=payout.*");
    await looksGood("events");
    await follow("payout.succeeded");
    await reads('"type": "payout.succeeded"');
    await looksGood("event");
    await go("settings");
    await looksGood("settings");
    await fill("Country", "Portugal");
    await press("Save");
    await reads("two capital letters");
    expect(await tab.page.getByLabel("Country").inputValue()).toBe("Portugal");
    await looksGood("settings-refused");
    await fill("Country", "NO");
    await fill("Contact", "");
    await fill("Origins", "https://shop.example");
    await tab.page.getByLabel("Refunds give our fee back").uncheck();
    await press("Save");
    await reads("Saved.");
    expect(await seller.must("GET", "/v1/merchant")).toMatchObject({
      countryCode: "NO",
      contactEmail: null,
      allowedOrigins: ["https://shop.example"],
      refundFees: false,
    });
    // Pages that refuse a form answer with its status, which browsers note; nothing else went wrong.
    expect(tab.faults.filter((fault) => !/status of 4\d\d/.test(fault))).toEqual([]);
  }, 120_000);
});
