import { describe, expect, it } from "vitest";
import type { OpenPayment } from "../../../api/clearing/verbs/checkout.ts";
import { isGasless, isOver, phaseOf, presentStatus } from "../../../api/pages/present.ts";
import { CheckoutPage } from "../../../api/pages/view/checkout.tsx";
import { speechOf } from "../../../api/pages/words/index.ts";
import { clearingStates, statusOf } from "../../../api/payment-intent/state.ts";
import { now, rail, txHash } from "../world.ts";

const later = new Date(now.getTime() + 60_000);
const usdc = (amount: string) => ({
  amount,
  asset: "USDC",
  formatted: `${amount} USDC`,
  display: `${amount} USDC`,
});

/** What was sent back of a payment, unless told otherwise. */
const back: OpenPayment["returned"][number] = {
  ...{ id: "ret_01K2C0Z0000000000000000000", amount: usdc("4.000000"), asset: "USDC", chain: "base" },
  ...{ destination: rail.payTo, state: "sent", note: "as asked", transactionHash: txHash },
  explorerUrl: `https://basescan.org/tx/${txHash}`,
};

interface Asked {
  readonly state?: (typeof clearingStates)[number] | null;
  readonly status?: string;
  readonly received?: string;
  readonly failedSteps?: number;
  readonly confirmations?: number | null;
  readonly offerRails?: readonly { chain: string; asset: string }[] | null;
  readonly returned?: readonly Partial<OpenPayment["returned"][number]>[];
}

/** A payment of 10 dollars in USDC on Base, as far as its page looks at it. */
function payment({
  state = null,
  status,
  received = "0.000000",
  failedSteps = 0,
  confirmations = null,
  offerRails = [],
  returned = [],
}: Asked) {
  const said = status ?? (state === null ? "created" : statusOf[state]);
  const clearing = state && {
    state,
    chain: "base",
    asset: "USDC",
    executionPath: "deposit-match",
    sourceAmount: usdc("10.000000"),
    transactionHash: null,
    failedSteps,
  };
  return {
    intent: {
      ...{ status: said, expiresAt: later, currency: "USD", provider: "evm", source: "api", metadata: {} },
      ...{ asked: {}, merchantReference: null, offerAmount: 1n, offerRails },
    },
    clearing,
    returned: returned.map((each) => ({ ...back, ...each })),
    confirmations,
    position: {
      paymentIntent: {
        ...{ id: "pi_01K2C0Z0000000000000000000", status: said, executionPath: "deposit-match" },
        merchant: { id: "mer_x", name: "Shop", city: "Porto", countryCode: "PT", categoryCode: null },
        amount: { amount: "10.00", asset: "USD", formatted: "10.00 USD", display: "$10.00" },
        payment: { asset: "USDC", chain: "base", payerAddress: null },
        ...{ expiresAt: later.toISOString(), returnUrl: null },
      },
      clearing,
      deposit: clearing && {
        ...{ address: rail.payTo, chain: "base", asset: "USDC", amount: usdc("10.000000"), uri: null },
        ...{ received: usdc(received), required: 12, reviewRequired: false, deposits: [] },
      },
      timeline: [],
    },
  } as unknown as OpenPayment;
}

describe("phaseOf", () => {
  it.each([
    [{ state: null }, "choose"],
    [{ state: null, status: "expired" }, "expired"],
    [{ state: null, status: "cancelled" }, "cancelled"],
    [{ state: "created" }, "waiting"],
    [{ state: "awaiting-funds" }, "waiting"],
    [{ state: "funds-detected", received: "4.000000" }, "underpaid"],
    [{ state: "funds-detected", received: "10.000000" }, "detected"],
    [{ state: "funds-detected", received: "11.000000" }, "detected"],
    [{ state: "funds-received", received: "10.000000" }, "settling"],
    [{ state: "settling", received: "10.000000" }, "settling"],
    [{ state: "settled", received: "10.000000" }, "paid"],
    [{ state: "in-review", received: "4.000000" }, "in-review"],
    [{ state: "expired" }, "expired"],
    [{ state: "failed" }, "failed"],
    [{ state: "reversed" }, "failed"],
    [{ state: "returned", returned: [{ state: "decided", transactionHash: null }] }, "returned"],
    [{ state: "returned", returned: [{ state: "failed" }, { state: "sent" }] }, "returned"],
    // Nothing of it could be sent: it is here still.
    [{ state: "returned", returned: [{ state: "failed" }] }, "failed"],
    [{ state: "settled", received: "14.000000", returned: [{}] }, "paid"],
    [{ state: "cancelled" }, "cancelled"],
  ] as const)("of %o is %s", (asked, phase) => {
    expect(phaseOf(payment(asked), now)).toBe(phase);
  });

  it("of an intent that nobody confirmed in time is expired, whatever its row says", () => {
    expect(phaseOf(payment({}), later)).toBe("expired");
  });

  it("ends where the status ends, and a page is shown of each state", () => {
    for (const state of clearingStates) {
      const phase = phaseOf(payment({ state }), now);
      const isEnd = statusOf[state] !== "clearing";
      expect([state, isOver({ phase })]).toEqual([state, isEnd]);
    }
  });
});

