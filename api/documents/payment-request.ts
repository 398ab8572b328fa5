import { presentAmount } from "../http/money.ts";
import type { IntentStatus } from "../payment-intent/state.ts";
import type { IntentRow } from "../payment-intent/verbs/offer.ts";
import { checkoutUrl } from "../payment-intent/verbs/read.ts";
import { type Drawn, openSheet } from "./page.ts";
import { type Refunded, stampsOfRefund } from "./refunded.ts";
import { day, instant, merchantLine, writeLocal } from "./words.ts";

const stamps: Readonly<
  Record<IntentStatus, { readonly word: string; readonly mood: "good" | "over" } | null>
> = {
  created: null,
  clearing: null,
  completed: { word: "PAID", mood: "good" },
  failed: null,
  expired: { word: "EXPIRED", mood: "over" },
  cancelled: { word: "CANCELLED", mood: "over" },
};

/** What a payment without an invoice is asked with: drawn from the intent, and from what went back of it. */
export async function paymentRequestPdf(
  intent: IntentRow,
  { baseUrl, head, refunded }: Drawn & { readonly refunded: Refunded | null },
): Promise<Uint8Array> {
  const sheet = await openSheet({ title: `Payment request ${intent.id}`, at: intent.createdAt, head });
  const stamp = refunded ? stampsOfRefund[refunded.part] : stamps[intent.status];
  if (stamp) sheet.stamp(stamp.word, stamp.mood);
  const amount = presentAmount({ amount: intent.amount, asset: intent.currency }).formatted;
  sheet.title("Payment request", merchantLine(intent));
  sheet.row("Amount", amount, "strong");
  if (refunded) sheet.row("Refunded", refunded.line, "strong");
  sheet.row("Made on", `${day(intent.createdAt)} (${instant(intent.createdAt)})`);
  writeLocal(sheet, intent.createdAt, head.zone);
  sheet.row("Number", intent.id, "mono");
  if (intent.merchantReference !== null) sheet.row("Reference", intent.merchantReference);
  if (intent.customer?.name !== undefined) sheet.row("For", intent.customer.name);
  if (intent.customer?.email !== undefined) sheet.row("E-mail", intent.customer.email);
  const isOpen = intent.status === "created" || intent.status === "clearing";
  sheet.heading(isOpen ? "Amount due" : "What was asked for");
  sheet.table(
    [6, 2],
    [
      ["Description", "Amount"],
      [intent.merchantReference ?? `Payment to ${intent.merchantName}`, amount],
      ...dueOf(intent),
    ],
  );
  if (isOpen) sheet.code(checkoutUrl(baseUrl, intent), "Pay here, from any wallet or by an agent:");
  return sheet.end();
}

/** What ended unpaid asks for nothing. */
function dueOf({ status, amount, currency }: IntentRow): readonly (readonly string[])[] {
  if (status === "failed" || status === "expired" || status === "cancelled") return [];
  const due = status === "completed" ? 0n : amount;
  return [["Due", presentAmount({ amount: due, asset: currency }).formatted]];
}
