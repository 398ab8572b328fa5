/** Gas that payments burn: what the chain took, what was booked of it, and a payment that wastes it. */
import { afterAll, expect } from "vitest";
import type { Hex } from "#kernel/bytes";
import type { ChainFaults } from "./chain-faults.ts";
import type { DevChain } from "./dev-chain.ts";
import { type HouseOptions, type Payer, type RunningHouse, startHouse, type World } from "./house.ts";
import { drain, type Payment } from "./scene.ts";

export async function gasOf({ anvil }: DevChain, transaction: Hex): Promise<bigint> {
  const { gasUsed, effectiveGasPrice } = await anvil.rpc<{ gasUsed: Hex; effectiveGasPrice: Hex }>(
    "eth_getTransactionReceipt",
    [transaction],
  );
  return BigInt(gasUsed) * BigInt(effectiveGasPrice);
}

/** What is booked against the budgets of a payable, a merchant or the chain, and of a payer. */
export function gasRows(world: Pick<World, "database">) {
  return {
    async burnOf(subject: string) {
      const [row] = await world.database.query<{ wei: string; wasted_wei: string; items: number }>(
        "SELECT wei, wasted_wei, items FROM gas_burn WHERE subject = $1",
        [subject],
      );
      return row && { wei: BigInt(row.wei), wasted: BigInt(row.wasted_wei), items: row.items };
    },
    async payerGasOf({ address }: Payer) {
      const [row] = await world.database.query<{
        wei: string;
        wasted_wei: string;
        failures: number;
        has_paid: boolean;
        rests: boolean;
      }>(
        `SELECT wei, wasted_wei, failures, has_paid, coalesce(rest_until > now(), false) AS rests FROM payer_gas
         WHERE payer = decode($1, 'hex')`,
        [address.slice(2)],
      );
      return row && { ...row, wei: BigInt(row.wei), wasted_wei: BigInt(row.wasted_wei) };
    },
  };
}

/** Starts other processes on the same rows, with budgets of their own: they answer, and the world's lanes send. They stop
 *  after the file's tests. */
export function housesBeside(world: Pick<World, "dev" | "database">) {
  const houses: RunningHouse[] = [];
  afterAll(async () => {
    for (const house of houses) await house.stop();
  });
  return async (
    gasBudgets: HouseOptions["gasBudgets"],
    others: Pick<HouseOptions, "meter" | "wrapChain"> = {},
  ): Promise<RunningHouse> => {
    const house = await startHouse(world.dev, world.database, { role: "web", gasBudgets, ...others });
    houses.push(house);
    return house;
  };
}

/** The payer spends the money elsewhere after its transaction was signed, and before it is mined. */
export async function failOnChain(world: World, faults: ChainFaults, paid: Payment): Promise<void> {
  const payer = paid.payer.address.slice(2).toLowerCase();
  faults.set({
    send: (real) => async (raw) => {
      // An earlier one may be sent again meanwhile.
      if (!raw.includes(payer)) return real.send(raw);
      faults.clear();
      await drain(world, paid.payer);
      return real.send(raw);
    },
  });
  const { body } = await paid.settle();
  expect(body).toMatchObject({ success: false, errorReason: "insufficient_funds" });
  expect(body.transaction).toMatch(/^0x/);
}
