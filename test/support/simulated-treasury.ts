/** Money of a merchant on a made-up chain, and orders to send some of it. */
import { privateKeyToAccount } from "viem/accounts";
import type { Address, Hash } from "#kernel/bytes";
import { account, post } from "#ledger";
import { entry, single } from "../../facilitator/ledger/transfer.ts";
import { type SimulatedWorld, tokens } from "../simulation/world.ts";
import { authorize, devDomain, newKey } from "./authorization.ts";

export interface SentOrder {
  readonly id: string;
  readonly amount: bigint;
  readonly recipient: Address;
}

export function treasuryOf(of: () => SimulatedWorld) {
  let earnings = 0;
  return {
    /** So many blocks, and what they leave to do. */
    async blocks(count: number): Promise<void> {
      of().sim.mine(count);
      for (let i = 0; i < 3; i += 1) await of().turn();
    },
    /** In the books and on the chain: in the treasury, or still on a deposit address. */
    async earned(
      amount: bigint,
      {
        symbol = "USDC",
        lies = "treasury",
      }: { symbol?: keyof typeof tokens; lies?: "treasury" | "deposit" } = {},
    ): Promise<void> {
      const { sim, row, database } = of();
      const asset = `${symbol}@local`;
      earnings += 1;
      const subject = `stl_${earnings}`;
      if (lies === "treasury") sim.mint(tokens[symbol], row.treasury, amount);
      const payment = { code: "x402", eventKey: `x402:${subject}`, subject, blockNumber: 1 };
      const credit = {
        debit: account[lies](asset),
        credit: account.merchantAvailable("mer_1", asset),
        amount,
      };
      await database.db.tx((tx) => post(tx, [entry(payment, [single("net", credit)])]));
    },
    async queued(over: Partial<SentOrder> & { readonly token?: Address } = {}): Promise<SentOrder> {
      const { running, database, row } = of();
      const order = { id: "po_1", amount: 5n, recipient: newKey().address, token: tokens.USDC, ...over };
      const about = { kind: "payout", merchantId: "mer_1", chainId: row.chainId } as const;
      await database.db.tx((tx) => running.facilitator.outgoing.queue(tx, { ...order, ...about }));
      return order;
    },
    /** Somebody's gas carries an authorization of ours out, as it did before these books were put back. */
    async carriedOut(transfer: {
      readonly from: Address;
      readonly to: Address;
      readonly value: bigint;
      readonly nonce: Hash;
    }): Promise<void> {
      const { row, sim } = of();
      const { call } = await authorize({ domain: devDomain(tokens.USDC), ...transfer });
      const raw = await privateKeyToAccount(newKey().key).signTransaction({
        ...{ type: "eip1559", chainId: row.chainId, nonce: 0, gas: 200_000n, ...call },
        ...{ maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1n },
      });
      await sim.chain.send(raw);
    },
    async stateOf({ id }: Pick<SentOrder, "id">) {
      return (await of().running.facilitator.outgoing.status([id]))[0]?.state;
    },
  };
}
