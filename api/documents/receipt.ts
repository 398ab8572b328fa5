import { checksum } from "#kernel/bytes";
import { formatDecimal } from "#kernel/money";
import type { Received } from "../clearing/verbs/received.ts";
import { presentAmount } from "../http/money.ts";
import { checkoutUrl } from "../payment-intent/verbs/read.ts";
import { totalOf, writeLines } from "./lines.ts";
import { type Drawn, openSheet, type Sheet } from "./page.ts";
import { refundedOf, stampsOfRefund } from "./refunded.ts";
import type { SignedProof } from "./schema.ts";
import type { Settled } from "./settled.ts";
import { day, instant, merchantLine, writeLocal } from "./words.ts";

const pathNames = {
  "deposit-match": "Transfer to an address of its own",
  "on-chain-contract": "Payment contract",
  x402: "Signed authorization (x402)",
} as const;

/** Digits of a scaled rate after its point. */
const SCALE = 18;

interface Telling {
  /** Whether it says who paid. */
  readonly tellsPayer: boolean;
}

/** The receipt of a settled payment. It says nothing that could change while the payment, its refunds and what goes back
 *  of it stay as they are. Source: merchant-api.md §7. */
export async function receiptPdf(
  settled: Settled,
  signed: SignedProof,
  { baseUrl, head, tellsPayer }: Drawn & Telling,
): Promise<Uint8Array> {
  const { intent, completedAt } = settled;
  const sheet = await openSheet({ title: `Receipt ${intent.id}`, at: completedAt, head });
  const { word, mood } = stampOf(settled);
  sheet.stamp(word, mood);
  sheet.title("Receipt", merchantLine(intent));
  writePayment(sheet, settled, head.zone);
  if (settled.lines.length > 0) writeSold(sheet, settled);
  writeMoney(sheet, settled);
  if (tellsPayer) writePayer(sheet, settled);
  if (settled.refunds.length > 0) writeRefunds(sheet, settled);
  writeProof(sheet, signed, { ...settled, tellsPayer });
  sheet.code(checkoutUrl(baseUrl, intent), "See where this payment stands now:");
  return sheet.end();
}

function stampOf({ clearing, refunds, received }: Settled) {
  const refunded = refundedOf(clearing, refunds);
  if (refunded) return stampsOfRefund[refunded.part];
  return { word: received.wasAccepted ? "ACCEPTED" : "PAID", mood: "good" } as const;
}

function writePayment(
  sheet: Sheet,
  { intent, clearing, completedAt, received, refunds }: Settled,
  zone: string,
): void {
  const amount = presentAmount({ amount: intent.amount, asset: intent.currency }).formatted;
  sheet.row(received.wasAccepted ? "Amount asked for" : "Amount", amount, "strong");
  const refunded = refundedOf(clearing, refunds);
  if (refunded) sheet.row("Refunded", refunded.line, "strong");
  sheet.row("Paid on", `${day(completedAt)} (${instant(completedAt)})`);
  writeLocal(sheet, completedAt, zone);
  sheet.row("Receipt number", intent.id, "mono");
  sheet.row("Transaction", clearing.id, "mono");
  if (intent.merchantReference !== null) sheet.row("Reference", intent.merchantReference);
}

/** An invoice may be paid by several payments: then its lines come to more than this one. */
function writeSold(sheet: Sheet, { intent, lines }: Settled): void {
  const total = totalOf(lines);
  writeLines(sheet, lines, intent.currency);
  if (total !== intent.amount)
    sheet.row("Total of the lines", presentAmount({ amount: total, asset: intent.currency }).formatted);
}

