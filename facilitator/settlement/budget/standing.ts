import { sql } from "drizzle-orm";
import type { Address, Hash } from "#kernel/bytes";
import { coalesce } from "#kernel/coalesce";
import { type Executor, toArray, toBytesArray } from "#store";
import { isThisHour, spent, weighed } from "./burn.ts";
import { type Burn, newPayer, noBurn, type PayerStanding } from "./policy.ts";
import type { BurnKind } from "./tables.ts";

const secondsLeft = sql`greatest(0, ceil(extract(epoch FROM since + interval '1 hour' - now())))`;

/** What a payer has under way, and how it stands. */
export interface PayerOnChain {
  /** Atomic units that its open claims will take, by token. */
  readonly openAmounts: ReadonlyMap<Address, bigint>;
  readonly standing: PayerStanding;
}

type PayerRow = {
  claimed: Hash | null;
  chain_id: string;
  payer: Address;
  token: Address | null;
  amount: string | null;
  open: string | null;
  wei: string | null;
  spent: string | null;
  left: string | null;
  failures: number | null;
  has_paid: boolean | null;
  rest: string | null;
};

export const payerOnChain = (chainId: number, payer: Address) => `${chainId} ${payer}`;

/** Who wants to pay, and with which authorization. */
export interface Paying {
  readonly payer: Address;
  readonly claimKey: Hash;
}

/** How these payers stand on every chain, by `payerOnChain`, and which of their authorizations were claimed before; one
 *  statement. What was moved and waits for its depth is gone from a payer's balance already, and its gas is burned. */
export async function readPayers(
  db: Executor,
  paying: readonly Paying[],
): Promise<{ readonly payers: ReadonlyMap<string, PayerOnChain>; readonly claimed: readonly Hash[] }> {
  const asked = toBytesArray([...new Set(paying.map(({ payer }) => payer))]);
  const keys = toBytesArray(paying.map(({ claimKey }) => claimKey));
  const { rows } = await db.execute<PayerRow>(sql`
    SELECT claim_key AS claimed, chain_id, NULL AS payer, NULL AS token, NULL::numeric AS amount,
      NULL::bigint AS open, NULL::numeric AS wei, NULL::numeric AS spent, NULL::numeric AS left, NULL::int AS failures, NULL::boolean AS has_paid, NULL::numeric AS rest
    FROM claim WHERE claim_key = ANY(${keys})
    UNION ALL
    SELECT NULL, chain_id, payer, token, sum(amount),
      count(*), NULL, NULL, NULL, NULL, NULL, NULL
    FROM claim
    WHERE payer = ANY(${asked}) AND state IN ('claimed','submitting') AND NOT EXISTS (
      SELECT 1 FROM chain_transfer AS log WHERE log.authorization_key = claim.claim_key AND log.canonical)
    GROUP BY chain_id, payer, token
    UNION ALL
    SELECT NULL, chain_id, payer, NULL, NULL, NULL, ${weighed}, ${spent}, ${secondsLeft},
      CASE WHEN ${isThisHour("since")} THEN failures ELSE 0 END, has_paid, greatest(0, ceil(extract(epoch FROM rest_until - now())))
    FROM payer_gas WHERE payer = ANY(${asked})`);
  const found = new Map<string, PayerRow[]>();
  for (const row of rows.filter(({ claimed }) => claimed === null)) {
    const key = payerOnChain(Number(row.chain_id), row.payer);
    found.set(key, [...(found.get(key) ?? []), row]);
  }
  return {
    payers: new Map([...found].map(([key, own]) => [key, onChain(own)])),
    claimed: rows.flatMap(({ claimed }) => claimed ?? []),
  };
}

function onChain(rows: readonly PayerRow[]): PayerOnChain {
  const openAmounts = new Map<Address, bigint>();
  let standing = newPayer;
  let open = 0;
  for (const { token, amount, open: claims, wei, spent: spentWei, left, failures, has_paid, rest } of rows) {
    if (token !== null) {
      openAmounts.set(token, BigInt(amount ?? 0));
      open += Number(claims);
    } else
      standing = {
        ...standing,
        wei: BigInt(wei ?? 0),
        spentWei: BigInt(spentWei ?? 0),
        secondsLeft: Number(left),
        failures: failures ?? 0,
        hasPaid: has_paid ?? false,
        restSeconds: Number(rest ?? 0),
      };
  }
  return { openAmounts, standing: { ...standing, open } };
}

/** One budget's holder beside payers. */
export interface Holder {
  readonly chainId: number;
  readonly kind: BurnKind;
  readonly subject: string;
}

/** What they burned within the hour, many in one statement. */
export function burnReader(db: Executor): (of: Holder) => Promise<Burn> {
  return coalesce({ maxInFlight: 1, maxItems: 300 }, async (holders: readonly Holder[]) => {
    const { rows } = await db.execute<
      Record<"chain_id" | "kind" | "subject" | "wei" | "spent" | "left", string>
    >(sql`
      SELECT chain_id, kind, subject, ${weighed} AS wei, ${spent} AS spent, ${secondsLeft} AS left
      FROM gas_burn WHERE (chain_id, kind, subject) IN (SELECT * FROM unnest(
        ${toArray(
          holders.map(({ chainId }) => chainId),
          "bigint",
        )}, ${toArray(
          holders.map(({ kind }) => kind),
          "text",
        )}, ${toArray(
          holders.map(({ subject }) => subject),
          "text",
        )}))`);
    const found = new Map(rows.map((row) => [`${row.chain_id} ${row.kind} ${row.subject}`, row]));
    return holders.map(({ chainId, kind, subject }) => {
      const row = found.get(`${chainId} ${kind} ${subject}`);
      if (!row) return noBurn;
      return { wei: BigInt(row.wei), spentWei: BigInt(row.spent), secondsLeft: Number(row.left) };
    });
  });
}

/** Claims under way on a chain: by `payable {id}`, by `merchant {id}`, and all of them by `chain `. */
export function openReader(db: Executor): (chainId: number) => Promise<Map<string, number>> {
  return coalesce({ maxInFlight: 1, maxItems: 300 }, async (chainIds: readonly number[]) => {
    const { rows } = await db.execute<Record<"chain_id" | "merchant_id" | "payable_id" | "open", string>>(sql`
      SELECT chain_id, merchant_id, payable_id, count(*) AS open FROM claim
      WHERE chain_id = ANY(${toArray([...new Set(chainIds)], "bigint")}) AND state IN ('claimed','submitting') AND kind = 'x402'
      GROUP BY 1, 2, 3`);
    return chainIds.map((id) => {
      const held = new Map<string, number>();
      for (const { merchant_id, payable_id, open } of rows.filter(({ chain_id }) => Number(chain_id) === id))
        for (const holder of ["chain ", `merchant ${merchant_id}`, `payable ${payable_id}`])
          held.set(holder, (held.get(holder) ?? 0) + Number(open));
      return held;
    });
  });
}
