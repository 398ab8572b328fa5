/** Payments to refund, paid for real, and a merchant's calls about them. */
import { expect } from "vitest";
import { type Address, address } from "#kernel/bytes";
import { newMerchant, newPayer, type startWorld, until } from "../../support/house.ts";
import { claimOf } from "../../support/records.ts";
import { expectAtRest, newPayment } from "../../support/scene.ts";

export type World = Awaited<ReturnType<typeof startWorld>>;
export type Merchant = Awaited<ReturnType<typeof newMerchant>>;

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

/** Mines until the refund has arrived for good, and nothing else moves. */
export async function untilSucceeded(world: World, merchant: Merchant, id: string): Promise<void> {
  await until(async () => {
    if ((await read(merchant, id)).state === "succeeded") return true;
    await world.dev.anvil.mine();
    return false;
  }, "the refund succeeds");
  await expectAtRest(world);
}

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

let count = 0;
const idOf = (prefix: string) => `${prefix}_01K2C0Z0000000000000${String(count).padStart(6, "0")}`;

/** A payment of so many dollars by an agent, credited and not final yet. */
export async function pay(world: World, merchant: Merchant, price: string): Promise<Paid> {
  count += 1;
  const [whole = "", cents = ""] = price.split(".");
  const amount = BigInt(whole + cents.padEnd(6, "0"));
  const resource = await merchant.register({ price: { amount: price, asset: "USD" } });
  const payer = await newPayer(world.dev, amount);
  const payment = await newPayment(world, merchant, { resource, payer, terms: { amount } });
  payment.body.paymentRequirements.amount = `${amount}`;
  expect((await payment.settle()).body).toMatchObject({ success: true });
  const claim = await claimOf(world.database, payment.nonce);
  const fee = (amount * 50n) / 10_000n;
  const [id, clearingId] = [idOf("pi"), idOf("clr")];
  await world.database.query(
    `INSERT INTO payment_intent (merchant_id,id,status,amount,currency,provider,source,asked,merchant_name,merchant_city,merchant_country_code,metadata,fee_bps,clearing_id,clearing_state,execution_path,created_at,updated_at,expires_at)
     VALUES ($1,$2,'completed',$3,'USD','evm','x402','{}','m','c','PT','{}',50,$4,'settled','x402',now(),now(),now())`,
    [merchant.id, id, (amount / 10_000n).toString(), clearingId],
  );
  await world.database.query(
    `INSERT INTO clearing (merchant_id,id,intent_id,state,provider,provider_reference,execution_path,chain,asset,source_amount,settlement_amount,fee,fee_bps,tolerance_bps,rate_from,rate_to,scaled_rate,rate_source,rate_locked_at,expires_at,sequence,created_at,updated_at)
     VALUES ($1,$2,$3,'settled','evm',$6,'x402','local','USDC',$4,$4,$5,50,0,'USD','USDC',1000000000000000000,'parity',now(),now(),6,now(),now())`,
    [merchant.id, clearingId, id, amount.toString(), fee.toString(), claim?.id],
  );
  return { id, clearingId, payer: payer.address };
}

/** Mines until the payment's credit is posted and its clearing knows. */
export async function untilFinal(world: World, { clearingId }: Paid): Promise<void> {
  await expectAtRest(world);
  await world.database.query("UPDATE clearing SET is_final = true WHERE id = $1", [clearingId]);
}

/** A merchant (50 bps), a new one unless it is given, with a payment that is final. */
export async function paidMerchant(world: World, price: string, given?: Merchant) {
  const merchant = given ?? (await newMerchant(world));
  const paid = await pay(world, merchant, price);
  await untilFinal(world, paid);
  return { merchant, paid };
}
