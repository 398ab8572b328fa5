import { privateKeyToAccount } from "viem/accounts";
import { address, type Hex } from "#kernel/bytes";
import type { Operator } from "../port.ts";

/** The operator's key, held in this process. */
export function localOperator(privateKey: Hex): Operator {
  const account = privateKeyToAccount(privateKey);
  return { address: address(account.address), sign: (digest) => account.sign({ hash: digest }) };
}
