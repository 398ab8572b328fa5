import { describe, expect, it } from "vitest";
import type { PaymentView } from "#facilitator";
import { type AgentStanding, failureOf, follow, leading } from "../../../../api/clearing/rails/x402.ts";
import { advance, clearingStates } from "../../../../api/clearing/state.ts";
import { newId, now, payer, treasury } from "../../world.ts";

const view = (over: Partial<PaymentView> = {}): PaymentView => ({
  id: "stl_1",
  payableId: newId("pi"),
  merchantId: "mer_1",
  state: "claimed",
  creditEpoch: 0,
  chain: "base",
  asset: "USDC",
  amount: 10_000n,
  fee: 50n,
  payer,
  payTo: treasury,
  transaction: null,
  logIndex: null,
  blockNumber: null,
  blockHash: null,
  confirmations: 0,
  required: 1,
  reason: null,
  message: null,
  createdAt: now,
  includedAt: null,
  ...over,
});
const standing: AgentStanding = {
  state: "awaiting-funds",
  settlementId: null,
  attempt: 0,
  hasOtherWay: true,
};
const steps = (over: Partial<AgentStanding>, payment: Partial<PaymentView>) =>
  follow({ ...standing, ...over }, view(payment)).map(({ trigger }) => trigger);
const led = { settlementId: "stl_1" };

describe("what a claim comes to", () => {
  it.each([
    ["created", "claimed", {}, ["lock", "detect"]],
    ["awaiting-funds", "claimed", {}, ["detect"]],
    ["awaiting-funds", "submitting", {}, ["detect"]],
    ["failed", "claimed", led, ["detect"]],
    ["expired", "claimed", {}, []],
    ["funds-detected", "submitting", led, []],
    ["funds-detected", "included", led, ["receive", "settle", "credit"]],
    ["awaiting-funds", "final", {}, ["detect", "receive", "settle", "credit"]],
    ["created", "included", {}, ["lock", "detect", "receive", "settle", "credit"]],
    ["failed", "included", led, ["detect", "receive", "settle", "credit"]],
    ["expired", "included", {}, ["reopen", "settle", "credit"]],
    ["cancelled", "included", {}, ["review", "accept", "settle", "credit"]],
    ["in-review", "included", led, ["accept", "settle", "credit"]],
    ["settled", "included", { ...led, attempt: 1 }, []],
    ["settled", "final", { ...led, attempt: 1 }, []],
    ["settled", "submitting", { ...led, attempt: 1 }, ["reverse"]],
    ["settled", "claimed", { ...led, attempt: 1 }, ["reverse"]],
    ["settled", "expired", { settlementId: "stl_other", attempt: 1 }, []],
    ["reversed", "submitting", { ...led, attempt: 1 }, []],
    ["reversed", "failed-watch", { ...led, attempt: 1 }, []],
    ["reversed", "expired", { ...led, attempt: 1 }, ["fail"]],
    ["reversed", "included", { ...led, attempt: 1 }, ["detect", "receive", "settle", "credit"]],
    ["funds-detected", "failed-watch", led, ["lose"]],
    ["funds-detected", "expired", { ...led, hasOtherWay: false }, ["fail"]],
    ["funds-detected", "failed-watch", {}, []],
    ["funds-detected", "expired", { hasOtherWay: false }, []],
    ["awaiting-funds", "failed-watch", {}, []],
    ["awaiting-funds", "failed-watch", { hasOtherWay: false }, ["fail"]],
    ["created", "cancelled", { hasOtherWay: false }, ["fail"]],
    ["funds-detected", "review", led, ["review"]],
    ["in-review", "claimed", led, ["extend", "detect"]],
    ["in-review", "claimed", {}, []],
    ["in-review", "failed-watch", led, []],
    ["in-review", "expired", { ...led, hasOtherWay: false }, ["extend", "fail"]],
    ["in-review", "cancelled", led, ["extend"]],
    ["in-review", "cancelled", {}, []],
    ["returned", "included", {}, []],
  ] as const)("%s, the claim is %s %j: %j", (state, claim, over, expected) => {
    expect(steps({ state, ...over }, { state: claim })).toEqual(expected);
  });

  it("credited anew after a reorganisation that nobody saw: both are written", () => {
    const seen = { state: "settled" as const, ...led, attempt: 1 };
    expect(steps(seen, { state: "included", creditEpoch: 1 })).toEqual([
      "reverse",
      "detect",
      "receive",
      "settle",
      "credit",
    ]);
    expect(steps({ ...seen, attempt: 2 }, { state: "included", creditEpoch: 1 })).toEqual([]);
  });

  it("takes only steps that the table has, from every state and for every claim", () => {
    const claims = [
      "claimed",
      "submitting",
      "included",
      "final",
      "failed-watch",
      "review",
      "expired",
      "cancelled",
    ] as const;
    for (const state of clearingStates)
      for (const claim of claims)
        for (const hasOtherWay of [true, false])
          for (const settlementId of ["stl_1", null]) {
            const found = follow({ state, settlementId, attempt: 0, hasOtherWay }, view({ state: claim }));
            found.reduce((at, { trigger }) => (trigger ? advance(at, trigger) : at), state);
          }
  });
});

describe("the payment that counts", () => {
  it("is the credited one, else the one under way, else the last", () => {
    const [over, open, paid] = [
      view({ id: "stl_1", state: "expired" }),
      view({ id: "stl_2", state: "failed-watch" }),
      view({ id: "stl_3", state: "final" }),
    ];
    expect(leading([over, open, paid])?.id).toBe("stl_3");
    expect(leading([over, open])?.id).toBe("stl_2");
    expect(leading([over])?.id).toBe("stl_1");
    expect(leading([])).toBe(null);
  });
});

describe("why it failed", () => {
  it.each([
    [{ state: "expired" }, "authorization_expired"],
    [{ state: "cancelled" }, "nonce_already_used"],
    [{ state: "cancelled", reason: "invalid_payment_requirements" }, "review_returned"],
    [{ state: "failed-watch", reason: "insufficient_funds" }, "insufficient_funds"],
    [{ state: "failed-watch", reason: "invalid_exact_evm_nonce_already_used" }, "nonce_already_used"],
    [{ state: "failed-watch", reason: "invalid_exact_evm_signature" }, "authorization_invalid"],
    [{ state: "failed-watch", reason: "constructor" }, "settlement_reverted"],
    [{ state: "failed-watch" }, "settlement_reverted"],
  ] as const)("%j: %s", (over, code) => {
    expect(failureOf(view({ ...over, message: "As it was told." }))).toEqual({
      code,
      reason: "As it was told.",
    });
  });
});
