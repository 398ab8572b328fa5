import type { Deployment } from "./deployment.ts";

/** A payment intent of two cents, which can be paid once. Whoever holds its id may pay it; nothing lists it. */
export async function createIntent({ baseUrl, secretKey }: Deployment): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/payment-intents`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${secretKey}`,
      "Content-Type": "application/json",
      "Idempotency-Key": "harbour-tour-1",
    },
    body: JSON.stringify({
      amount: { amount: "0.02", asset: "USD" },
      merchantReference: "A seat on the harbour tour",
    }),
  });
  if (!response.ok) throw new Error(`creating the intent: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}
