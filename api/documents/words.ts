import type { IntentRow } from "../payment-intent/verbs/offer.ts";

const english = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});

/** `11 August 2026` */
export function day(at: Date): string {
  return english.format(at);
}

/** `2026-08-11 09:30:00 UTC` */
export function instant(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** The merchant as it was when the payment was made. */
export function merchantLine({
  merchantName,
  merchantCity,
  merchantCountryCode,
}: Pick<IntentRow, "merchantName" | "merchantCity" | "merchantCountryCode">): string {
  return `${merchantName} · ${merchantCity}, ${merchantCountryCode}`;
}
