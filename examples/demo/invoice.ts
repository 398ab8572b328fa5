import type { Deployment } from "./deployment.ts";

export interface Invoice {
  readonly id: string;
  readonly number: string;
  readonly state: string;
}

/** An invoice of two cents, issued. Whoever holds its id may pay it, once; nothing lists it. */
export function issueInvoice(deployment: Deployment): Promise<Invoice> {
  return call(deployment, "POST", "/v1/invoices", {
    buyer: { name: "An agent's principal" },
    currency: "USD",
    lines: [{ name: "A seat on the harbour tour", unitPrice: { amount: "0.02", asset: "USD" }, quantity: 1 }],
    issue: true,
  });
}

/** Where an agent pays it. */
export function agentUrl({ baseUrl }: Deployment, { id }: Invoice): string {
  return `${baseUrl}/x402/payables/${id}`;
}

/** The invoice, once the merchant's side has heard of its payment. */
export async function paidInvoice(deployment: Deployment, { id }: Invoice): Promise<Invoice> {
  for (let tries = 0; tries < 100; tries += 1) {
    const invoice = await call<Invoice>(deployment, "GET", `/v1/invoices/${id}`);
    if (invoice.state === "paid") return invoice;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the invoice ${id} is not paid`);
}

async function call<T>(
  { baseUrl, secretKey }: Deployment,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${secretKey}`,
      "Content-Type": "application/json",
      "Idempotency-Key": `harbour-tour ${path}`,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
