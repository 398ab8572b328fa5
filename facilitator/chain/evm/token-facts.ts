import { type AbiParameter, decodeAbiParameters, domainSeparator } from "viem";
import { type Address, address, type Hex, parseAddress } from "#kernel/bytes";
import { sha256 } from "#kernel/codec";
import type { TokenDomain, TokenFacts } from "../port.ts";
import { addressInWord, hash32, hexData } from "./answer.ts";
import { uint, view, viewFailure } from "./call.ts";
import { addressWord, word } from "./multicall.ts";
import type { Room } from "./room.ts";
import { readAlike } from "./witnesses.ts";

const SYMBOL = "0x95d89b41";
const DECIMALS = "0x313ce567";
const NAME = "0x06fdde03";
const VERSION = "0x54fd4d50";
const DOMAIN_SEPARATOR = "0x3644e515";
const EIP712_DOMAIN = "0x84b0196e";
const AUTHORIZATION_STATE = "0xe94a0102";
/** transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes) */
const BYTES_OVERLOAD = "cf092995";
/** A function that no token has. */
const NO_FUNCTION = "00c0ffee";
const PUSH4 = "63";

/** Where proxies keep their implementation: ERC-1967, and Circle's older proxy. */
const IMPLEMENTATION_SLOTS = [
  "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc",
  "0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3",
] as const;
/** ERC-5267: name, version, chain and contract, and nothing else. */
const PLAIN_DOMAIN = "0x0f";
/** What a token without `version()` may have put into its separator; the separator tells which. */
const USUAL_VERSIONS = ["1", "2"];
/** An account that never signed anything. */
const SOMEBODY = address(`0x${"11".repeat(20)}`);

/** What the contract says of itself, each fact null or false where it does not say; as two endpoints tell it alike. */
export function tokenFacts(room: Room, token: Address): Promise<TokenFacts> {
  return readAlike(room, `the token ${token}`, (alone) => readFacts(alone, token));
}

async function readFacts(room: Room, token: Address): Promise<TokenFacts> {
  const codes = await codesOf(room, token);
  const [symbol, decimals, state, hasBytesOverload, domain] = await Promise.all([
    textOf(room, token, SYMBOL),
    view(room, { to: token, data: DECIMALS }).then(numberOrNull),
    view(room, { to: token, data: `${AUTHORIZATION_STATE}${addressWord(SOMEBODY)}${word(1)}` }).then(
      numberOrNull,
    ),
    knowsBytesOverload(room, token, codes),
    provedDomain(room, token),
  ]);
  return {
    hasCode: codes[0] !== "0x",
    codeHash: sha256("farebox/token-code/v1", codes.join(" ")),
    symbol,
    decimals: decimals === null ? null : Number(decimals),
    knowsAuthorizations: state === 0n,
    hasBytesOverload,
    domain,
  };
}

export function codeOf({ rpc }: Room, account: Address): Promise<Hex> {
  return rpc.request({ method: "eth_getCode", params: [account, "latest"], parse: hexData });
}

/** The EIP-712 domain, if the contract proves it: told by ERC-5267, or rebuilt and equal to its separator. Where both
 *  exist they must agree. Source: x402.md §11. */
async function provedDomain(room: Room, token: Address): Promise<TokenDomain | null> {
  const [told, separator, name, version] = await Promise.all([
    view(room, { to: token, data: EIP712_DOMAIN }),
    view(room, { to: token, data: DOMAIN_SEPARATOR }),
    textOf(room, token, NAME),
    textOf(room, token, VERSION),
  ]);
  const fixed = { chainId: room.row.chainId, verifyingContract: token };
  const toldDomain = told && domainOf(told, fixed);
  if (told && !toldDomain) return null;
  const versions = version === null ? USUAL_VERSIONS : [version];
  const rebuilt = name === null ? [] : versions.map((text) => ({ name, version: text, ...fixed }));
  const candidates = toldDomain ? [toldDomain] : rebuilt;
  if (separator === null) return toldDomain;
  return candidates.find((domain) => domainSeparator({ domain }) === separator) ?? null;
}

/** Null when the contract tells of another chain or contract, or of fields that we do not sign with. */
function domainOf(data: Hex, fixed: Pick<TokenDomain, "chainId" | "verifyingContract">): TokenDomain | null {
  const types = ["bytes1", "string", "string", "uint256", "address", "bytes32", "uint256[]"];
  const values = decoded(types, data);
  if (!values) return null;
  const [fields, name, version, chainId, contract, , extensions] = values;
  const isPlain = fields === PLAIN_DOMAIN && Array.isArray(extensions) && extensions.length === 0;
  const isHere = chainId === BigInt(fixed.chainId) && parseAddress(contract) === fixed.verifyingContract;
  const isNamed = typeof name === "string" && typeof version === "string";
  return isPlain && isHere && isNamed ? { name, version, ...fixed } : null;
}

/** Whether contract wallets can pay: the `bytes` overload fails in its own way on junk, other than a function that is
 *  not there; where both fail without a word, its selector must stand in the code. */
async function knowsBytesOverload(room: Room, token: Address, codes: readonly Hex[]): Promise<boolean> {
  const junk = `${addressWord(SOMEBODY).repeat(2)}${word(1)}${word(0).repeat(2)}${word(1)}${word(224)}${word(0)}`;
  const [own, missing] = await Promise.all([
    viewFailure(room, { to: token, data: `0x${BYTES_OVERLOAD}${junk}` }),
    viewFailure(room, { to: token, data: `0x${NO_FUNCTION}${junk}` }),
  ]);
  if (own !== null && own !== "0x") return own !== missing;
  return codes.some((code) => code.includes(PUSH4 + BYTES_OVERLOAD));
}

/** That of the contract, then that of what it stands in front of. */
async function codesOf(room: Room, token: Address): Promise<readonly Hex[]> {
  const behind = await implementations(room, token);
  return Promise.all([token, ...behind].map((at) => codeOf(room, at)));
}

async function implementations({ rpc }: Room, token: Address): Promise<readonly Address[]> {
  const words = await Promise.all(
    IMPLEMENTATION_SLOTS.map((slot) =>
      rpc.request({ method: "eth_getStorageAt", params: [token, slot, "latest"], parse: hash32 }),
    ),
  );
  return words.filter((held) => BigInt(held) > 0n && BigInt(held) >> 160n === 0n).map(addressInWord);
}

/** A string, or the zero-padded 32 bytes that some old tokens answer. */
async function textOf(room: Room, token: Address, selector: Hex): Promise<string | null> {
  const data = await view(room, { to: token, data: selector });
  if (data === null) return null;
  if (data.length === 66) return Buffer.from(data.slice(2), "hex").toString("utf8").replace(/\0+$/, "");
  const [text] = decoded(["string"], data) ?? [];
  return typeof text === "string" ? text : null;
}

function numberOrNull(data: Hex | null): bigint | null {
  return data?.length === 66 ? uint(data) : null;
}

function decoded(types: readonly string[], data: Hex): readonly unknown[] | null {
  const parameters: readonly AbiParameter[] = types.map((type) => ({ type }));
  try {
    return decodeAbiParameters(parameters, data);
  } catch {
    return null; // not what a token of this standard answers: the fact stays unproved
  }
}
