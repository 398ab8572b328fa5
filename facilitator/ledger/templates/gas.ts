import * as account from "../account.ts";
import { type Entry, entry, single } from "../transfer.ts";

/** Gas that a slot's transaction burnt, in wei of the chain's coin (`ETH@base`). */
export function gasSpent(spent: {
  chain: string;
  signer: string;
  nonce: number;
  asset: string;
  wei: bigint;
  blockNumber: number;
}): Entry {
  return entry(
    {
      code: "gas-spent",
      eventKey: `gas:${spent.chain}:${spent.signer}:${spent.nonce}`,
      subject: null,
      blockNumber: spent.blockNumber,
    },
    [
      single("gas", {
        debit: account.gasExpense(spent.asset),
        credit: account.gas(spent.asset),
        amount: spent.wei,
      }),
    ],
  );
}
