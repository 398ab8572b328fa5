import { badNumbers, inAccepted, inBoth, inRequirements, type SignedRow, stranger } from "./row.ts";

const none = { reason: "invalid_payment_requirements" } as const;

const schemes: readonly SignedRow[] = ["upto", "batch-settlement", "EXACT", "exact ", "", "__proto__"].map(
  (scheme) => ({
    reason: "unsupported_scheme",
    name: `scheme ${JSON.stringify(scheme)}`,
    change: inBoth({ scheme }),
  }),
);

const networks: readonly SignedRow[] = [
  "eip155:1",
  "eip155:31338",
  "eip155:031337",
  "EIP155:31337",
  "eip155:31337 ",
  "eip155:*",
  "31337",
  "local",
  "base-sepolia",
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  "",
].map((network) => ({
  reason: "invalid_network",
  name: `network ${JSON.stringify(network)}`,
  change: inBoth({ network }),
}));

/** A wrong checksum: one letter in the other case. */
export function miswritten(address: string): string {
  return address.replace(/[a-fA-F](?=[^a-fA-F]*$)/, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

const addresses = (word: "asset" | "payTo"): readonly SignedRow[] => [
  { ...none, name: `${word} of a stranger`, change: inBoth({ [word]: stranger }) },
  { ...none, name: `${word} zero`, change: inBoth({ [word]: `0x${"0".repeat(40)}` }) },
  { ...none, name: `${word} that is no address`, change: inBoth({ [word]: "usdc.eth" }) },
  { ...none, name: `${word} empty`, change: inBoth({ [word]: "" }) },
  {
    ...none,
    name: `${word} with a wrong checksum`,
    change: (good) => inBoth({ [word]: miswritten(good.paymentRequirements[word]) })(good),
  },
  {
    ...none,
    name: `${word} without 0x`,
    change: (good) => inBoth({ [word]: good.paymentRequirements[word].slice(2) })(good),
  },
];

const amounts: readonly SignedRow[] = [
  ...["0", "1", "9999", "10001", ((1n << 128n) + 10_000n).toString()].map((amount) => ({
    ...none,
    name: `amount ${amount}`,
    change: inBoth({ amount }),
  })),
  ...badNumbers.map(([what, amount]) => ({ ...none, name: `amount ${what}`, change: inBoth({ amount }) })),
  {
    ...none,
    name: "a smaller amount, signed as well",
    terms: () => ({ value: 1n }),
    change: inBoth({ amount: "1" }),
  },
];

const otherToken: readonly SignedRow[] = [
  {
    ...none,
    name: "a token we know that the price is not in",
    terms: ({ eurc }) => ({
      domain: {
        name: "EURC",
        version: "2",
        chainId: 31_337,
        verifyingContract: eurc as `0x${string}` as never,
      },
    }),
    change: (good, { eurc }) => inBoth({ asset: eurc })(good),
  },
];

/** Each of the five words, changed in one of the two options alone. */
const disagreements: readonly SignedRow[] = (
  [
    ["scheme", "upto", "unsupported_scheme", "invalid_exact_evm_scheme"],
    ["network", "eip155:1", "invalid_network", "invalid_exact_evm_network_mismatch"],
    ["amount", "1", none.reason, none.reason],
    ["asset", stranger, none.reason, none.reason],
    ["payTo", stranger, none.reason, none.reason],
  ] as const
).flatMap(([word, value, inSelection, inEcho]) => [
  {
    name: `requirements with another ${word} than accepted`,
    reason: inSelection,
    change: inRequirements({ [word]: value }),
  },
  {
    name: `accepted with another ${word} than the requirements`,
    reason: inEcho,
    change: inAccepted({ [word]: value }),
  },
]);

/** Payments for an option that is not ours, or for two at once. */
export const optionRows: readonly SignedRow[] = [
  ...schemes,
  ...networks,
  ...addresses("asset"),
  ...addresses("payTo"),
  ...amounts,
  ...otherToken,
  ...disagreements,
].map((row) => ({ ...row, name: `option: ${row.name}` }));
