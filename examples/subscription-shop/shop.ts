/** The merchant's side: subscriptions over plain HTTP with a secret key, and a sandbox's clock. */
import type { Deployment } from "../demo/deployment.ts";
import type { Money, Position } from "../payments/merchant.ts";

export interface Subscription {
  readonly id: string;
  readonly state: string;
  readonly billedCycles: number;
  readonly nextBillingAt: string | null;
}
/** A cycle is an invoice. */
export interface Cycle {
  readonly id: string;
  readonly number: string;
  readonly status: string;
  readonly total: Money;
  readonly paid: Money;
  readonly outstanding: Money;
  readonly issuedAt: string;
  readonly dueAt: string;
}

export interface Shop {
  subscribe(plan: Record<string, unknown>): Promise<Subscription>;
  /** Cycles in their order. */
  read(id: string): Promise<{ readonly subscription: Subscription; readonly cycles: readonly Cycle[] }>;
  /** A way to pay an invoice by a plain transfer. Anybody may ask for it who has the invoice's address. */
  deposit(invoiceId: string): Promise<Position>;
  advance(days: number): Promise<void>;
}

export function shopOf({ baseUrl, secretKey }: Deployment): Shop {
  let writes = 0;
  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    writes += 1;
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${secretKey}`,
        "Content-Type": "application/json",
        ...(method === "POST" && { "Idempotency-Key": `shop-${Date.now()}-${writes}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
  return {
    subscribe: (plan) => call("POST", "/v1/subscriptions", plan),
    async read(id) {
      const { subscription, cycles } = await call<Awaited<ReturnType<Shop["read"]>>>(
        "GET",
        `/v1/subscriptions/${id}`,
      );
      return { subscription, cycles: [...cycles].reverse() };
    },
    async deposit(invoiceId) {
      const intent = await call<{ id: string }>("POST", `/v1/invoices/${invoiceId}/checkout`, {
        executionPath: "deposit-match",
        payment: { chain: "local", asset: "USDC" },
      });
      return call("POST", `/v1/payment-intents/${intent.id}/confirm`);
    },
    async advance(days) {
      await call("POST", "/v1/test/advance-clock", { seconds: days * 86_400 });
    },
  };
}
