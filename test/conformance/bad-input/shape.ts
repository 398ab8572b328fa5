import { badTypes, inAccepted, inBoth, inEnvelope, inRequirements, type Row } from "./row.ts";

const payload = { reason: "invalid_payload" } as const;
const version = { reason: "invalid_x402_version" } as const;
const five = ["scheme", "network", "amount", "asset", "payTo"] as const;
/** JSON carries no undefined: the member is left out. */
const gone = undefined;

const outside: readonly Row[] = [
  { ...payload, name: "an array", change: (good) => [good] },
  { ...payload, name: "a number", change: () => "7" },
  { ...payload, name: "a string", change: () => '"pay"' },
  { ...payload, name: "null", change: () => "null" },
  { ...payload, name: "nothing in it", change: () => "{}" },
  { ...payload, name: "without a payload", change: (good) => ({ ...good, paymentPayload: gone }) },
  ...badTypes.slice(2, 5).map(([type, value]) => ({
    ...payload,
    name: `a payload that is ${type}`,
    change: (good: object) => ({ ...good, paymentPayload: value }),
  })),
  {
    ...payload,
    name: "a payload in base64",
    change: (good) => ({
      ...good,
      paymentPayload: Buffer.from(JSON.stringify(good.paymentPayload)).toString("base64"),
    }),
  },
  ...badTypes.slice(2, 5).map(([type, value]) => ({
    ...payload,
    name: `requirements that are ${type}`,
    change: (good: object) => ({ ...good, paymentRequirements: value }),
  })),
  {
    ...payload,
    name: "neither requirements nor an accepted option",
    change: (good) => ({ ...inEnvelope({ accepted: gone })(good), paymentRequirements: gone }),
  },
  { ...payload, name: "an accepted option that is null", change: inEnvelope({ accepted: null }) },
  { ...payload, name: "scheme data missing", change: inEnvelope({ payload: gone }) },
  { ...payload, name: "scheme data that is an array", change: inEnvelope({ payload: [] }) },
];

const versions: readonly Row[] = [
  ...[0, 3, -2, 2.5, "2", null, true].map((said) => ({
    ...version,
    name: `x402Version ${JSON.stringify(said)}`,
    change: (good: Parameters<Row["change"]>[0]) => ({
      ...inEnvelope({ x402Version: said })(good),
      x402Version: said,
    }),
  })),
  { ...version, name: "x402Version missing in the payload", change: inEnvelope({ x402Version: gone }) },
  {
    ...version,
    name: "x402Version 1 around a payload of 2",
    change: (good) => ({ ...good, x402Version: 1 }),
  },
];

const words: readonly Row[] = five.flatMap((word) => [
  { ...payload, name: `requirements without ${word}`, change: inRequirements({ [word]: gone }) },
  { ...payload, name: `an accepted option without ${word}`, change: inAccepted({ [word]: gone }) },
  { ...payload, name: `${word} of 101 characters`, change: inBoth({ [word]: "a".repeat(101) }) },
  ...badTypes.map(([type, value]) => ({
    ...payload,
    name: `${word} that is ${type}`,
    change: inBoth({ [word]: value }),
  })),
]);

const identifiers: readonly Row[] = [
  ["too short", "fifteen_letters"],
  ["too long", "i".repeat(129)],
  ["with a space", "an identifier with spaces"],
  ["that is a number", 1234567890123456],
  ["that is null", null],
].map(([what, id]) => ({
  ...payload,
  name: `a payment identifier ${what}`,
  change: inEnvelope({ extensions: { "payment-identifier": { info: { id } } } }),
}));

/** JSON that is no payment. The engine never sees it. */
export const shapeRows: readonly Row[] = [...outside, ...versions, ...words, ...identifiers].map((row) => ({
  ...row,
  name: `shape: ${row.name}`,
}));
