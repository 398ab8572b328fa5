/** Payments to refund, paid for real over x402. */
import { expect } from "vitest";
import type { newMerchant, startWorld } from "../../support/house.ts";
import { until } from "../../support/house.ts";
import { claimOf } from "../../support/records.ts";
import { newPayment } from "../../support/scene.ts";

export type World = Awaited<ReturnType<typeof startWorld>>;
export type Merchant = Awaited<ReturnType<typeof newMerchant>>;

let count = 0;
const idOf = (prefix: string) => `${prefix}_01K2C0Z0000000000000${String(count).padStart(6, "0")}`;

export interface Paid {
  readonly id: string;
  readonly clearingId: string;
  readonly payer: `0x${string}`;
}

export async function pay(world: World, merchant: Merchant, price: string): Promise<Paid> {
  count += 1;
  const atomic = BigInt(Math.round(Number(price) * 1e6));
  const resource = await merchant.register({ price: { amount: price, asset: "USD" } });
  const { newPayer } = await import("../../support/house.ts");
  const payer = await newPayer(world.dev, atomic);
  const payment = await newPayment(world, merchant, { resource, payer, terms: { amount: atomic } });
  payment.body.paymentRequirements.amount = `${atomic}`;
  const answer = await payment.settle();
  expect(answer.body).toMatchObject({ success: true });
  const claim = await claimOf(world.database, payment.nonce);
  const fee = (atomic * 50n) / 10_000n;
  const [id, clearingId] = [idOf("pi"), idOf("clr")];
  await world.database.query(
    `INSERT INTO payment_intent (merchant_id,id,status,amount,currency,provider,source,asked,merchant_name,merchant_city,merchant_country_code,metadata,fee_bps,clearing_id,clearing_state,execution_path,created_at,updated_at,expires_at)
     VALUES ($1,$2,'completed',$3,'USD','evm','x402','{}','m','c','PT','{}',50,$4,'settled','x402',now(),now(),now())`,
    [merchant.id, id, (atomic / 10_000n).toString(), clearingId],
  );
  await world.database.query(
    `INSERT INTO clearing (merchant_id,id,intent_id,state,provider,provider_reference,execution_path,chain,asset,source_amount,settlement_amount,fee,fee_bps,tolerance_bps,rate_from,rate_to,scaled_rate,rate_source,rate_locked_at,expires_at,sequence,created_at,updated_at)
     VALUES ($1,$2,$3,'settled','evm',$6,'x402','local','USDC',$4,$4,$5,50,0,'USD','USDC',1000000000000000000,'parity',now(),now(),6,now(),now())`,
    [merchant.id, clearingId, id, atomic.toString(), fee.toString(), claim?.id],
  );
  return { id, clearingId, payer: payer.address };
}

/** Mines until the payment's credit is posted and its clearing knows. */
export async function untilFinal(world: World, { clearingId }: Paid): Promise<void> {
  await world.dev.anvil.mine(3);
  await until(async () => {
    const [row] = await world.database.query<{ state: string }>(
      "SELECT claim.state FROM claim JOIN clearing ON clearing.provider_reference = claim.id WHERE clearing.id = $1",
      [clearingId],
    );
    return row?.state === "final";
  }, "the payment is final");
  await world.database.query("UPDATE clearing SET is_final = true WHERE id = $1", [clearingId]);
}
