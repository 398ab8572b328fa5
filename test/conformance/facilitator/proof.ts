/** What a chain shows of a payment, whatever anybody says. */
import { type Hex, pad, toEventSelector } from "viem";
import type { Body } from "../bad-input/row.ts";
import type { ControlledChain } from "./chain.ts";

const used = toEventSelector("AuthorizationUsed(address,bytes32)");
const transferred = toEventSelector("Transfer(address,address,uint256)");
const topic = (account: string) => pad(account.toLowerCase() as Hex, { size: 32 });

/** Null when the transaction holds the payment; else what is missing. */
export async function proofOf(
  chain: ControlledChain,
  { paymentPayload, paymentRequirements }: Body,
  transaction: string,
): Promise<string | null> {
  if (!/^0x[0-9a-f]{64}$/i.test(transaction))
    return `it names no transaction (${JSON.stringify(transaction)})`;
  const receipt = await chain.receipt(transaction);
  if (!receipt) return `no block holds ${transaction}`;
  if (receipt.status !== "0x1") return `${transaction} failed`;
  const { from, nonce } = paymentPayload.payload.authorization;
  const { asset, payTo, amount } = paymentRequirements;
  const logs = receipt.logs.filter(({ address }) => address.toLowerCase() === asset.toLowerCase());
  const isUsed = logs.some(
    ({ topics }) => topics[0] === used && topics[1] === topic(from) && topics[2] === nonce.toLowerCase(),
  );
  if (!isUsed) return `${transaction} uses no authorization of the payer`;
  const isPaid = logs.some(
    ({ topics, data }) =>
      topics[0] === transferred &&
      topics[1] === topic(from) &&
      topics[2] === topic(payTo) &&
      BigInt(data) === BigInt(amount),
  );
  return isPaid ? null : `${transaction} does not bring ${amount} to the payee`;
}