describe("presentStatus", () => {
  it("counts what is missing, and nothing below zero", () => {
    const missing = (received: string) =>
      presentStatus(payment({ state: "funds-detected", received }), now).remaining?.amount;
    expect([missing("0.000000"), missing("4.000001"), missing("10.000000"), missing("12.000000")]).toEqual([
      "10.000000",
      "5.999999",
      "0.000000",
      "0.000000",
    ]);
  });
});

describe("the page of money that goes back", () => {
  const pageWith = (...returned: NonNullable<Asked["returned"]>) =>
    pageOf(payment({ state: "returned", received: "4.000000", returned }));

  it("tells its payer each return, without what only the merchant knows", () => {
    const { returned } = presentStatus(
      payment({ state: "returned", returned: [{}, { state: "failed" }] }),
      now,
    );
    const { id: _, destination: __, note: ___, ...told } = back;
    expect(returned).toEqual([told]);
  });

  it("says that it was sent back, how much, and by which transaction", () => {
    const html = pageWith({});
    expect(html).toContain('<h2 id="state">Your money was sent back</h2>');
    expect(html).toContain("4.000000 USDC was paid back");
    expect(html).toContain(`href="https://basescan.org/tx/${txHash}"`);
    expect(html).not.toContain("http-equiv");
    expect(html).not.toContain("did not work");
  });

  it("says that it is on its way until all of it has left, and looks again", () => {
    const html = pageWith({}, { state: "sending", transactionHash: null, explorerUrl: null });
    expect(html).toContain('<h2 id="state">Your money is on its way back</h2>');
    expect(html).toContain("4.000000 USDC is on its way back");
    expect(html).toContain('http-equiv="refresh"');
  });

  it("of a payment that is paid tells what was too much", () => {
    const html = pageOf(payment({ state: "settled", received: "14.000000", returned: [{}] }));
    expect(html).toContain('<h2 id="state">Paid</h2>');
    expect(html).toContain("4.000000 USDC was paid back");
  });

  it("is news when it has a transaction", () => {
    const newsIn = (transactionHash: string | null) =>
      /data-news="([^"]*)"/.exec(pageWith({ state: "sending", transactionHash }))?.[1];
    expect(newsIn(null)).not.toBe(newsIn(txHash));
  });
});

type Problem = Parameters<typeof CheckoutPage>[0]["problem"];

/** Its page, as the server writes it. */
function pageOf(
  seen: OpenPayment,
  { explorer = rail.explorer, status = presentStatus(seen, now), problem = null as Problem } = {},
): string {
  return String(
    CheckoutPage({
      ...{ status, payment: seen, rail, explorer, offers: [], refunds: [], contact: null },
      ...{ isChoosing: false, isTestPayable: false, problem, speech: speechOf("en") },
      assets: { style: "/a.css", script: "/a.js" },
      brand: { colour: null, logo: null, isSuspended: false },
    }),
  );
}

describe("what was said of a choice, at the same address later", () => {
  const suspended = "The seller takes no payments right now. Nothing was paid.";
  const problem = "merchant_suspended";

  it("is said as long as a choice is what the page is about", () => {
    for (const state of [null, "awaiting-funds"] as const)
      expect(pageOf(payment({ state }), { problem })).toContain(suspended);
  });

  it.each([
    { state: "awaiting-funds", received: "4.000000" },
    { state: "funds-detected", received: "10.000000" },
    { state: "settled", received: "10.000000" },
    { state: "in-review", received: "4.000000" },
  ] as const)("is not said any more of a payment that has money: %j", (asked) => {
    const seen = payment(asked);
    for (const each of [problem, "rail_switched_too_often"] as const)
      expect(pageOf(seen, { problem: each })).not.toContain('role="alert"');
    expect(pageOf(seen, { problem: "intent_not_confirmable" })).toContain("The payment has moved on.");
  });
});

