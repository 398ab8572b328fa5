import type { Context } from "hono";
import { PaymentPath, ReviewInput } from "../../clearing/schema.ts";
import { agentsOf, cancel } from "../../clearing/verbs/cancel.ts";
import { findPayment } from "../../clearing/verbs/payment.ts";
import { outsideOf, retry } from "../../clearing/verbs/retry.ts";
import { review } from "../../clearing/verbs/review.ts";
import { RefundDestination, RefundInput, RefundPath } from "../../refund/schema.ts";
import { cancelRefund, giveDestination } from "../../refund/verbs/change.ts";
import { createRefund } from "../../refund/verbs/create.ts";
import { payerOf } from "../../refund/verbs/payer.ts";
import { type Fields, fieldOf, parseFields, parseQuery } from "../form.ts";
import type { Room, Show } from "../room.tsx";
import type { Desk } from "../section.ts";

export type PaymentsDesk = Pick<Desk, "clearing" | "refunds" | "documents">;

/** What the forms on a payment's page do. */
export function furnishActs(room: Room, desk: PaymentsDesk, again: Show): void {
  refunding(room, desk, again);
  directing(room, desk, again);
  takingBack(room, desk, again);
  reviewing(room, desk, again);
  retrying(room, desk, again);
  cancelling(room, desk, again);
}

const PATH = "/dashboard/payments/:id";
const pathOf = (c: Context) => parseQuery(PaymentPath, { id: c.req.param("id") });
const backTo = (id: string, notice: string) => `/dashboard/payments/${id}?notice=${notice}`;

function refunding(room: Room, { refunds }: PaymentsDesk, again: Show): void {
  room.action({
    path: `${PATH}/refunds`,
    read: (c, fields) => ({ ...pathOf(c), ...parseFields(RefundInput, wholeUnlessSaid(fields)) }),
    async beforehand({ db, merchantId }, { id, destination }) {
      const payment = await findPayment(db.pool, merchantId, id);
      const payer = destination === undefined ? await payerOf(refunds, db.pool, payment) : null;
      return { intentId: payment.intent.id, payer };
    },
    async act(ctx, { id, ...input }, found, write) {
      const { refund } = await createRefund(refunds, { ctx, input: { ...input, ...found, write } });
      return backTo(id, refund.state === "requires-destination" ? "undirected" : "refunded");
    },
    again,
  });
}

const REFUND = `${PATH}/refunds/:refund`;
const refundOf = (c: Context) => parseQuery(RefundPath, { id: c.req.param("refund") });

function directing(room: Room, { refunds }: PaymentsDesk, again: Show): void {
  room.action({
    path: `${REFUND}/destination`,
    read: (c, fields) => ({
      ...pathOf(c),
      refund: { ...refundOf(c), ...parseFields(RefundDestination, fields) },
    }),
    async act(ctx, { id, refund }) {
      await giveDestination(refunds, { ctx, input: refund });
      return backTo(id, "directed");
    },
    again,
  });
}

function takingBack(room: Room, { refunds }: PaymentsDesk, again: Show): void {
  room.action({
    path: `${REFUND}/cancel`,
    read: (c) => ({ ...pathOf(c), refund: refundOf(c) }),
    async act(ctx, { id, refund }) {
      await cancelRefund(refunds, { ctx, input: refund });
      return backTo(id, "taken-back");
    },
    again,
  });
}

/** Without an amount its unit says nothing. */
function wholeUnlessSaid(fields: Fields): Fields {
  if (fieldOf(fields, "amount.amount") !== undefined) return fields;
  return fields.filter(([name]) => name !== "amount.asset");
}

const decided: Readonly<Record<ReviewInput["action"], string>> = {
  accept: "accepted",
  return: "returned",
  extend: "extended",
};

function reviewing(room: Room, { clearing }: PaymentsDesk, again: Show): void {
  room.action({
    path: `${PATH}/review`,
    read: (c, fields) => ({ ...pathOf(c), ...parseFields(ReviewInput, fields) }),
    beforehand: (ctx, input) => outsideOf(clearing, { ctx, input }),
    async act(ctx, input, outside) {
      await review(clearing, { ctx, input, outside });
      return backTo(input.id, decided[input.action]);
    },
    again,
  });
}

function retrying(room: Room, { clearing }: PaymentsDesk, again: Show): void {
  room.action({
    path: `${PATH}/retry`,
    read: pathOf,
    beforehand: (ctx, input) => outsideOf(clearing, { ctx, input }),
    async act(ctx, input, outside) {
      await retry(clearing, { ctx, input, outside });
      return backTo(input.id, "retried");
    },
    again,
  });
}

function cancelling(room: Room, { clearing }: PaymentsDesk, again: Show): void {
  room.action({
    path: `${PATH}/cancel`,
    read: pathOf,
    beforehand: (ctx, input) => agentsOf(clearing, { ctx, input }),
    async act(ctx, input, payments) {
      await cancel(clearing, { ctx, input, payments });
      return backTo(input.id, "cancelled");
    },
    again,
  });
}
