/** Payments of a seed: what was signed, who asked for what, and what they were told. */
import type { PaymentRequest, SettleAnswer, VerifyAnswer } from "#facilitator";
import { type Address, checksum, fromBytes, type Hash, type Hex, hash, toBytes } from "#kernel/bytes";
import { sha256, stableHash } from "#kernel/codec";
import type { Parts } from "../parts/house.ts";
import { domainOf } from "../parts/house.ts";
import { forgedSignature, type Payer, payers, signTerms, type Terms, treasury } from "../parts/keys.ts";

/** What is for sale in a seed. */
export interface Sale {
  readonly id: string;
  readonly amount: bigint;
  readonly once: boolean;
}

export interface Payment {
  readonly name: string;
  readonly payer: Payer;
  readonly sale: Sale;
  readonly terms: Terms;
  readonly signature: Hex;
  readonly key: Hash;
  readonly asked: Asked[];
  /** Of those who may ask again and get the same answer. */
  readonly idempotencyKey: string | null;
  /** What its payer asked when everything had calmed down. */
  lastAsk: Asked | null;
}

/** How a request differs from the one that the payer's own client makes. */
export type Manner = "plain" | "with-id" | "other-id" | "forged" | "other-form" | "other-payable";

export interface Asked {
  readonly manner: Manner;
  readonly sale: Sale;
  readonly requestId: string;
  answer: SettleAnswer | null;
  /** Its process died, or it has no answer yet. */
  isOpen: boolean;
  /** The answer never reached the caller, and the grant was given back; perhaps, where nobody heard how that ended. */
  released: "no" | "perhaps" | "yes";
}

export function signPayment(
  { row, tree, signatures, chance }: Pick<Parts, "row" | "tree" | "signatures" | "chance">,
  sales: readonly Sale[],
  earlier: readonly Payment[],
): Payment {
  const name = `p${earlier.length + 1}`;
  const payer = chance.of(payers);
  const count = 1 + earlier.filter((each) => each.payer === payer).length;
  const sale = chance.of(sales);
  const time = tree.tip.ref.timestamp;
  const terms: Terms = {
    payTo: treasury,
    value: sale.amount,
    validAfter: BigInt(chance.chance(0.1) ? time + 3 : 0),
    validBefore: BigInt(time + chance.of([9, 25, 60, 120, 120, 300])),
    // Payers count from one, each on its own: equal nonces of different payers are no coincidence.
    nonce: chance.chance(0.3) ? hash(`0x${"0".repeat(63)}${count}`) : sha256(`${row.slug} ${name}`),
  };
  const idempotencyKey = chance.chance(0.3) ? `key of ${row.slug} ${name}` : null;
  return signed({ row, signatures }, { name, payer, sale, terms, idempotencyKey });
}

export function signed(
  { row, signatures }: Pick<Parts, "row" | "signatures">,
  what: Pick<Payment, "name" | "payer" | "sale" | "terms" | "idempotencyKey">,
): Payment {
  const domain = domainOf(row);
  const { payer, terms } = what;
  return {
    ...what,
    signature: signTerms(payer, domain, terms, signatures as Map<string, Address>),
    key: keyOf(row.chainId, domain.verifyingContract, payer.address, terms.nonce),
    asked: [],
    lastAsk: null,
  };
}

/** As it is written down (settlement.md §2), not as the engine has it. */
function keyOf(chainId: number, token: Address, payer: Address, nonce: Hash): Hash {
  const chain = toBytes(`0x${chainId.toString(16).padStart(64, "0")}`);
  return sha256("farebox/claim/v1", chain, toBytes(token), toBytes(payer), toBytes(nonce));
}

export function requestFor(
  { row }: Pick<Parts, "row">,
  payment: Payment,
  { manner, sale, requestId }: Pick<Asked, "manner" | "sale" | "requestId">,
): PaymentRequest {
  const { terms, payer, name } = payment;
  const [token] = row.tokens;
  const selection = {
    scheme: "exact",
    network: row.network,
    asset: checksum(token?.contract ?? treasury),
    amount: `${terms.value}`,
    payTo: checksum(treasury),
  };
  const signatures: Partial<Record<Manner, () => Hex>> = {
    forged: () => forgedSignature(`${name} ${requestId}`),
    "other-form": () => compact(payment.signature),
  };
  const payload = {
    signature: signatures[manner]?.() ?? payment.signature,
    authorization: {
      from: checksum(payer.address),
      to: checksum(terms.payTo),
      value: `${terms.value}`,
      validAfter: `${terms.validAfter}`,
      validBefore: `${terms.validBefore}`,
      nonce: terms.nonce,
    },
  };
  return {
    target: { by: "id", id: sale.id },
    selection,
    accepted: null,
    payload,
    payloadHash: () => stableHash(payload),
    paymentIdentifier: null,
    idempotencyKey: idOf(payment, manner),
    requestId,
  };
}

function idOf({ idempotencyKey }: Payment, manner: Manner): string | null {
  if (manner === "other-id") return `another ${idempotencyKey}`;
  return manner === "with-id" ? idempotencyKey : null;
}

/** The same signature in 64 bytes (ERC-2098). */
function compact(signature: Hex): Hex {
  const bytes = toBytes(signature);
  if (bytes.readUInt8(64) === 28) bytes.writeUInt8(bytes.readUInt8(32) | 0x80, 32);
  return fromBytes(bytes.subarray(0, 64));
}

/** A later ask for the same thing, by chance in another manner. */
export function mannerOf({ chance, faults }: Pick<Parts, "chance" | "faults">, payment: Payment): Manner {
  if (faults.strikes("forged-signature", 6)) return "forged";
  if (faults.strikes("other-form", 6)) return "other-form";
  if (faults.strikes("other-payable", 6)) return "other-payable";
  return payment.idempotencyKey && chance.chance(0.7) ? "with-id" : "plain";
}

export type { SettleAnswer, VerifyAnswer };
