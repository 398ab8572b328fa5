/** One facilitator on one chain, and what a check may do with both. */
import type { Address } from "#kernel/bytes";
import type { Body } from "../bad-input/row.ts";
import type { Terms } from "../signed.ts";
import type { ControlledChain } from "./chain.ts";
import type { Answer, FacilitatorClient } from "./client.ts";
import type { LyingNode } from "./lying-node.ts";
import { newPayer, type Offer, type Payer, paymentFor } from "./payment.ts";
import { proofOf } from "./proof.ts";
import type { Props } from "./props.ts";

export interface Trial {
  readonly chain: ControlledChain;
  readonly client: FacilitatorClient;
  readonly offer: Offer;
  /** Addresses that pay the facilitator's gas. */
  readonly signers: readonly string[];
  /** Has more money than all checks together spend. */
  readonly rich: Payer;
  /** Owner of the token, who may pause and block; null where there is none. */
  readonly tokenOwner: Address | null;
  /** Contracts that misbehave. */
  readonly props: Props;
  /** The facilitator's own way to the chain; null where it is out of the runner's hands. */
  readonly node: LyingNode | null;
  /** Whether the chain's clock may be moved for good. */
  readonly canMoveClock: boolean;
  /** The chain's head when the trial began. */
  readonly beganAt: number;
  /** A fresh account with so much money. */
  payer(amount: bigint): Promise<Payer>;
  /** A payment without fault, unless `terms` bring one. */
  payment(terms?: Partial<Terms>, payer?: Payer, offer?: Offer): Promise<Body>;
}

export interface TrialParts extends Omit<Trial, "payer" | "payment" | "beganAt"> {
  /** Gives payers their money; needed where nobody can mint. */
  readonly funder: Address | null;
}

export async function openTrial(parts: TrialParts): Promise<Trial> {
  const { chain, offer, tokenOwner, funder, rich } = parts;
  const give = (to: Address, amount: bigint) => {
    if (funder) return chain.transfer(funder, offer.option.asset, to, amount);
    if (tokenOwner) return chain.mint(tokenOwner, offer.option.asset, to, amount);
    throw new Error("nobody can give payers money: name one who holds the token with --payer");
  };
  await give(rich.address, BigInt(offer.option.amount) * 1_000n);
  return {
    ...parts,
    beganAt: await chain.head(),
    async payer(amount) {
      const payer = newPayer();
      if (amount > 0n) await give(payer.address, amount);
      return payer;
    },
    async payment(terms = {}, payer = rich, what = offer) {
      const validBefore = (await chain.time()) + 300n;
      return paymentFor(what, payer, { validBefore, ...terms });
    },
  };
}

export interface Watched<T> {
  readonly result: T;
  /** Transactions that the facilitator's accounts sent meanwhile. */
  readonly sent: number;
}

/** Does it and counts what the facilitator sends. */
export async function watching<T>(trial: Trial, act: () => Promise<T>): Promise<Watched<T>> {
  const before = await trial.chain.sentBy(trial.signers);
  const result = await act();
  return { result, sent: (await trial.chain.sentBy(trial.signers)) - before };
}

/** Null, or what is wrong with a success: the chain does not show the payment where the answer says it is. */
export async function falseSuccess(trial: Trial, body: Body, answer: Answer): Promise<string | null> {
  if (answer.body?.success !== true) return null;
  const missing = await proofOf(trial.chain, body, String(answer.body.transaction ?? ""));
  return missing === null ? null : `settle: success, but ${missing}`;
}
