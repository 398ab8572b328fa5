import { type Address, fromBytes, toBytes } from "#kernel/bytes";
import { assert } from "#kernel/fault";
import type { Call } from "../../chain/port.ts";
import type { Authorization } from "../port.ts";
import { putHex, putUint, WORD } from "../word.ts";
import { signatureForm } from "./signature.ts";

/** transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32) */
const KEY_FORM = "0xe3ee160e";
/** transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes) */
const BYTES_FORM = "0xcf092995";
const SELECTOR = 4;
const SIGNED_WORDS = 6;

/** The call that moves the money, for a payer without code: v, r and s. Throws on a signature that no key made; it
 *  was refused long before. Source: EIP-3009. */
export function keyCall(token: Address, authorization: Authorization): Call {
  const form = signatureForm(authorization.signature);
  assert(form.kind === "key", "a payer without code needs a signature of a key");
  const data = packSigned(KEY_FORM, authorization, 3 * WORD);
  const tail = SELECTOR + SIGNED_WORDS * WORD;
  putUint(data, tail, BigInt(27 + form.recovery));
  data.set(form.rs, tail + WORD);
  return { to: token, data: fromBytes(data) };
}

/** The call for a payer with code: the signature goes through as it came, since only the wallet can read it.
 *  Source: settlement.md §8. */
export function bytesCall(token: Address, authorization: Authorization): Call {
  const signature = toBytes(authorization.signature);
  const padded = Math.ceil(signature.length / WORD) * WORD;
  const data = packSigned(BYTES_FORM, authorization, 2 * WORD + padded);
  const tail = SELECTOR + SIGNED_WORDS * WORD;
  putUint(data, tail, BigInt((SIGNED_WORDS + 1) * WORD));
  putUint(data, tail + WORD, BigInt(signature.length));
  data.set(signature, tail + 2 * WORD);
  return { to: token, data: fromBytes(data) };
}

/** Selector and signed fields, with `more` bytes of zeros behind them. */
function packSigned(
  selector: "0xe3ee160e" | "0xcf092995",
  authorization: Authorization,
  more: number,
): Buffer {
  const { payer, payTo, value, validAfter, validBefore, nonce } = authorization;
  const data = Buffer.alloc(SELECTOR + SIGNED_WORDS * WORD + more);
  data.set(toBytes(selector), 0);
  putHex(data, SELECTOR, payer);
  putHex(data, SELECTOR + WORD, payTo);
  putUint(data, SELECTOR + 2 * WORD, value);
  putUint(data, SELECTOR + 3 * WORD, validAfter);
  putUint(data, SELECTOR + 4 * WORD, validBefore);
  putHex(data, SELECTOR + 5 * WORD, nonce);
  return data;
}
