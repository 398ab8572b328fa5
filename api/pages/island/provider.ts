import type { Provider } from "./eip1193.ts";
import { say } from "./words.ts";

/** A wallet of this browser. */
export interface FoundWallet {
  readonly id: string;
  readonly name: string;
  /** A data URL; null where there is none. */
  readonly icon: string | null;
  readonly provider: Provider;
}

interface Announcement {
  readonly info: { readonly uuid: string; readonly name: string; readonly icon: string };
  readonly provider: Provider;
}

const wallets = new Map<string, FoundWallet>();
const OLD_MS = 600;

/** Finds them by EIP-6963, or by what older ones put on the window. Calls with all that are known, each time one shows
 *  up; and once more when nobody else is expected. */
export function findWallets(found: (wallets: readonly FoundWallet[], isAll: boolean) => void): void {
  window.addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail;
    const icon = info.icon.startsWith("data:image/") ? info.icon : null;
    wallets.set(info.uuid, { id: info.uuid, name: info.name.slice(0, 40), icon, provider });
    found([...wallets.values()], false);
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  setTimeout(() => {
    const old = (window as unknown as { readonly ethereum?: Provider }).ethereum;
    if (wallets.size === 0 && old)
      wallets.set("window", { id: "window", name: say("walletOfBrowser"), icon: null, provider: old });
    found([...wallets.values()], true);
  }, OLD_MS);
}
