import type { Hex } from "#kernel/bytes";
import type { Revert } from "../port.ts";

/** Custom errors of the tokens we meet: OpenZeppelin (and our dev token), Paxos. */
const BY_SELECTOR: Readonly<Record<string, Revert>> = {
  "0xe450d38c": "insufficient-balance", // ERC20InsufficientBalance(address,uint256,uint256)
  "0x356680b7": "insufficient-balance", // InsufficientFunds()
  "0x8f7808c1": "authorization-used", // ERC3009UsedAuthorization(address,bytes32)
  "0xc906bf28": "authorization-not-yet-valid", // AuthorizationInvalid()
  "0x0f05f5bf": "authorization-expired", // AuthorizationExpired()
  "0x77c207f4": "bad-signature", // ERC3009InvalidSignature()
  "0x8baa579f": "bad-signature", // InvalidSignature()
  "0xf645eedf": "bad-signature", // ECDSAInvalidSignature()
  "0xfce698f7": "bad-signature", // ECDSAInvalidSignatureLength(uint256)
  "0xd78bce0c": "bad-signature", // ECDSAInvalidSignatureS(bytes32)
  "0xd93c0665": "paused", // EnforcedPause()
  "0xab35696f": "paused", // ContractPaused()
  "0x28e9b385": "blocked", // AccountBlocked(address)
  "0x1fd1cc44": "blocked", // AddressFrozen()
};
/** ERC3009InvalidAuthorizationTime(uint256 validAfter,uint256 validBefore): early and late in one error. */
const INVALID_TIME = "0x4a931c17";
/** Error(string) */
const ERROR_STRING = "0x08c379a0";
/** Longer texts are nobody's error message. */
const MAX_TEXT_BYTES = 256;

/** Sentences of Circle's token and its relatives, by what they always say. The first that fits. */
const BY_TEXT: readonly (readonly [RegExp, Revert])[] = [
  [/amount exceeds balance|insufficient (?:balance|funds)/i, "insufficient-balance"],
  [/authorization is used|authorization (?:was|already) used/i, "authorization-used"],
  [/not yet valid/i, "authorization-not-yet-valid"],
  [/expired/i, "authorization-expired"],
  [/invalid signature|^ECRecover:|^ECDSA:/i, "bad-signature"],
  [/paused/i, "paused"],
  [/blacklisted|blocked|frozen/i, "blocked"],
];

/** What a token's error data says. `blockTime` in seconds tells early from late where the error does not. */
export function revertOf(data: Hex, blockTime: number): Revert {
  const selector = data.slice(0, 10);
  if (selector === INVALID_TIME) return timeRevert(data, blockTime);
  if (selector === ERROR_STRING) return textRevert(errorText(data));
  return BY_SELECTOR[selector] ?? "unknown";
}

function timeRevert(data: Hex, blockTime: number): Revert {
  if (data.length < 138) return "unknown";
  const validAfter = BigInt(`0x${data.slice(10, 74)}`);
  return validAfter >= BigInt(blockTime) ? "authorization-not-yet-valid" : "authorization-expired";
}

function textRevert(text: string): Revert {
  return BY_TEXT.find(([pattern]) => pattern.test(text))?.[1] ?? "unknown";
}

function errorText(data: Hex): string {
  const bytes = Buffer.from(data.slice(10), "hex");
  if (bytes.length < 64) return "";
  const length = Math.min(Number(bytes.readBigUInt64BE(56)), MAX_TEXT_BYTES);
  return bytes.subarray(64, 64 + length).toString("utf8");
}
