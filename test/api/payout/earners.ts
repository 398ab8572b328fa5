import { expect } from "vitest";
import { type Merchant, newMerchant, newPayer, post, signPayment, until } from "../../support/house.ts";
import type { PaymentPlace } from "../../support/payments.ts";

/** Merchants who have earned something, and what they ask. */
export function earnersOf(world: PaymentPlace) {
  const call = async (
    merchant: Merchant,
    path: string,
    init: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
  ) => {
    const response = await merchant.call(path, {
      method: init.method ?? "GET",
      ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
      headers: { "Idempotency-Key": Math.random().toString(36), ...init.headers },
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : null,
    };
  };

  async function earned(): Promise<Merchant> {
    const merchant = await newMerchant(world);
    const resource = await merchant.register();
    const { body } = await signPayment(world.dev, await newPayer(world.dev), resource);
    expect(await post(world.baseUrl, `/x402/resources/${resource.id}/settle`, body)).toMatchObject({
      body: { success: true },
    });
    await world.dev.anvil.mine(3);
    await until(async () => (await available(merchant)) === "0.009950", "the payment is final");
    return merchant;
  }

  const available = async (merchant: Merchant) =>
    (await call(merchant, "/v1/balances")).body[0]?.available.amount;

  return {
    call,
    available,
    /** A merchant with 0.009950 USDC that is final. */
    earned,
  };
}
