/** A merchant at the dashboard: sees a payment, gives a part of it back, decides what only they can. */
import { describe, expect, it } from "vitest";
import { createKey } from "#api";
import { systemClock, systemRandom } from "#kernel/system";
import { expectAccessible, openTab, photograph, sharedBrowser, type Tab } from "../../support/browser.ts";
import { masterSecret, sharedWorld, until } from "../../support/house.ts";
import { newSeller, sendTo, sharedSeller } from "../../support/payments.ts";
import { ledgerOf } from "../../support/records.ts";
import { openSession } from "./room.ts";

const world = sharedWorld();
const browser = sharedBrowser();
const seller = sharedSeller(world);

const ask = (path: string, init: RequestInit = {}) => fetch(`${world.baseUrl}${path}`, init);
const press = ({ page }: Tab, name: string) => page.getByRole("button", { name, exact: true }).click();
const reads = ({ page }: Tab, text: string) => page.getByText(text).first().waitFor({ timeout: 15_000 });

/** A payment of ten dollars that is settled and final. */
async function settled(body: Record<string, unknown> = {}): Promise<string> {
  const { paymentIntent, deposit } = await seller.asked(body);
  await sendTo(world, deposit.address, 10_000_000n);
  await seller.reaches(paymentIntent.id, "settled");
  const isFinal = async () => {
    await world.dev.anvil.mine();
    const rows = await world.database.query("SELECT 1 FROM clearing WHERE intent_id = $1 AND is_final", [
      paymentIntent.id,
    ]);
    return rows.length === 1;
  };
  await until(isFinal, "final");
  return paymentIntent.id;
}
const refundsOf = (id: string) =>
  world.database.query<{ id: string; amount: string; reason: string }>(
    "SELECT id, amount, reason FROM refund WHERE intent_id = $1 ORDER BY id",
    [id],
  );

describe("the dashboard in a browser", () => {
  it("signs in, shows a payment and refunds a part of it, once", async () => {
    const hostile = "<img src=x onerror=alert(1)>";
    const id = await settled({
      merchantReference: hostile,
      metadata: { note: "<script>alert(1)</script>" },
      customer: { email: "ada@buyer.example", name: hostile },
    });
    const waiting = await seller.asked({ merchantReference: "order-1043" });
    const tab = await openTab(browser);
    await tab.page.goto(`${world.baseUrl}/dashboard/payments`);
    await photograph(tab, "dashboard-sign-in");
    await expectAccessible(tab);
    await tab.page.getByLabel("Secret key").fill(seller.secretKey);
    await press(tab, "Sign in");
    await reads(tab, "What payers were asked for");
    await reads(tab, hostile);
    await reads(tab, "awaiting funds");
    await photograph(tab, "dashboard-payments");
    await expectAccessible(tab);

    await tab.page.locator(`a[href="/dashboard/payments/${id}"]`).click();
    await reads(tab, "Proof");
    await tab.page.locator("summary", { hasText: "Refund" }).click();
    await tab.page.getByLabel("Amount").fill("99");
    await tab.page.getByLabel("To address").fill("0x00000000000000000000000000000000000000bb");
    await press(tab, "Refund");
    await tab.page.getByRole("alert").waitFor();
    expect(await tab.page.getByLabel("Amount").inputValue()).toBe("99");
    expect(await refundsOf(id)).toEqual([]);
    await photograph(tab, "dashboard-refund-refused");
    await expectAccessible(tab);

    await tab.page.getByLabel("Amount").fill("2.50");
    await tab.page.getByLabel("Reason").selectOption("duplicate");
    await press(tab, "Refund");
    await reads(tab, "The refund is made.");
    const [made, ...more] = await refundsOf(id);
    expect([made?.amount, made?.reason, more]).toEqual(["2500000", "duplicate", []]);
    const rows = () => ledgerOf(world.database, made?.id ?? "");
    await until(async () => {
      await world.dev.anvil.mine();
      return (await rows()).length === 4;
    }, "the refund is final");
    expect(await rows()).toEqual([
      "single net merchant → merchant 2487500",
      "single fee fees → merchant 12500",
      "pending out merchant → treasury 2500000",
      "post out merchant → treasury 2500000",
    ]);
    await photograph(tab, "dashboard-payment");
    await tab.page.setViewportSize({ width: 360, height: 740 });
    // A hash that leads a row has a phone's width to itself.
    const hash = await tab.page.getByRole("rowheader").locator("code").first().boundingBox();
    expect(hash?.width).toBeGreaterThan(180);
    await tab.page.setViewportSize({ width: 1280, height: 800 });
    await expectAccessible(tab);

    await tab.page.goto(`${world.baseUrl}/dashboard`);
    await reads(tab, "Completed payments");
    await photograph(tab, "dashboard-overview");
    await expectAccessible(tab);
    await tab.page.emulateMedia({ colorScheme: "dark" });
    for (const [name, path] of [
      ["overview", ""],
      ["payments", "/payments"],
      ["payment", `/payments/${id}`],
    ]) {
      await tab.page.goto(`${world.baseUrl}/dashboard${path}`);
      await photograph(tab, `dashboard-dark-${name}`);
      await expectAccessible(tab);
    }
    await tab.page.emulateMedia({ colorScheme: "light" });
    await tab.page.goto(`${world.baseUrl}/dashboard/audit-log`);
    await reads(tab, "POST /dashboard/payments/{id}/refunds");
    await photograph(tab, "dashboard-audit-log");
    await expectAccessible(tab);

    await tab.page.goto(`${world.baseUrl}/dashboard/payments/${waiting.paymentIntent.id}`);
    await tab.page.locator("summary", { hasText: "Cancel" }).click();
    await press(tab, "Cancel the payment");
    await reads(tab, "Nobody can pay it any more.");
    expect((await seller.read(waiting.paymentIntent.id)).paymentIntent.status).toBe("cancelled");
    // The one that was refused answers 422, which a browser notes.
    expect(tab.faults.filter((each) => !each.includes("422"))).toEqual([]);
  });
});

