import type { Facilitator, Payable, PayableRail } from "#facilitator";
import { atParity } from "#kernel/asset";
import { Fault } from "#kernel/fault";
import type { Money } from "#kernel/money";
import type { Tx } from "#store";
import { type Taker, takenRails } from "../../merchant/verbs/rails.ts";
import { checkoutUrl, type IntentRow } from "../present.ts";
import type { AskedRail } from "../tables.ts";
import { atAgentUrl, MAX_TIMEOUT_SECONDS } from "./payable.ts";
import { asPrice, type PricedRail, railsFor } from "./rails.ts";

export type { IntentRow } from "../present.ts";

/** What an agent is offered at a locked rate must hold for as long as it may take to sign and be sent. */
export const TIME_TO_SIGN_MS = MAX_TIMEOUT_SECONDS * 1_000;

/** What agents are asked for at the intent's URL. */
export type Offer = Pick<
  IntentRow,
  "offerAmount" | "offerAsset" | "offerRails" | "offerExpiresAt" | "offerRateId"
>;
export const noOffer: Offer = {
  offerAmount: null,
  offerAsset: null,
  offerRails: null,
  offerExpiresAt: null,
  offerRateId: null,
};

/** The rails that an intent may name: those that its merchant takes and that meet what it asks for. One that does not work
 *  just now is among them, after the others: what is named stays for the intent's life, and only what works is offered. */
export function nameableRails(
  facilitator: Pick<Facilitator, "rails" | "refusedRails">,
  payee: Taker,
  { asked, currency }: Pick<IntentRow, "asked" | "currency">,
): readonly PayableRail[] {
  const known = [...facilitator.rails(), ...facilitator.refusedRails()];
  try {
    return railsFor(takenRails(payee, known), asked, currency);
  } catch (error) {
    if (error instanceof Fault && error.code === "rail_unsupported") return [];
    throw error;
  }
}

/** Whether agents are offered an intent on any of these rails: not where it names none of them, as one whose rails its
 *  merchant takes no more. */
export function isOfferedOn(
  { offerRails }: Pick<IntentRow, "offerRails">,
  rails: readonly PayableRail[],
): boolean {
  if (offerRails === null) return false;
  if (offerRails.length === 0) return true;
  return rails.some((rail) =>
    offerRails.some((each) => each.chain === rail.chain && each.asset === rail.asset),
  );
}

/** The price one to one, on the rails at parity that were asked for; null where there is none. Where no rail is named and
 *  the merchant takes any, it is every one at parity, also those that come later. */
export function offerAtParity(
  money: Money,
  rails: readonly PayableRail[],
  { isAnyTaken, ...asked }: AskedRail & { readonly isAnyTaken: boolean },
): Offer | null {
  const price = asPrice(money);
  const fitting = rails.filter(({ asset }) => atParity(money.asset, asset));
  if (!price || fitting.length === 0) return null;
  const isAny =
    isAnyTaken && [asked.asset, asked.chain, asked.settlementAsset].every((word) => word === undefined);
  return { ...noOffer, ...priced(price), offerRails: isAny ? [] : fitting.map(railName) };
}

/** The price at a locked rate, in the token that it leads to and for as long as it holds: what moves is offered as a
 *  stored quote only. None where no rail has that token: an empty list would be every one. Source: DESIGN 4.7. */
export function offerAtRate(
  { due }: Pick<PricedRail, "due">,
  rails: readonly PayableRail[],
  lock: { readonly rateId: `rate_${string}`; readonly until: Date },
): Offer {
  const fitting = rails.filter(({ asset }) => asset === due.asset);
  if (fitting.length === 0) return noOffer;
  return {
    ...priced(due),
    offerRails: fitting.map(railName),
    offerExpiresAt: lock.until,
    offerRateId: lock.rateId,
  };
}

function priced({ amount, asset }: Money): Pick<Offer, "offerAmount" | "offerAsset"> {
  return { offerAmount: amount, offerAsset: asset };
}

export function railName({ chain, asset }: PayableRail): PayableRail {
  return { chain, asset };
}

/** Why nobody may pay it any more, and since when. */
export interface Closing {
  readonly as: "paid" | "pending" | "failed" | "expired" | "cancelled";
  readonly at: Date;
}

interface Publishing {
  readonly facilitator: Pick<Facilitator, "project">;
  readonly baseUrl: string;
}

/** Tells the facilitator what can be paid, in the transaction that made it so. Nothing is told of an intent that agents
 *  were never offered. */
export async function publishIntent(
  { facilitator, baseUrl }: Publishing,
  tx: Tx,
  row: IntentRow,
  closing: Closing | null,
): Promise<void> {
  const { offerAmount, offerAsset, offerRails } = row;
  if (offerAmount === null || offerAsset === null || offerRails === null) return;
  const payable: Payable = {
    ...atAgentUrl(baseUrl, row),
    kind: "payment-intent",
    title: row.merchantReference,
    description: `A payment to ${row.merchantName}`,
    price: { amount: offerAmount, asset: offerAsset },
    rails: offerRails,
    feeBps: row.feeBps,
    once: true,
    heldAs: row.heldAs,
    listed: false,
    closedAt: closing?.at ?? null,
    closedAs: closing?.as ?? null,
    expiresAt: earlier(row.expiresAt, row.offerExpiresAt),
    number: row.merchantReference,
    pageUrl: checkoutUrl(baseUrl, row),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
  await facilitator.project(tx, payable);
}

function earlier(a: Date, b: Date | null): Date {
  return b !== null && b < a ? b : a;
}
