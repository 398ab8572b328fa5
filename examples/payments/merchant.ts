/** The merchant's side: plain HTTP with a secret key. */
import type { Deployment } from "../demo/deployment.ts";

export interface Money {
  readonly amount: string;
  readonly asset: string;
  /** For people. */
  readonly formatted?: string;
}
export interface Position {
  readonly paymentIntent: { readonly id: string; readonly status: string };
  readonly clearing: {
    readonly id: string;
    readonly state: string;
    readonly transactionHash: string | null;
    readonly settlementAmount: Money | null;
    readonly fee: Money | null;
    readonly netAmount: Money | null;
  };
  readonly deposit: { readonly address: string; readonly amount: Money; readonly uri: string | null } | null;
  readonly timeline: readonly { readonly state: string }[];
}
export interface Moving {
  readonly id: string;
  readonly state: string;
  readonly amount: Money;
}

export type ExecutionPath = "deposit-match" | "on-chain-contract" | "x402";

export interface Merchant {
  createIntent(amount: Money, path: ExecutionPath): Promise<string>;
  confirm(intentId: string): Promise<Position>;
  payment(id: string): Promise<Position>;
  refund(paymentId: string, amount?: Money): Promise<Moving>;
  readRefund(id: string): Promise<Moving>;
  payOut(amount: Money, address: string): Promise<Moving>;
  readPayout(id: string): Promise<Moving>;
  available(asset: string): Promise<string>;
}

export function merchantOf({ baseUrl, secretKey }: Deployment): Merchant {
  let writes = 0;
  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    writes += 1;
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${secretKey}`,
        "Content-Type": "application/json",
        // One key per write; a caller that repeats a write after a lost answer repeats its key.
        ...(method === "POST" && { "Idempotency-Key": `example-${Date.now()}-${writes}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
  return {
    async createIntent(amount, executionPath) {
      const payment = { chain: "local", asset: "USDC" };
      const made = await call<{ id: string }>("POST", "/v1/payment-intents", {
        amount,
        executionPath,
        payment,
        merchantReference: `order of ${amount.amount}`,
      });
      return made.id;
    },
    confirm: (id) => call("POST", `/v1/payment-intents/${id}/confirm`),
    payment: (id) => call("GET", `/v1/payments/${id}`),
    refund: (id, amount) => call("POST", `/v1/payments/${id}/refunds`, amount ? { amount } : {}),
    readRefund: (id) => call("GET", `/v1/refunds/${id}`),
    async payOut(amount, address) {
      await call("POST", "/v1/payout-addresses", { chain: "local", address });
      return call("POST", "/v1/payouts", { amount, chain: "local", destination: address });
    },
    readPayout: (id) => call("GET", `/v1/payouts/${id}`),
    async available(asset) {
      const balances = await call<readonly { asset: string; available: Money }[]>("GET", "/v1/balances");
      return balances.find((each) => each.asset === asset)?.available.amount ?? "0";
    },
  };
}

const PATIENCE_MS = 60_000;

/** Asks until what is read is as wanted. */
export async function until<T>(read: () => Promise<T>, wanted: (found: T) => boolean): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await read();
    if (wanted(found)) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain: ${JSON.stringify(found)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
