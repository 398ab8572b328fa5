import type { Address } from "#kernel/bytes";
import type { TestDatabase } from "../support/db.ts";

/** What the books hold of a payer's payments: the rows that move money, their later posting left out. */
export function creditsOf(database: TestDatabase, payer: Address) {
  return database.query<{ payable: string; leg: string; amount: string; asset: string }>(
    `SELECT claim.payable_id AS payable, transfer.leg, transfer.amount, transfer.asset
       FROM claim JOIN ledger_transfer transfer ON transfer.subject = claim.id
      WHERE claim.payer = decode($1, 'hex') AND transfer.phase IN ('single', 'pending')
      ORDER BY claim.payable_id, transfer.leg DESC`,
    [payer.slice(2)],
  );
}

/** The rows of one payment of 10,000 atomic units, our fee of 50 basis points taken. */
export const creditedOnce = (payable: string, asset: string) => [
  { payable, leg: "net", amount: "9950", asset },
  { payable, leg: "fee", amount: "50", asset },
];

/** Everything a refused payment must leave as it was. Finality and gas of earlier payments are booked in their own time
 *  and are left out. */
export async function footprint(database: TestDatabase): Promise<Record<string, string>> {
  const [row] = await database.query<Record<string, string>>(
    `SELECT (SELECT count(*) FROM claim) AS claims, (SELECT count(*) FROM slot) AS slots,
            (SELECT count(*) FROM attempt) AS attempts, (SELECT count(*) FROM settle_answer) AS answers,
            (SELECT count(*) FROM ledger_transfer
              WHERE phase IN ('single', 'pending') AND code NOT LIKE 'gas-%') AS credits`,
  );
  if (!row) throw new Error("a count came back empty");
  return row;
}
