/** Payments to refund, paid for real, and a merchant's calls about them. */
import { expect } from "vitest";
import { type Address, address } from "#kernel/bytes";
import { type Merchant, newMerchant, newPayer, until, type World } from "../../support/house.ts";
import { expectAtRest, newPayment } from "../../support/scene.ts";

export interface Called {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer off the wire, compared by the tests
  readonly body: any;
}
interface Asking {
  readonly method?: string;
  readonly body?: unknown;
  readonly key?: string | null;
}

export async function call(merchant: Merchant, path: string, asking: Asking = {}): Promise<Called> {
  const { method = "POST", body, key = crypto.randomUUID() } = asking;
  const response = await merchant.call(path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: key === null ? {} : { "Idempotency-Key": key },
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === "" ? null : JSON.parse(text),
  };
}

export const usdc = (amount: string) => ({ amount, asset: "USDC" });
export const refund = (merchant: Merchant, payment: string, body: unknown = {}, key?: string) =>
  call(merchant, `/v1/payments/${payment}/refunds`, { body, ...(key === undefined ? {} : { key }) });
export const read = async (merchant: Merchant, id: string) =>
  (await call(merchant, `/v1/refunds/${id}`, { method: "GET" })).body;
export const listed = async (merchant: Merchant, payment: string) =>
  (await call(merchant, `/v1/payments/${payment}/refunds`, { method: "GET" })).body;

export async function untilState(merchant: Merchant, id: string, state: string): Promise<void> {
  await until(async () => (await read(merchant, id)).state === state, `the refund is ${state}`);
}

/** Mines until the refund has ended, and nothing else moves. */
export async function untilEnded(world: World, merchant: Merchant, id: string, as: string): Promise<void> {
  await until(async () => {
    if ((await read(merchant, id)).state === as) return true;
    await world.dev.anvil.mine();
    return false;
  }, `the refund has ${as}`);
  await expectAtRest(world);
}
export const untilSucceeded = (world: World, merchant: Merchant, id: string) =>
  untilEnded(world, merchant, id, "succeeded");

/** Available, pending and reserved dev USDC of a merchant, as the API shows them. */
export async function purse(merchant: Merchant): Promise<readonly [string, string, string]> {
  const { body } = await call(merchant, "/v1/balances", { method: "GET" });
  const [balance] = body;
  return [balance.available.amount, balance.pending.amount, balance.reserved.amount];
}

export const held = ({ dev }: World, account: string): Promise<bigint> =>
  dev.chain.tokenBalance(dev.usdc, address(account.toLowerCase()), "latest");

export interface Paid {
  /** Of the intent. */
  readonly id: string;
  readonly clearingId: string;
  readonly payer: Address;
}

/** A payment of so many dollars by an agent, credited and not final yet. */
export async function pay(world: World, merchant: Merchant, price: string): Promise<Paid> {
  const [whole = "", cents = ""] = price.split(".");
  const amount = BigInt(whole + cents.padEnd(6, "0"));
  const resource = await merchant.register({ price: { amount: price, asset: "USD" } });
  const payer = await newPayer(world.dev, amount);
  const payment = await newPayment(world, merchant, { resource, payer, terms: { amount } });
  payment.body.paymentRequirements.amount = `${amount}`; // the accepted option is the same object
  const { body } = await payment.settle();
  expect(body).toMatchObject({ success: true });
  const named = () =>
    world.database.query<{ id: string; intent: string }>(
      "SELECT id, intent_id AS intent FROM clearing WHERE provider_reference = $1 AND state = 'settled'",
      [body.extra.paymentId],
    );
  await until(async () => (await named()).length > 0, "the merchant has the payment");
  const [row] = await named();
  return { id: row?.intent ?? "", clearingId: row?.id ?? "", payer: payer.address };
}

/** A merchant (50 bps), a new one unless it is given, with a payment that is final. */
export async function paidMerchant(world: World, price: string, given?: Merchant) {
  const merchant = given ?? (await newMerchant(world));
  const paid = await pay(world, merchant, price);
  await expectAtRest(world);
  return { merchant, paid };
}
