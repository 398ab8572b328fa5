import type { Provider } from "./eip1193.ts";

/** The wallet is not the one that paid. */
export class OtherWallet extends Error {}
/** No address was written yet. */
export class NoAddress extends Error {}
/** The address that was written is none that a refund can go to: a letter of it may be wrong. */
export class WrongAddress extends Error {}
/** Nothing waits for an address any more. */
export class NothingWaits extends Error {}

interface Claiming {
  readonly provider: Provider;
  readonly account: string;
  /** Who paid, as the page names it. */
  readonly payer: string;
  readonly id: string;
  readonly tell: (key: string) => void;
}

/** Signs for the address that is written on the page, and sends its form. */
export async function claimRefund({ provider, account, payer, id, tell }: Claiming): Promise<null> {
  if (account.toLowerCase() !== payer.toLowerCase()) throw new OtherWallet();
  const form = document.querySelector<HTMLFormElement>("form#wallet-actions");
  const field = (name: string) => form?.elements.namedItem(name) as HTMLInputElement;
  if (!form?.reportValidity()) throw new NoAddress();
  const asked = new URLSearchParams({ destination: field("destination").value });
  const response = await fetch(`/checkout/${id}/refund/message?${asked}`);
  if (response.status === 400) throw new WrongAddress();
  if (response.status === 404) throw new NothingWaits();
  if (!response.ok) throw new Error(`the message: ${response.status}`);
  const { message, nonce } = (await response.json()) as { readonly message: string; readonly nonce: string };
  tell("walletConfirm");
  field("signature").value = String(
    await provider.request({ method: "personal_sign", params: [hexOf(message), account] }),
  );
  field("nonce").value = nonce;
  form.submit();
  return null;
}

function hexOf(text: string): string {
  const bytes = [...new TextEncoder().encode(text)];
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
