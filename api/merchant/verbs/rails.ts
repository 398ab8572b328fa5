import type { Facilitator, PayableRail } from "#facilitator";
import { fault } from "../../http/faults.ts";
import type { MerchantRow } from "../present.ts";
import type { NamedRails } from "../schema.ts";

export type Taker = Pick<MerchantRow, "rails" | "suspendedAt">;
type Rails = Pick<Facilitator, "rails" | "refusedRails">;
type KnownRail = PayableRail & { readonly network: string };

/** The rails that were asked for, by slug and each once. Faults, pointing to the one that is meant: `rail_unsupported`
 *  when there is none such or it does not fit, `token_domain_unreadable` for one whose contract did not pass. */
export function readRails<R extends KnownRail>(
  known: { readonly rails: readonly R[]; readonly refused: readonly KnownRail[] },
  asked: NamedRails,
  fits: (rail: R) => boolean = () => true,
): readonly PayableRail[] {
  const read = new Map<string, PayableRail>();
  asked.forEach(({ chain, asset }, i) => {
    const pointer = `/rails/${i}`;
    const isIt = (rail: KnownRail) =>
      (rail.chain === chain || rail.network === chain) && rail.asset === asset;
    const rail = known.rails.find(isIt);
    if (!rail && known.refused.some(isIt)) throw fault("token_domain_unreadable", { chain, asset, pointer });
    if (!rail || !fits(rail)) throw fault("rail_unsupported", { rail: `${asset} on ${chain}`, pointer });
    read.set(`${rail.chain} ${asset}`, { chain: rail.chain, asset });
  });
  return [...read.values()];
}

/** The rails that a merchant asks to take. What it takes already may stay, though it does not work just now. Faults:
 *  those of `readRails`. */
export function chooseTaken(
  facilitator: Rails,
  { rails }: Pick<Taker, "rails">,
  asked: NamedRails,
): readonly PayableRail[] {
  const before = rails.map((rail) => ({ ...rail, network: rail.chain }));
  const known = { rails: [...facilitator.rails(), ...before], refused: facilitator.refusedRails() };
  return readRails(known, asked);
}

/** Those of these rails that the merchant takes: none while it is suspended. */
export function takenRails<R extends PayableRail>(taker: Taker, rails: readonly R[]): readonly R[] {
  const { rails: taken, suspendedAt } = taker;
  if (takesAny(taker)) return rails;
  if (suspendedAt !== null) return [];
  return rails.filter(({ chain, asset }) =>
    taken.some((each) => each.chain === chain && each.asset === asset),
  );
}

/** Whether it takes every rail, also those that come later. */
export function takesAny({ rails, suspendedAt }: Taker): boolean {
  return rails.length === 0 && suspendedAt === null;
}

/** Fault: `merchant_suspended`. */
export function demandActive({ suspendedAt }: Pick<Taker, "suspendedAt">): void {
  if (suspendedAt !== null) throw fault("merchant_suspended");
}

/** The name of no rail: an empty list would mean every one. */
export const NOWHERE: readonly PayableRail[] = [{ chain: "-", asset: "-" }];

/** What something for sale is offered on: the rails that it names itself, within those that its merchant takes; where it
 *  names none, these. */
export function offeredOn(seller: Taker, own: readonly PayableRail[]): readonly PayableRail[] {
  if (seller.suspendedAt !== null) return NOWHERE;
  if (own.length === 0) return seller.rails;
  const left = takenRails(seller, own);
  return left.length > 0 ? left : NOWHERE;
}
