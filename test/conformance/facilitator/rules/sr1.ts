import {
  type Body,
  inAccepted,
  inAuthorization,
  inBoth,
  inRequirements,
  type SignedField,
  stranger,
} from "../../bad-input/row.ts";
import type { Terms } from "../../signed.ts";
import type { Check, Rule } from "../check.ts";
import { refused, settled } from "../expect.ts";
import { domainOf } from "../payment.ts";

type Word = "scheme" | "network" | "amount" | "asset" | "payTo";

const other: Readonly<Record<Word, string>> = {
  scheme: "upto",
  network: "eip155:1",
  amount: "1",
  asset: stranger,
  payTo: stranger,
};
const words = Object.keys(other) as readonly Word[];

const places = [
  ["requirements", "the requirements", inRequirements],
  ["accepted", "the accepted option", inAccepted],
  ["both", "both options", inBoth],
] as const;

/** Each word of an option changed alone, while the signature stays as it was. */
const options: readonly Check[] = places.flatMap(([place, name, change]) =>
  words.map((word) => ({
    id: `SR1.${place}.${word}`,
    does: `${name}: another ${word} than was signed and offered`,
    ...refused(async (trial) => change({ [word]: other[word] })(await trial.payment())),
  })),
);

const fields: Readonly<Record<SignedField, (was: string) => string>> = {
  from: () => stranger,
  to: () => stranger,
  value: (was) => String(BigInt(was) + 1n),
  validAfter: () => "1",
  validBefore: (was) => String(BigInt(was) + 1n),
  nonce: () => `0x${"5a".repeat(32)}`,
};

/** Each signed field changed behind the signer's back. */
const authorization: readonly Check[] = (Object.keys(fields) as SignedField[]).map((field) => ({
  id: `SR1.authorization.${field}`,
  does: `the authorization: another ${field} than was signed`,
  ...refused(async (trial) => {
    const good = await trial.payment();
    return inAuthorization({ [field]: fields[field](good.paymentPayload.payload.authorization[field]) })(
      good,
    );
  }),
}));

const domain = (name: string, does: string, change: Partial<Terms["domain"]>): Check => ({
  id: `SR1.domain.${name}`,
  does: `signed for ${does}`,
  ...refused((trial) => trial.payment({ domain: { ...domainOf(trial.offer.option), ...change } })),
});

const domains: readonly Check[] = [
  domain("name", "a token of another name", { name: "Evil Coin" }),
  domain("version", "another version of the token", { version: "99" }),
  domain("chain", "another chain", { chainId: 1 }),
  domain("contract", "another contract", { verifyingContract: stranger as never }),
  {
    id: "SR1.domain.extra",
    does: "signed for a domain that `extra` claims in place of the token's own",
    ...refused(async (trial) => {
      const signed = { ...domainOf(trial.offer.option), name: "Evil Coin" };
      const good: Body = await trial.payment({ domain: signed });
      return inBoth({ extra: { ...trial.offer.option.extra, name: "Evil Coin" } })(good);
    }),
  },
];

const amounts: readonly Check[] = [
  ["less", "one unit less than asked", -1n],
  ["more", "one unit more than asked", 1n],
].map(([name, does, by]) => ({
  id: `SR1.value.${name}`,
  does: `signed over ${does}`,
  ...refused((trial) => trial.payment({ value: BigInt(trial.offer.option.amount) + (by as bigint) })),
}));

export const sr1: Rule = {
  id: "SR1",
  says: "what was signed is what was asked for",
  checks: [
    {
      id: "SR1.good",
      does: "a payment without fault, from which the others differ in one thing",
      ...settled((trial) => trial.payment()),
    },
    ...options,
    ...authorization,
    ...domains,
    ...amounts,
    {
      id: "SR1.payee",
      does: "signed to pay somebody else",
      ...refused((trial) => trial.payment({ to: stranger })),
    },
  ],
};
