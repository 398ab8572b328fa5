import type { Facts } from "./pay.ts";
import { say } from "./words.ts";

interface Note {
  readonly key: string;
  readonly about: Readonly<Record<string, string>>;
  readonly transaction: { readonly hash: string; readonly explorer: string } | null;
}

/** What was said last of the wallet, and until when a signature is good: both outlive the page that is drawn anew. */
let note: Note | null = null;
let validBefore: string | null = null;

export function tell(key: string, about: Readonly<Record<string, string>> = {}): void {
  note = { key, about, transaction: null };
  drawNote();
}

export function tellSent(hash: string | null, { explorer }: Facts): void {
  note = { key: "walletSent", about: {}, transaction: hash === null ? null : { hash, explorer } };
  drawNote();
}

export function showEnd(seconds: string): void {
  validBefore = seconds;
  drawNote();
}

export function forget(): void {
  note = null;
}

export function isTold(...keys: readonly string[]): boolean {
  return note !== null && keys.includes(note.key);
}

export function drawNote(): void {
  const place = document.getElementById("wallet-note");
  if (place && note) {
    const { key, about, transaction } = note;
    place.replaceChildren(say(key, about), ...(transaction ? [" ", written(transaction)] : []));
  }
  const end = document.querySelector<HTMLElement>("[data-valid-before]");
  if (end && validBefore !== null) {
    const time = new Date(Number(validBefore) * 1_000).toISOString().slice(0, 19).replace("T", " ");
    end.textContent = say("showsAt", { time: `${time} UTC`, seconds: validBefore });
  }
}

function written({ hash, explorer }: NonNullable<Note["transaction"]>): HTMLElement {
  const shown = document.createElement(explorer ? "a" : "code");
  if (shown instanceof HTMLAnchorElement)
    Object.assign(shown, { href: `${explorer}/tx/${hash}`, target: "_blank", rel: "noreferrer noopener" });
  shown.textContent = `${hash.slice(0, 10)}…${hash.slice(-8)}`;
  shown.title = hash;
  return shown;
}