describe("the title of the page", () => {
  it.each([
    ["awaiting-funds", "$10.00 to Shop"],
    ["settled", "Paid · $10.00 to Shop"],
    ["in-review", "Being looked at · $10.00 to Shop"],
    ["expired", "The time to pay is over · $10.00 to Shop"],
  ] as const)("tells in a tab that nobody looks at how a payment stands: %s", (state, title) => {
    expect(pageOf(payment({ state }))).toContain(`<title>${title}</title>`);
  });
});

describe("the page's stub", () => {
  it.each([
    ["awaiting-funds", ["Pay with"]],
    ["settled", ["Paid with"]],
    ["expired", []],
  ] as const)("names the coin of a payment that is %s as %j", (state, named) => {
    const found = pageOf(payment({ state })).matchAll(/<dt>(Pa[^<]*)<\/dt>/g);
    expect([...found].map(([, word]) => word)).toEqual(named);
  });
});

describe("the way on from a payment that ended unpaid", () => {
  it.each([
    { state: "expired" },
    { state: "cancelled" },
    { state: "failed" },
    { state: "returned", returned: [{}] },
    { state: "returned", returned: [{ state: "sending" }] },
  ] as const)("is its link, or its invoice: %j", (asked) => {
    const seen = payment(asked);
    const from = (over: object) => pageOf({ ...seen, intent: { ...seen.intent, ...over } } as OpenPayment);
    expect(from({ source: "payment-link", metadata: { paymentLinkId: "plink_x" } })).toContain(
      '<a class="primary" href="/checkout/plink_x">Start again</a>',
    );
    expect(from({ source: "invoice", metadata: { invoiceId: "inv_x" } })).toContain(
      '<a class="primary" href="/invoices/inv_x/view">',
    );
  });

  it.each([
    { state: "failed", received: "10.000000" },
    { state: "failed", failedSteps: 1 },
    { state: "reversed" },
    { state: "returned", returned: [{ state: "failed" }] },
  ] as const)("is the merchant where money is held, or may come back: %j", (asked) => {
    const { intent, ...seen } = payment(asked);
    const metadata = { paymentLinkId: "plink_x" };
    const html = pageOf({ ...seen, intent: { ...intent, source: "payment-link", metadata } } as OpenPayment);
    expect(html).not.toContain("Start again");
    expect(html).toContain("Money that arrived is not lost.");
  });

  it("is another signature, where one failed and time is left", () => {
    const seen = payment({ state: "failed" });
    const at = (then: Date) => ({ ...presentStatus(seen, then), executionPath: "x402" as const });
    expect(pageOf(seen, { status: at(now) })).toContain('data-do="sign"');
    expect(pageOf(seen, { status: at(now) })).not.toContain('data-do="send"');
    expect(pageOf(seen, { status: at(later) })).not.toContain('data-do="sign"');
    expect(pageOf(seen)).not.toContain('data-do="sign"');
  });
});

interface Named {
  readonly explorer: string | null;
  readonly transactionHash: string | null;
}

describe("the page of a payment that was seen", () => {
  const seen = payment({ state: "funds-detected", received: "10.000000", confirmations: 5 });
  const page = ({ explorer, transactionHash }: Named) =>
    pageOf(seen, { explorer, status: { ...presentStatus(seen, now), transactionHash } });

  it("says how many confirmations there are, of how many", () => {
    const html = page({ explorer: null, transactionHash: null });
    expect(html).toContain("5 of 12 confirmations.");
    expect(html).toContain('<progress max="12" value="5"');
  });

  it("leads to the transaction where its chain has an explorer, and names it where not", () => {
    const explorer = "https://basescan.org";
    const there = `href="${explorer}/tx/${txHash}"`;
    expect(page({ explorer, transactionHash: txHash })).toContain(there);
    const named = page({ explorer: null, transactionHash: txHash });
    expect(named).toContain(`<span title="${txHash}">`);
    expect(named).not.toContain("/tx/");
  });
});

describe("isGasless", () => {
  const open = (offerRails: Asked["offerRails"]) =>
    isGasless(payment({ state: "awaiting-funds", offerRails: offerRails ?? null }), rail);

  it("is so where agents are offered the rail, and only while nothing has come", () => {
    expect(open([])).toBe(true);
    expect(open([{ chain: "base", asset: "USDC" }])).toBe(true);
    expect(open([{ chain: "base", asset: "EURC" }])).toBe(false);
    expect(open(null)).toBe(false);
    expect(isGasless(payment({ state: "funds-detected" }), rail)).toBe(false);
    expect(isGasless(payment({ state: "awaiting-funds" }), { ...rail, asset: "EURC" })).toBe(false);
  });
});