describe("a form", () => {
  const refund = (csrf: string, once: string) => ({
    csrf,
    once,
    "amount.amount": "1",
    "amount.asset": "USD",
    reason: "other",
    destination: "0x00000000000000000000000000000000000000bb",
  });

  it("does what it does once, and only for the session that it was made for", async () => {
    const id = await settled();
    const path = `/dashboard/payments/${id}/refunds`;
    const session = await openSession(ask, seller.secretKey);
    const other = await openSession(ask, seller.secretKey);
    const csrf = await session.token();
    for (const [token, headers] of [
      ["", {}],
      [await other.token(), {}],
      [csrf, { Origin: "https://evil.example" }],
      [csrf, { "Sec-Fetch-Site": "cross-site" }],
    ] as const)
      expect((await session.post(path, refund(token, "a"), headers)).status).toBe(403);
    expect(await refundsOf(id)).toEqual([]);
    const [first, twin] = await Promise.all([
      session.post(path, refund(csrf, "b")),
      session.post(path, refund(csrf, "b")),
    ]);
    expect([first.status, first.leadsTo]).toEqual([303, `/dashboard/payments/${id}?notice=refunded`]);
    expect([twin.status, twin.leadsTo]).toEqual([first.status, first.leadsTo]);
    expect(await refundsOf(id)).toHaveLength(1);
  });

  it("404 for another merchant's payment, and nothing is done to it", async () => {
    const id = await settled();
    const stranger = await newSeller(world);
    const session = await openSession(ask, stranger.secretKey);
    const csrf = await session.token();
    expect((await session.get(`/dashboard/payments/${id}`)).status).toBe(404);
    for (const action of ["refunds", "retry", "review", "cancel"]) {
      const fields = action === "review" ? { csrf, once: action, action: "return" } : refund(csrf, action);
      expect((await session.post(`/dashboard/payments/${id}/${action}`, fields)).status).toBe(404);
    }
    expect(await refundsOf(id)).toEqual([]);
  });

  it("of an action that the key may not do says why, and does nothing when sent all the same", async () => {
    const id = await settled();
    const operator = {
      db: world.house.db,
      clock: systemClock,
      newId: world.house.newId,
      random: systemRandom,
      masterSecret,
    };
    const { plaintext } = await createKey(operator, {
      merchantId: seller.id,
      kind: "sk",
      name: "support",
      permissions: ["merchant:manage", "payments:read"],
    });
    const session = await openSession(ask, plaintext);
    expect((await session.get(`/dashboard/payments/${id}`)).text).toContain("<code>refunds:write</code>");
    const sent = await session.post(`/dashboard/payments/${id}/refunds`, refund(await session.token(), "x"));
    expect([sent.status, sent.text.includes("lacks the permission refunds:write")]).toEqual([403, true]);
    expect(await refundsOf(id)).toEqual([]);
  });
});
