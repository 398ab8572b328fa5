import { claimRefund, NoAddress, OtherWallet } from "./claim.ts";
import { codeOf } from "./eip1193.ts";
import { ensureNetwork, WrongNetwork } from "./networks.ts";
import {
  Changed,
  type Facts,
  type Paying,
  payContract,
  paySigned,
  sendTransfer,
  TooPoor,
  Unknown,
} from "./pay.ts";
import { type FoundWallet, findWallets } from "./provider.ts";
import { say } from "./words.ts";

const DECLINED = 4001;
const ways: Readonly<Record<string, (paying: Paying) => Promise<string | null>>> = {
  sign: paySigned,
  send: sendTransfer,
  contract: payContract,
};

let wallets: readonly FoundWallet[] = [];
let isAll = false;
let isSearching = false;
/** The one that the payer took: kept when the page is drawn anew. */
let taken: { readonly wallet: FoundWallet; readonly account: string } | null = null;

/** Shows the wallets of this browser, and what can be done with one. */
export function startWallet(): void {
  const panel = document.getElementById("wallet");
  if (!panel) return;
  panel.hidden = false;
  for (const button of panel.querySelectorAll<HTMLButtonElement>("[data-do]"))
    button.addEventListener("click", () => void act(button));
  if (!isSearching) {
    isSearching = true;
    findWallets((found, all) => {
      wallets = found;
      isAll = all;
      draw();
    });
  }
  draw();
}

function draw(): void {
  const list = document.getElementById("wallets");
  const actions = document.getElementById("wallet-actions");
  if (!list || !actions) return;
  list.replaceChildren(...wallets.map(walletButton));
  actions.hidden = taken === null;
  const destination = document.getElementById("destination") as HTMLInputElement | null;
  if (taken && destination?.value === "") destination.value = taken.account;
  if (taken) tell("walletConnected", { account: shortened(taken.account) });
  else if (wallets.length === 0 && isAll) tell("walletNone");
}

function walletButton(wallet: FoundWallet): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "wallet-choice";
  button.setAttribute("aria-pressed", String(taken?.wallet.id === wallet.id));
  if (wallet.icon) {
    const icon = document.createElement("img");
    Object.assign(icon, { src: wallet.icon, alt: "", width: 24, height: 24 });
    button.append(icon);
  }
  button.append(wallet.name);
  button.addEventListener("click", () => void connect(wallet));
  return button;
}

async function connect(wallet: FoundWallet): Promise<void> {
  await attempt(async () => {
    const accounts = (await wallet.provider.request({ method: "eth_requestAccounts" })) as readonly string[];
    const [account] = accounts;
    if (!account) throw new Error("no account");
    taken = { wallet, account };
    draw();
    document.querySelector<HTMLElement>("#wallet-actions button")?.focus();
  });
}

async function act(button: HTMLButtonElement): Promise<void> {
  const panel = document.getElementById("wallet");
  if (!panel || !taken) return;
  const { wallet, account } = taken;
  const { provider } = wallet;
  const id = document.querySelector<HTMLElement>("[data-id]")?.dataset.id ?? "";
  const { payer, facts } = panel.dataset;
  busy(panel, true);
  if (payer) await attempt(() => claimRefund({ provider, account, payer, id, tell }));
  else {
    const paying = { provider, account, id, tell, showEnd, facts: JSON.parse(facts ?? "{}") };
    await pay(button.dataset.do ?? "", paying);
  }
  busy(panel, false);
}

async function pay(name: string, paying: Paying): Promise<void> {
  const way = ways[name];
  const { provider, facts } = paying;
  if (!way) return;
  await attempt(async () => {
    await ensureNetwork(provider, facts);
    const hash = await way(paying);
    tell("walletSent");
    if (hash) showTransaction(hash, facts);
  }, facts);
}

/** A second press while the first is at work would pay twice. */
function busy(panel: HTMLElement, isBusy: boolean): void {
  const note = document.getElementById("wallet-note");
  const isSent = ["walletSent", "walletUnknown"].includes(note?.dataset.key ?? "");
  for (const button of panel.querySelectorAll("button")) button.disabled = isBusy || isSent;
}

async function attempt(work: () => Promise<unknown>, facts?: Facts): Promise<void> {
  try {
    await work();
  } catch (error) {
    const [key, about] = reasonOf(error, facts);
    tell(key, about);
  }
}

function reasonOf(error: unknown, facts?: Facts): readonly [string, Readonly<Record<string, string>>?] {
  if (error instanceof TooPoor && facts)
    return ["walletPoor", { balance: `${decimal(error.balance, facts.decimals)} ${facts.symbol}` }];
  if (error instanceof Unknown) return ["walletUnknown"];
  if (error instanceof Changed) return ["walletChanged"];
  if (error instanceof WrongNetwork) return ["walletChain"];
  if (error instanceof NoAddress) return ["walletAddress"];
  if (error instanceof OtherWallet) return ["walletOther", { account: shortened(payerShown()) }];
  return [codeOf(error) === DECLINED ? "walletRejected" : "walletFailed"];
}

function payerShown(): string {
  return document.getElementById("wallet")?.dataset.payer ?? "";
}

const shortened = (account: string) => `${account.slice(0, 6)}…${account.slice(-4)}`;

function decimal(amount: bigint, decimals: number): string {
  const one = 10n ** BigInt(decimals);
  const part = String(amount % one).padStart(decimals, "0");
  return `${amount / one}.${part.replace(/0+$/, "").padEnd(2, "0")}`;
}

function tell(key: string, about: Readonly<Record<string, string>> = {}): void {
  const note = document.getElementById("wallet-note");
  if (!note) return;
  note.dataset.key = key;
  note.textContent = say(key, about);
}

function showEnd(validBefore: string): void {
  const place = document.querySelector<HTMLElement>("[data-valid-before]");
  if (!place) return;
  const time = new Date(Number(validBefore) * 1_000).toISOString().slice(0, 19).replace("T", " ");
  place.textContent = say("showsAt", { time: `${time} UTC`, seconds: validBefore });
}

function showTransaction(hash: string, { explorer }: Facts): void {
  const note = document.getElementById("wallet-note");
  const shown = `${hash.slice(0, 10)}…${hash.slice(-8)}`;
  const at = explorer ? document.createElement("a") : document.createElement("code");
  if (at instanceof HTMLAnchorElement)
    Object.assign(at, { href: `${explorer}/tx/${hash}`, target: "_blank", rel: "noreferrer noopener" });
  at.textContent = shown;
  at.title = hash;
  note?.append(" ", at);
}
