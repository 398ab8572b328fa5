import type { IntentRow } from "../payment-intent/verbs/offer.ts";
import type { Sheet } from "./page.ts";

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

/** `2026-08-12 00:30:00 Europe/Lisbon`; null where that is UTC again. */
function localInstant(at: Date, zone: string): string | null {
  return zone === "UTC" ? null : `${clockIn(zone).format(at)} ${zone}`;
}

/** The Swedes write dates as ISO 8601 does. */
function clockIn(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone });
}

/** The merchant as it was when the payment was made. */
export function merchantLine({
  merchantName,
  merchantCity,
  merchantCountryCode,
}: Pick<IntentRow, "merchantName" | "merchantCity" | "merchantCountryCode">): string {
  return `${merchantName} · ${merchantCity}, ${merchantCountryCode}`;
}

/** Nothing where it would be UTC again. */
export function writeLocal(sheet: Pick<Sheet, "row">, at: Date, zone: string): void {
  const local = localInstant(at, zone);
  if (local !== null) sheet.row("Local time", local);
}
