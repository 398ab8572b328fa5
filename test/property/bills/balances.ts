/** At rest: what a merchant may spend is what payments brought, less our fees, refunds and payouts. */
import type { Shop } from "../payments/shop.ts";

interface Money {
  readonly amount: string;
  readonly asset: string;
}
const atomic = ({ amount }: Money) => BigInt(amount.replace(".", ""));
/** Payments and payouts of one page of a list. */
const PAGE = 100;

export async function problemsOfBalances(shop: Shop): Promise<readonly string[]> {
  const [left, { body: balances }] = await Promise.all([leftOf(shop), shop.call("GET", "/v1/balances")]);
  const problems = balances.flatMap(
    ({ asset, available, pending, reserved }: Record<string, Money> & { asset: string }) => {
      const [spendable, waiting] = [
        atomic(available as Money),
        atomic(pending as Money) + atomic(reserved as Money),
      ];
      const isRight = spendable === (left.get(asset) ?? 0n) && waiting === 0n;
      return isRight
        ? []
        : [`${asset}: ${spendable} can be spent of ${left.get(asset) ?? 0n}, ${waiting} waits`];
    },
  );
  return [...problems, ...(await mistoldRefunds(shop))];
}

async function leftOf({ world: { database }, call }: Shop): Promise<ReadonlyMap<string, bigint>> {
  const rows = await database.query<{ asset: string; left: string }>(`
    SELECT asset, sum(amount) AS left FROM (
      SELECT asset, settlement_amount - fee AS amount FROM clearing WHERE state = 'settled'
      UNION ALL SELECT asset, CASE WHEN returns_fee THEN fee ELSE 0 END - amount FROM refund WHERE state = 'succeeded') AS moves
    GROUP BY asset`);
  const left = new Map(rows.map(({ asset, left: amount }) => [asset, BigInt(amount)]));
  const { body: payouts } = await call("GET", `/v1/payouts?limit=${PAGE}`);
  for (const { amount, state } of payouts)
    if (state === "succeeded") left.set(amount.asset, (left.get(amount.asset) ?? 0n) - atomic(amount));
  return left;
}

/** Each payment tells as refunded what its refunds add up to. */
async function mistoldRefunds({ world: { database }, call }: Shop): Promise<readonly string[]> {
  const refunded = await database.query<{ id: string; amount: string }>(`
    SELECT intent_id AS id, sum(amount) AS amount FROM refund WHERE state NOT IN ('failed', 'cancelled') GROUP BY intent_id`);
  const sums = new Map(refunded.map(({ id, amount }) => [id, BigInt(amount)]));
  const { body: payments } = await call("GET", `/v1/payments?limit=${PAGE}`);
  return payments.flatMap(
    ({
      paymentIntent: { id },
      amountRefunded,
    }: {
      paymentIntent: { id: string };
      amountRefunded: Money | null;
    }) => {
      const [told, sum] = [amountRefunded && atomic(amountRefunded), sums.get(id) ?? 0n];
      return told === null || told === sum ? [] : [`${id} tells ${told} refunded of ${sum}`];
    },
  );
}
