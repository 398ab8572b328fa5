import type { Executor } from "#store";
import type { Call } from "../../http/context.ts";
import { type Money, presentAmount } from "../../http/money.ts";
import type { InvoiceRow } from "../present.ts";
import type { InvoicePath } from "../schema.ts";
import { refundedPart } from "../state.ts";
import { refundsOf } from "./money.ts";
import { findInvoice } from "./move.ts";

/** What went back of an invoice, for the eye; null where nothing did. */
export interface ShownRefunds {
  readonly collected: Money;
  readonly arrived: Money | null;
  readonly underWay: Money | null;
  /** Of its price; null as long as that is kept. */
  readonly part: "all" | "part" | null;
}

export async function refundsOfInvoice({ ctx, input }: Call<InvoicePath>): Promise<ShownRefunds | null> {
  ctx.demand("invoices:read");
  const { merchantId, db } = ctx;
  return shownRefunds(db.pool, await findInvoice(db.pool, { merchantId, id: input.id }));
}

export async function shownRefunds(db: Executor, row: InvoiceRow): Promise<ShownRefunds | null> {
  const { arrived, underWay } = await refundsOf(db, row);
  if (arrived === 0n && underWay === 0n) return null;
  const money = (amount: bigint) => presentAmount({ amount, asset: row.currency });
  return {
    collected: money(row.collected),
    arrived: arrived > 0n ? money(arrived) : null,
    underWay: underWay > 0n ? money(underWay) : null,
    part: refundedPart(row, arrived),
  };
}