function writeMoney(sheet: Sheet, { clearing, received }: Settled): void {
  const coins = (amount: bigint) => presentAmount({ amount, asset: clearing.asset }).formatted;
  const { came, waived, tooMuch, toReturn } = received;
  sheet.heading("What was paid");
  sheet.row("Received", `${coins(came)} on ${clearing.chain}`);
  if (waived > 0n) sheet.row("Waived", `${coins(waived)}, by which it is less than was due`);
  if (tooMuch > 0n) {
    sheet.row("Counted as paid", coins(clearing.settlementAmount));
    sheet.row("Too much", tooMuchLine({ tooMuch, toReturn }, coins));
  }
  sheet.row("Way", pathNames[clearing.executionPath]);
  sheet.row("Rate", rateLine(clearing));
  sheet.row("Fee", coins(clearing.fee));
  sheet.row("Credited to the merchant", coins(clearing.settlementAmount - clearing.fee));
}

function tooMuchLine(
  { tooMuch, toReturn }: Pick<Received, "tooMuch" | "toReturn">,
  coins: (amount: bigint) => string,
): string {
  if (toReturn === 0n) return `${coins(tooMuch)}, sent back to the payer`;
  if (toReturn === tooMuch) return `${coins(tooMuch)}, which is still the payer's`;
  return `${coins(tooMuch)}, of which ${coins(toReturn)} is still the payer's`;
}

function writePayer(sheet: Sheet, { intent: { customer, payerAddress } }: Settled): void {
  if (customer?.name !== undefined) sheet.row("Paid by", customer.name);
  if (payerAddress !== null) sheet.row("Payer's address", checksum(payerAddress), "mono");
}

function rateLine({ rateFrom, rateTo, scaledRate, rateSource, rateLockedAt }: Settled["clearing"]): string {
  const rate = formatDecimal(scaledRate, SCALE).replace(/\.?0+$/, "");
  return `1 ${rateFrom} = ${rate} ${rateTo} (${rateSource}), locked ${instant(rateLockedAt)}`;
}

function writeRefunds(sheet: Sheet, { refunds }: Settled): void {
  sheet.heading("Refunds");
  const rows = refunds.map(({ id, state, amount, asset, createdAt }) => [
    `${id} · ${day(createdAt)}`,
    state,
    presentAmount({ amount, asset }).formatted,
  ]);
  sheet.table([6, 2, 3], [["Refund", "State", "Amount"], ...rows]);
}

function writeProof(
  sheet: Sheet,
  { proof, digest, signature, publicKey }: SignedProof,
  { explorer, confirmations, tellsPayer }: Pick<Settled, "explorer" | "confirmations"> & Telling,
): void {
  sheet.heading("Settlement proof");
  sheet.paragraph(
    "Each transfer below stands on the chain for anybody to see. The signature covers the proof as JSON " +
      "(GET /v1/payments/{id}/proof.json); the command `farebox proof verify` checks it without asking anybody.",
  );
  sheet.row("Chain", proof.network === null ? proof.chain : `${proof.chain} (${proof.network})`);
  if (proof.token !== null) sheet.row("Token contract", proof.token, "mono");
  if (confirmations !== null && proof.transfers.length > 0)
    sheet.row("Confirmations", `${confirmations} or more when it was settled`);
  for (const transfer of proof.transfers) {
    sheet.row("Transaction hash", transfer.transactionHash, "mono");
    if (explorer !== null) sheet.row("Look it up at", `${explorer}/tx/${transfer.transactionHash}`, "mono");
    sheet.row("Log index", String(transfer.logIndex), "mono");
    sheet.row("Block", `${transfer.blockNumber} · ${transfer.blockHash}`, "mono");
    if (tellsPayer) sheet.row("From", transfer.from, "mono");
    sheet.row("To", transfer.to, "mono");
    sheet.row("Value in atomic units", transfer.amount, "mono");
  }
  if (proof.ledgerEntryId !== null) sheet.row("Ledger entry", proof.ledgerEntryId, "mono");
  sheet.row("SHA-256", digest, "mono");
  sheet.row("Ed25519 signature", signature, "mono");
  sheet.row("Public key", publicKey, "mono");
}
