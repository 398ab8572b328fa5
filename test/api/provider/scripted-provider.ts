import type { ProviderAdapter, ProviderStatus, RefundOrder } from "../../../api/provider/port.ts";

/** A provider of one payment at a time, whose every answer the test decides. */
export function scriptedProvider() {
  const calls: string[] = [];
  const refunds: RefundOrder[] = [];
  const script = {
    duringStatus: async () => {},
    refund: "succeeded" as "pending" | "succeeded" | "failed",
    status: { state: "awaiting-funds", received: 0n, failure: null } as Omit<ProviderStatus, "reference">,
    /** What a settle makes of it. */
    settled: "settling" as ProviderStatus["state"],
    failing: new Set<string>(),
  };
  const answer = async (what: string, reference: string, change?: () => void): Promise<ProviderStatus> => {
    calls.push(what);
    if (script.failing.has(what)) throw new Error(`${what} does not answer`);
    change?.();
    return { ...script.status, reference };
  };
  const adapter: ProviderAdapter = {
    name: "sandbox",
    verifyWebhook: async () => [],
    createClearing: ({ id }) => answer("create", `at ${id}`),
    settle: (reference) =>
      answer("settle", reference, () => {
        script.status = { ...script.status, state: script.settled };
      }),
    close: (reference) =>
      answer("close", reference, () => {
        script.status = { ...script.status, state: "closed" };
      }),
    async refund(order) {
      refunds.push(order);
      if (script.failing.has("refund")) throw new Error("refund does not answer");
      return { reference: `back ${order.id}`, state: script.refund };
    },
    async getStatus(reference) {
      await script.duringStatus();
      return answer("status", reference);
    },
    getRefund: async (reference) => ({ reference, state: script.refund }),
  };
  return {
    adapter,
    calls,
    refunds,
    script,
    reset() {
      calls.length = 0;
      refunds.length = 0;
      script.status = { state: "awaiting-funds", received: 0n, failure: null };
      script.settled = "settling";
      script.refund = "succeeded";
      script.failing.clear();
    },
    says(state: ProviderStatus["state"], received = 50_000_000n) {
      script.status = { state, received, failure: state === "failed" ? "no reason given" : null };
    },
  };
}
