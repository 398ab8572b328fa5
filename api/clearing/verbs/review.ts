import { type Address, checksum, parseAddress } from "#kernel/bytes";
import type { Tx } from "#store";
import type { Call } from "../../http/context.ts";
import { fault } from "../../http/faults.ts";
import { acceptStrays } from "../accept.ts";
import { demandNoneUnderWay, followAgent, waitsForOperator } from "../agent.ts";
import { heldOf } from "../book.ts";
import type { ClearingDesk } from "../desk.ts";
import { feeOf, lyingOf } from "../money.ts";
import { liveOrder, resignOrder, windowEnd } from "../orders.ts";
import { loadPurse } from "../purse.ts";
import { isUnderWay } from "../rails/x402.ts";
import { decideReturns, type NewReturn } from "../returns.ts";
import type { PaymentPosition, ReviewInput } from "../schema.ts";
import { isBusy } from "../state.ts";
import { type Held, transition } from "../timeline.ts";
import { countMoney, finish, type Outside, type Work } from "../turn.ts";
import { lockPayment, positionOf } from "./payment.ts";
import { checkRecipient } from "./recipient.ts";

/** The merchant decides about money that nobody else can judge: accept it as the payment, return it, or give the payer
 *  more time. Faults: `not_found`, `review_not_required`, `review_by_operator`, `agent_payment_under_way`,
 *  `funds_not_received`, `funds_not_final`, `destination_required`, `validation_failed`, `recipient_is_ours`. Source: merchant-api.md §1.4. */
export async function review(
  desk: ClearingDesk,
  { ctx, input, outside }: Call<ReviewInput & { readonly id: string }> & { readonly outside: Outside },
): Promise<PaymentPosition> {
  ctx.demand("payments:write");
  return ctx.tx(async (tx) => {
    const { intent, clearing } = await lockPayment(tx, ctx.merchantId, input.id);
    if (clearing?.provider !== "evm") throw fault("review_not_required");
    const purse = await loadPurse(tx, clearing);
    const held = await followAgent(tx, desk, { intent, clearing }, { ...purse, ...outside });
    const work = await countMoney(tx, desk, held, purse);
    const decided = await actions[input.action](tx, desk, work, { ...input, ...outside });
    const after = await finish(tx, desk, seenAsDecided(decided), purse, outside);
    return positionOf(desk, tx, { ...after, payments: outside.payments });
  });
}

/** Whatever came until now has been decided about. */
function seenAsDecided(work: Work): Work {
  return {
    ...work,
    seen: work.seen.map((each) => ({ ...each, row: { ...each.row, isDecided: each.row.isBooked } })),
  };
}

type Asked = ReviewInput & Pick<Outside, "payments">;
type Action = (tx: Tx, desk: ClearingDesk, work: Work, asked: Asked) => Promise<Work>;
const actions: Readonly<Record<ReviewInput["action"], Action>> = { accept, return: giveBack, extend };

/** What lies in the clearing is the payment, be it less; where nothing lies there, what came astray. */
async function accept(tx: Tx, desk: ClearingDesk, work: Work, { payments }: Asked): Promise<Work> {
  const { clearing } = work.held;
  demandReview(work.held);
  demandNoneUnderWay(payments);
  const steps = [{ trigger: "accept" as const, cause: "the merchant accepted what came" }];
  const amount = heldOf(
    clearing,
    work.seen.map(({ row }) => row),
    work.returns,
  );
  if (amount === 0n) {
    const strays = await acceptStrays(tx, work);
    const held = await transition(tx, desk, work.held, steps, strays.change);
    return { ...work, seen: strays.seen, orders: strays.orders, held };
  }
  const change = { sourceAmount: amount, settlementAmount: amount, fee: feeOf(amount, clearing.feeBps) };
  return { ...work, held: await transition(tx, desk, work.held, steps, { clearing: change }) };
}

/** The same terms, signed for a new window. */
async function extend(tx: Tx, desk: ClearingDesk, work: Work): Promise<Work> {
  const { clearing, intent } = work.held;
  demandReview(work.held);
  const order = liveOrder(work.orders, clearing);
  if (!order) throw fault("review_not_required");
  const until = windowEnd({ ...intent, expiresInSeconds: null }, { source: clearing.rateSource }, desk.now());
  const { expiresAt } = await resignOrder(tx, desk, order, until);
  const steps = [{ trigger: "extend" as const, cause: "the merchant gave the payer more time" }];
  const held = await transition(tx, desk, work.held, steps, {
    clearing: { expiresAt },
    intent: { expiresAt },
  });
  return { ...work, held };
}

function demandReview({ clearing }: Held): void {
  if (waitsForOperator(clearing))
    throw fault("review_by_operator", { payment: clearing.providerReference ?? "" });
  if (clearing.state !== "in-review") throw fault("review_not_required");
}

/** All that lies here goes back; of a payment that is over, what was never part of it. */
async function giveBack(tx: Tx, desk: ClearingDesk, work: Work, asked: Asked): Promise<Work> {
  const { clearing } = work.held;
  const wanted = leftOf(work, asked);
  if (wanted.length === 0) {
    demandReview(work.held);
    throw fault("funds_not_received");
  }
  for (const { deposit, destination } of wanted)
    await checkRecipient(desk, tx, {
      chain: deposit.chain,
      recipient: destination,
      pointer: "/destination",
    });
  const failure = { code: "review_returned" as const, reason: "The merchant returned what had come." };
  const cause = "the merchant returned what came";
  // An agent's payment that may still be charged must not be hidden behind an end.
  const isEnd =
    clearing.state === "in-review" && !waitsForOperator(clearing) && !asked.payments.some(isUnderWay);
  const step = isEnd ? { trigger: "return" as const, cause, failure } : { trigger: null, cause };
  const held = await transition(tx, desk, work.held, [step]);
  const returns = [...work.returns, ...(await decideReturns(tx, desk, wanted))];
  return { ...work, held, returns };
}

/** What may go back, deposit by deposit and place by place. A settled payment's own money is refunded, not returned. */
function leftOf({ held, seen, returns, orders }: Work, input: ReviewInput): readonly NewReturn[] {
  const { clearing, intent } = held;
  const isSpent = clearing.state === "settled" && clearing.executionPath !== "x402";
  return seen.flatMap(({ row }) => {
    const lying = lyingOf(row, returns);
    const isOwn = orders.some(({ id, path }) => id === row.orderId && path === "on-chain-contract");
    const isProven = isOwn || (intent.payerDeclared && intent.payerAddress === row.sender);
    const sources = isBusy(clearing.state)
      ? ([] as const)
      : (["clearing", "overpayment", "unmatched"] as const);
    return sources
      .filter((source) => lying[source] > 0n && !(source === "clearing" && isSpent))
      .map((source) => ({
        ...{ deposit: row, source, amount: lying[source], note: input.note },
        destination: destinationOf(input, row.sender, isProven),
      }));
  });
}

/** Where it came from is safe only if the payer is known to own that address: exchanges pay from addresses of theirs. */
function destinationOf({ destination }: ReviewInput, sender: Address, isProven: boolean): Address {
  const given = parseAddress(destination);
  if (given) return given;
  if (!isProven) throw fault("destination_required", { sender: checksum(sender), pointer: "/destination" });
  return sender;
}
