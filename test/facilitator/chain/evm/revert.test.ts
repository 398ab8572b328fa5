import { type Abi, encodeErrorResult, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import type { Hex } from "#kernel/bytes";
import { revertOf } from "../../../../facilitator/chain/evm/revert.ts";
import type { Revert } from "../../../../facilitator/chain/port.ts";

const now = 1_800_000_000;
const somebody = `0x${"ab".repeat(20)}` as const;
const nonce = `0x${"cd".repeat(32)}` as const;

const errors = parseAbi([
  "error Error(string)",
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error ERC3009InvalidSignature()",
  "error ERC3009InvalidAuthorizationTime(uint256 validAfter, uint256 validBefore)",
  "error ERC3009UsedAuthorization(address authorizer, bytes32 nonce)",
  "error ECDSAInvalidSignature()",
  "error ECDSAInvalidSignatureLength(uint256 length)",
  "error ECDSAInvalidSignatureS(bytes32 s)",
  "error EnforcedPause()",
  "error AccountBlocked(address account)",
  "error InsufficientFunds()",
  "error AuthorizationInvalid()",
  "error AuthorizationExpired()",
  "error InvalidSignature()",
  "error ContractPaused()",
  "error AddressFrozen()",
  "error SomethingElse()",
]);
const custom = (errorName: string, args: readonly unknown[] = []): Hex =>
  encodeErrorResult({ abi: errors as Abi, errorName, args });

describe("revertOf", () => {
  it.each<[string, readonly unknown[], Revert]>([
    ["ERC20InsufficientBalance", [somebody, 1n, 2n], "insufficient-balance"],
    ["ERC3009InvalidSignature", [], "bad-signature"],
    ["ERC3009UsedAuthorization", [somebody, nonce], "authorization-used"],
    ["ECDSAInvalidSignature", [], "bad-signature"],
    ["ECDSAInvalidSignatureLength", [64n], "bad-signature"],
    ["ECDSAInvalidSignatureS", [nonce], "bad-signature"],
    ["EnforcedPause", [], "paused"],
    ["AccountBlocked", [somebody], "blocked"],
    ["InsufficientFunds", [], "insufficient-balance"],
    ["AuthorizationInvalid", [], "authorization-not-yet-valid"],
    ["AuthorizationExpired", [], "authorization-expired"],
    ["InvalidSignature", [], "bad-signature"],
    ["ContractPaused", [], "paused"],
    ["AddressFrozen", [], "blocked"],
    ["SomethingElse", [], "unknown"],
  ])("reads the custom error %s", (name, args, revert) => {
    expect(revertOf(custom(name, args), now)).toBe(revert);
  });

  it.each<[string, Revert]>([
    ["ERC20: transfer amount exceeds balance", "insufficient-balance"],
    ["FiatTokenV2: authorization is used or canceled", "authorization-used"],
    ["FiatTokenV2: authorization is expired", "authorization-expired"],
    ["FiatTokenV2: authorization is not yet valid", "authorization-not-yet-valid"],
    ["FiatTokenV2: invalid signature", "bad-signature"],
    ["ECRecover: invalid signature 's' value", "bad-signature"],
    ["ECRecover: invalid signature", "bad-signature"],
    ["Pausable: paused", "paused"],
    ["Blacklistable: account is blacklisted", "blocked"],
    ["EIP3009: authorization is used", "authorization-used"],
    ["a sentence nobody wrote yet", "unknown"],
  ])("reads the sentence %j", (text, revert) => {
    expect(revertOf(custom("Error", [text]), now)).toBe(revert);
  });

  it.each<[string, bigint, bigint, Revert]>([
    ["before its start", BigInt(now) + 1n, BigInt(now) + 100n, "authorization-not-yet-valid"],
    [
      "in the second of its start, which is still too early",
      BigInt(now),
      BigInt(now) + 100n,
      "authorization-not-yet-valid",
    ],
    ["in the second of its end, which is already too late", 0n, BigInt(now), "authorization-expired"],
  ])("tells early from late %s", (_, validAfter, validBefore, revert) => {
    expect(revertOf(custom("ERC3009InvalidAuthorizationTime", [validAfter, validBefore]), now)).toBe(revert);
  });

  it.each<Hex>([
    "0x",
    "0x08",
    "0x08c379a0",
    "0x4a931c17",
    `0x08c379a0${"f".repeat(128)}`,
    `0x08c379a0${"0".repeat(64)}`,
  ])("says unknown to the broken data %s", (data) => {
    expect(revertOf(data, now)).toBe("unknown");
  });
});
