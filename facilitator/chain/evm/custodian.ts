import { privateKeyToAccount } from "viem/accounts";
import { address, type Hex } from "#kernel/bytes";
import type { Custodian } from "../port.ts";

/** The treasury's key, held in this process. */
export function localCustodian(privateKey: Hex): Custodian {
  const account = privateKeyToAccount(privateKey);
  return { address: address(account.address), sign: (digest) => account.sign({ hash: digest }) };
}
