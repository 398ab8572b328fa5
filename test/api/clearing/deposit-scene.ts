/** What tests of deposits share: how they read a payment's position, and how the chain and the books come to rest. */
import { address } from "#kernel/bytes";
import { books, until, type World } from "../../support/house.ts";

export const idOf = (position: { paymentIntent: { id: string } }) => position.paymentIntent.id;
export const addressOf = (position: { deposit: { address: string } }) => position.deposit.address;
export const final = ({ dev }: World) => dev.anvil.mine(3);
/** Ledger = chain at the treasury, once a sweep that is under way is booked; what lies on deposit addresses is told
 *  apart. */
export async function expectBooks({ dev, database }: World) {
  await until(async () => {
    const { balanced, treasury, chain } = await books(dev, database);
    return balanced && treasury === chain;
  }, "the books equal the chain");
}
/** Mines until so much has reached an address. */
export const arrives = ({ dev }: World, to: string, amount: bigint, token: string = dev.usdc) =>
  until(async () => {
    await dev.anvil.mine();
    return (await dev.chain.tokenBalance(address(token), address(to), "latest")) === amount;
  }, `${amount} arrive`);
export const settleRows = (net: number, fee: number) => [
  `pending net clearing → available ${net}`,
  `pending fee clearing → fees ${fee}`,
];
