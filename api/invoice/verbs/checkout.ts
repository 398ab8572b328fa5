import type { Tx } from "#store";
import { fault } from "../../http/faults.ts";
import type { WriteKey } from "../../http/idempotency.ts";
import { findMerchant } from "../../merchant/verbs/merchant.ts";
import type { PaymentIntent } from "../../payment-intent/schema.ts";
import { type Checked, checkIntent, type Making, makeIntent } from "../../payment-intent/verbs/create.ts";
import { type IntentRow, isOfferedOn, TIME_TO_SIGN_MS } from "../../payment-intent/verbs/offer.ts";
import { presentIntent } from "../../payment-intent/verbs/read.ts";
import type { InvoiceRow } from "../present.ts";
import type { InvoiceCheckout } from "../schema.ts";
import { isPayable, outstandingOf } from "../state.ts";
import type { InvoiceDesk } from "./desk.ts";
import { isUnfunded, liveIntents, originOf } from "./intents.ts";
import { lockInvoice } from "./move.ts";

/** Whether what is owed can be paid as asked; before the transaction, since it may ask for rates. Faults:
 *  `invoice_not_payable`, `rail_unsupported`, `amount_too_small`, `amount_too_large`. */
export async function checkCheckout(
  desk: InvoiceDesk,
  row: InvoiceRow,
  input: InvoiceCheckout,
): Promise<Checked> {
  refuseUnpayable(row);
  const money = { amount: outstandingOf(row), asset: row.currency };
  const payee = await findMerchant(desk.db.pool, row.merchantId);
  return checkIntent(desk, { payee, money }, { ...input, settlementAsset: undefined, provider: "evm" });
}

interface Checkout {
  readonly making: Making & { tx<T>(work: (tx: Tx) => Promise<T>): Promise<T> };
  readonly row: Pick<InvoiceRow, "merchantId" | "id">;
  readonly input: InvoiceCheckout;
  readonly checked: Checked;
  readonly write: WriteKey | null;
}

/** An intent for what is owed, or the one that waits for its money on the same rail. Faults: `not_found`,
 *  `invoice_not_payable`, `invoice_payment_in_progress`. */
export async function checkoutInvoice(
  desk: InvoiceDesk,
  { making, row: named, input, checked, write }: Checkout,
): Promise<{ readonly intent: PaymentIntent; readonly isNew: boolean }> {
  return making.tx(async (tx) => {
    const row = await lockInvoice(tx, named);
    refuseUnpayable(row);
    const isStale = checked.money.amount !== outstandingOf(row);
    const waiting = (await liveIntents(tx, row)).filter(
      (each) => isUnfunded(each) && each.expiresAt > desk.now(),
    );
    const same = waiting.find((each) => isSame(each, checked, desk.now()));
    if (same) return { intent: forPayer(same, row, desk), isNew: false };
    if (isStale || (await desk.facilitator.once.lock(tx, row.id))) throw fault("invoice_payment_in_progress");
    const merchant = await findMerchant(tx, row.merchantId);
    const made = await makeIntent(desk, tx, making, {
      ...checked,
      merchant,
      source: row.subscriptionId === null ? "invoice" : "subscription",
      input: inputOf(row, input),
      write,
      heldAs: row.id,
    });
    return { intent: forPayer(made.row, row, desk), isNew: !made.isRepeated };
  });
}

/** Anybody may ask who found the invoice in an index: who it is for, and what its merchant noted, is not told. */
function forPayer(intent: IntentRow, row: InvoiceRow, desk: InvoiceDesk): PaymentIntent {
  return { ...presentIntent(intent, desk), customer: null, metadata: originOf(row) };
}

function refuseUnpayable({ state }: InvoiceRow): void {
  if (!isPayable(state)) throw fault("invoice_not_payable", { state });
}

function isSame(intent: IntentRow, { asked, money, rails }: Checked, now: Date): boolean {
  const { executionPath, asset, chain } = intent.asked;
  const until = executionPath === "x402" ? intent.offerExpiresAt : null;
  return (
    (until === null || until.getTime() - now.getTime() > TIME_TO_SIGN_MS) &&
    intent.amount === money.amount &&
    executionPath === asked.executionPath &&
    asset === asked.asset &&
    chain === asked.chain &&
    (executionPath !== "x402" || isOfferedOn(intent, rails))
  );
}

function inputOf(row: InvoiceRow, { payment }: InvoiceCheckout) {
  const { name, email } = row.buyer;
  return {
    payment,
    provider: "evm" as const,
    merchantReference: row.number ?? undefined,
    metadata: { ...row.metadata, ...originOf(row) },
    customer: email === null ? { name } : { name, email },
    merchant: {
      name: row.merchantName,
      city: row.merchantCity,
      countryCode: row.merchantCountryCode,
    },
  };
}
