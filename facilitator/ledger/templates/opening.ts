import * as account from "../account.ts";
import { type Entry, entry, single } from "../transfer.ts";

/** What a gas key held when the service first met it. */
export function gasFunded(funded: { chain: string; signer: string; asset: string; wei: bigint }): Entry {
  return entry(
    {
      code: "gas-funded",
      eventKey: `gas-funding:${funded.chain}:${funded.signer}`,
      subject: null,
      blockNumber: null,
    },
    [
      single("funding", {
        debit: account.gas(funded.asset),
        credit: account.funding(funded.asset),
        amount: funded.wei,
      }),
    ],
  );
}

/** What the treasury held of a token when the service first followed its chain. Atomic units. */
export function treasuryOpened(opened: { asset: string; amount: bigint; blockNumber: number }): Entry {
  return entry(
    {
      code: "treasury-opened",
      eventKey: `treasury-opening:${opened.asset}`,
      subject: null,
      blockNumber: opened.blockNumber,
    },
    [
      single("opening", {
        debit: account.treasury(opened.asset),
        credit: account.funding(opened.asset),
        amount: opened.amount,
      }),
    ],
  );
}
