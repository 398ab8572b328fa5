import { miswritten } from "./option.ts";
import {
  badNumbers,
  badTypes,
  type Fine,
  inAuthorization,
  inPayload,
  type SignedField,
  type SignedRow,
  stranger,
} from "./row.ts";

const payload = { reason: "invalid_payload" } as const;
const gone = undefined;
const fields: readonly SignedField[] = ["from", "to", "value", "validAfter", "validBefore", "nonce"];

const shapes: readonly SignedRow[] = [
  { ...payload, name: "missing", change: inPayload({ authorization: gone }) },
  { ...payload, name: "that is null", change: inPayload({ authorization: null }) },
  { ...payload, name: "that is an array", change: inPayload({ authorization: [] }) },
  ...fields.flatMap((field) => [
    { ...payload, name: `without ${field}`, change: inAuthorization({ [field]: gone }) },
    ...badTypes.map(([type, value]) => ({
      ...payload,
      name: `whose ${field} is ${type}`,
      change: inAuthorization({ [field]: value }),
    })),
  ]),
];

const numbers: readonly SignedRow[] = (["value", "validAfter", "validBefore"] as const).flatMap((field) =>
  badNumbers.map(([what, value]) => ({
    ...payload,
    name: `whose ${field} is ${what}`,
    change: inAuthorization({ [field]: value }),
  })),
);

const bytes: readonly SignedRow[] = [
  ...(["from", "to"] as const).flatMap((field): readonly SignedRow[] => [
    {
      ...payload,
      name: `whose ${field} has 19 bytes`,
      change: inAuthorization({ [field]: stranger.slice(0, -2) }),
    },
    {
      ...payload,
      name: `whose ${field} has 21 bytes`,
      change: inAuthorization({ [field]: `${stranger}00` }),
    },
    {
      ...payload,
      name: `whose ${field} begins with 0X`,
      change: inAuthorization({ [field]: stranger.replace("0x", "0X") }),
    },
    { ...payload, name: `whose ${field} is a name`, change: inAuthorization({ [field]: "payer.eth" }) },
    {
      ...payload,
      name: `whose ${field} has a wrong checksum`,
      change: (good) =>
        inAuthorization({ [field]: miswritten(good.paymentPayload.payload.authorization[field]) })(good),
    },
  ]),
  ...[
    "0x",
    `0x${"a".repeat(63)}`,
    `0x${"a".repeat(62)}`,
    `0x${"a".repeat(66)}`,
    "a".repeat(64),
    `0x${"g".repeat(64)}`,
  ].map((nonce) => ({
    ...payload,
    name: `whose nonce is ${nonce.slice(0, 8)}… (${nonce.length})`,
    change: inAuthorization({ nonce }),
  })),
  {
    ...payload,
    name: "that would expire after the year 9999",
    change: inAuthorization({ validBefore: "253402300800" }),
  },
];

const value = { reason: "invalid_exact_evm_payload_authorization_value_mismatch" } as const;
const values: readonly SignedRow[] = [0n, 1n, 9_999n, 10_001n, (1n << 128n) - 1n].map((amount) => ({
  ...value,
  name: `over ${amount}`,
  terms: () => ({ value: amount }),
}));

const recipient = { reason: "invalid_exact_evm_recipient_mismatch" } as const;
const recipients: readonly SignedRow[] = [
  { ...recipient, name: "that pays a stranger", terms: () => ({ to: stranger }) },
  { ...recipient, name: "that pays the token", terms: ({ usdc }) => ({ to: usdc }) },
  { ...recipient, name: "that pays the payer", terms: ({ payer }) => ({ to: payer.address }) },
  { ...recipient, name: "that pays nobody", terms: () => ({ to: `0x${"0".repeat(40)}` }) },
];

/** Six seconds of the reference's margin and two of the local chain's inclusion. */
const FLOOR = 8n;
const before = { reason: "invalid_exact_evm_payload_authorization_valid_before" } as const;
const after = { reason: "invalid_exact_evm_payload_authorization_valid_after" } as const;
const times: readonly SignedRow[] = [
  { ...before, name: "that never was valid", terms: () => ({ validBefore: 0n }) },
  {
    ...before,
    name: "that expired a second ago",
    terms: ({ chainTime }) => ({ validBefore: chainTime - 1n }),
  },
  { ...before, name: "that expires now", terms: ({ chainTime }) => ({ validBefore: chainTime }) },
  {
    ...before,
    name: "a second short of what settling takes",
    terms: ({ chainTime }) => ({ validBefore: chainTime + FLOOR - 1n }),
  },
  {
    ...after,
    name: "that begins at the chain's very time",
    terms: ({ chainTime }) => ({ validAfter: chainTime }),
  },
  { ...after, name: "that begins in a minute", terms: ({ chainTime }) => ({ validAfter: chainTime + 60n }) },
  {
    ...after,
    name: "that begins after it ends",
    terms: ({ chainTime }) => ({ validAfter: chainTime + 600n, validBefore: chainTime + 300n }),
  },
];

/** Authorizations that are rightly signed, or would be, and pay something else than what is asked for. */
export const authorizationRows: readonly SignedRow[] = [
  ...shapes,
  ...numbers,
  ...bytes,
  ...values,
  ...recipients,
  ...times,
].map((row) => ({ ...row, name: `authorization: ${row.name}` }));

/** The bounds from the other side: these are good. */
export const fineTimes: readonly Fine[] = [
  {
    name: "valid just as long as settling takes",

    terms: ({ chainTime }) => ({ validBefore: chainTime + FLOOR }),
  },
  { name: "valid since a second", terms: ({ chainTime }) => ({ validAfter: chainTime - 1n }) },
];
