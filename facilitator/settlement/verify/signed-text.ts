import type { Address, Hash, Hex } from "#kernel/bytes";
import type { Chain } from "../../chain/port.ts";
import { signerOf, textDigest } from "../../scheme/index.ts";

/** A text as an account is said to have signed it. */
export interface SignedText {
  readonly account: Address;
  readonly text: string;
  readonly signature: Hex;
}

/** What stands at an account that only lends itself a contract's code: its key still commands it. Source: EIP-7702. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/;

/** Whether an account signed a text: by its key, or, where a contract stands there, by that contract's word (ERC-1271).
 *  Asks the chain either way: what a key says of an address that holds a contract counts for nothing. Fault:
 *  `chain_unavailable`. */
export async function isSignedBy(
  chain: Pick<Chain, "code" | "isValidSignature">,
  { account, text, signature }: SignedText,
): Promise<boolean> {
  const digest: Hash = textDigest(text);
  const code = await chain.code(account);
  const hasKey = code === "0x" || DELEGATION.test(code);
  if (hasKey && signerOf(digest, signature) === account) return true;
  return code !== "0x" && chain.isValidSignature(account, digest, signature);
}
