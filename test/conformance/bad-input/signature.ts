import type { Hex } from "viem";
import { curveOrder, formsOf } from "../../facilitator/scheme/samples.ts";
import {
  type Fine,
  inAuthorization,
  inPayload,
  type Scene,
  type SignedField,
  type SignedRow,
  stranger,
  withSignature,
} from "./row.ts";

const wrong = { reason: "invalid_exact_evm_signature" } as const;
const unreadable = { reason: "invalid_exact_evm_failed_to_parse_signature" } as const;
const undeployed = { reason: "invalid_exact_evm_payload_undeployed_smart_wallet" } as const;
const forms = (signature: string) => formsOf(signature as Hex);
const word = (value: bigint) => value.toString(16).padStart(64, "0");

/** Each signed field changed alone behind the signer's back, to something that would pass by itself. */
const changes: Readonly<Record<SignedField, (was: string) => string>> = {
  from: () => stranger,
  to: () => stranger,
  value: () => "10001",
  validAfter: () => "1",
  validBefore: (was) => (BigInt(was) + 1n).toString(),
  nonce: () => `0x${"5a".repeat(32)}`,
};
const tampered: readonly SignedRow[] = (Object.keys(changes) as SignedField[]).map((field) => ({
  ...wrong,
  name: `of another ${field}`,
  change: (good) =>
    inAuthorization({ [field]: changes[field](good.paymentPayload.payload.authorization[field]) })(good),
}));

const domainOf = ({ usdc }: Scene, change: object) => ({
  domain: { name: "USD Coin", version: "2", chainId: 31_337, verifyingContract: usdc as never, ...change },
});
const domains: readonly SignedRow[] = [
  { ...wrong, name: "for a token of another name", terms: (scene) => domainOf(scene, { name: "USDC" }) },
  { ...wrong, name: "for another version of the token", terms: (scene) => domainOf(scene, { version: "1" }) },
  { ...wrong, name: "for another chain", terms: (scene) => domainOf(scene, { chainId: 1 }) },
  {
    ...wrong,
    name: "for another contract",
    terms: (scene) => domainOf(scene, { verifyingContract: scene.eurc }),
  },
  {
    ...wrong,
    name: "for the domain that extra claims",
    terms: (scene) => domainOf(scene, { name: "Evil Coin" }),
    change: (good) => {
      const option = { ...good.paymentRequirements, extra: { name: "Evil Coin", version: "2" } };
      return {
        ...good,
        paymentRequirements: option,
        paymentPayload: { ...good.paymentPayload, accepted: option },
      };
    },
  },
];

/** One bit of a byte, counted from the start. */
const flipped = (at: number) => (signature: string) => {
  const bytes = Buffer.from(signature.slice(2), "hex");
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return `0x${bytes.toString("hex")}`;
};

const keys: readonly SignedRow[] = [
  { ...wrong, name: "with a bit of r flipped", change: withSignature(flipped(5)) },
  { ...wrong, name: "with a bit of s flipped", change: withSignature(flipped(40)) },
  {
    ...wrong,
    name: "with the other parity",
    change: withSignature((was) => forms(was).full(28 - forms(was).recovery)),
  },
  { ...wrong, name: "with the upper s", change: withSignature((was) => forms(was).high) },
  {
    ...wrong,
    name: "with the upper s and v 0 or 1",
    change: withSignature((was) =>
      forms(was).high.replace(/..$/, (v) => (Number.parseInt(v, 16) - 27).toString(16).padStart(2, "0")),
    ),
  },
  { ...wrong, name: "of zeros", change: withSignature(() => `0x${"0".repeat(130)}`) },
  {
    ...wrong,
    name: "with r at the order of the curve",
    change: withSignature((was) => `0x${word(curveOrder)}${was.slice(66)}`),
  },
  ...[2, 26, 29, 35, 255].map((v) => ({
    ...wrong,
    name: `with v ${v}`,
    change: withSignature((was) => forms(was).full(v)),
  })),
];

const texts: readonly SignedRow[] = [
  ["empty", ""],
  ["of no bytes", "0x"],
  ["of half a byte", "0xabc"],
  ["of letters that are no hex", `0x${"zz".repeat(65)}`],
  ["with spaces", `0x${" ".repeat(130)}`],
].map(([what, signature]) => ({ ...unreadable, name: `${what}`, change: inPayload({ signature }) }));
const prefixes: readonly SignedRow[] = [
  { ...unreadable, name: "without 0x", change: withSignature((was) => was.slice(2)) },
  { ...unreadable, name: "with 0X", change: withSignature((was) => was.replace("0x", "0X")) },
];
const noTexts: readonly SignedRow[] = [undefined, null, 1, true, [], {}].map((signature) => ({
  reason: "invalid_payload",
  name: `that is ${JSON.stringify(signature) ?? "missing"}`,
  change: inPayload({ signature }),
}));

/** abi.encode(factory, calldata, signature) and the marker: what a wallet sends that is not deployed. */
function counterfactual(signature: string): string {
  const field = (hex: string) =>
    word(BigInt(hex.length / 2)) + hex.padEnd(Math.ceil(hex.length / 64) * 64, "0");
  const call = "deadbeef";
  const head = [stranger.slice(2).toLowerCase().padStart(64, "0"), word(96n), word(160n)].join("");
  return `0x${head}${field(call)}${field(signature.slice(2))}${"6492".repeat(16)}`;
}

const wallets: readonly SignedRow[] = [
  {
    name: "wrapped for a wallet that is not deployed (ERC-6492)",
    reason: "eip6492_factory_not_allowed",
    change: withSignature(counterfactual),
  },
  {
    name: "that is the ERC-6492 marker alone",
    reason: "eip6492_factory_not_allowed",
    change: withSignature(() => `0x${"6492".repeat(16)}`),
  },
  {
    ...undeployed,
    name: "of a wallet that is not there",
    change: withSignature(() => `0x${"ab".repeat(200)}`),
  },
  { ...undeployed, name: "a byte short", change: withSignature((was) => was.slice(0, -4)) },
  { ...undeployed, name: "a byte long", change: withSignature((was) => `${was}00`) },
];

const methods: readonly SignedRow[] = [
  { name: "of Permit2", change: inPayload({ permit2Authorization: { nonce: "1" } }) },
  {
    name: "of Permit2 alone",
    change: (good: Parameters<NonNullable<SignedRow["change"]>>[0]) =>
      inPayload({ authorization: undefined, permit2Authorization: { nonce: "1" } })(good),
  },
  {
    name: "of ERC-7710",
    change: inPayload({ delegationManager: stranger, permissionContext: "0x", delegator: stranger }),
  },
].map((row) => ({ ...row, reason: "unsupported_payload_type" }));

/** Signatures that are none, of somebody else, or of something else. */
export const signatureRows: readonly SignedRow[] = [
  ...tampered,
  ...domains,
  ...keys,
  ...texts,
  ...prefixes,
  ...noTexts,
  ...wallets,
  ...methods,
].map((row) => ({ ...row, name: `signature: ${row.name}` }));

/** The ways in which one signature may be written. */
export const fineForms: readonly Fine[] = [
  { name: "v 27 or 28" },
  { name: "v 0 or 1", change: withSignature((was) => forms(was).bare) },
  { name: "64 bytes (ERC-2098)", change: withSignature((was) => forms(was).compact) },
  { name: "upper-case hex", change: withSignature((was) => `0x${was.slice(2).toUpperCase()}`) },
];
