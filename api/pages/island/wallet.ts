import { claimRefund, NoAddress, NothingWaits, OtherWallet, WrongAddress } from "./claim.ts";
import { codeOf, type Provider } from "./eip1193.ts";
import { ensureNetwork, WrongNetwork } from "./networks.ts";
import { drawNote, forget, isTold, showEnd, tell, tellSent } from "./note.ts";
import {
  Changed,
  type Facts,
  Held,
  type Paying,
  payContract,
  paySigned,
  sendTransfer,
  TooPoor,
  Unknown,
  Unsure,
} from "./pay.ts";
import { type FoundWallet, findWallets } from "./provider.ts";
import { keepSent, sentBefore } from "./sent.ts";

const DECLINED = 4001;
/** The wallet has an earlier question open. */
const PENDING = -32002;
const ways: Readonly<Record<string, (paying: Paying) => Promise<string | null>>> = {
  sign: paySigned,
  send: sendTransfer,
  contract: payContract,
};

let wallets: readonly FoundWallet[] = [];
let isAll = false;
let isSearching = false;
/** A wallet is asked for something. */
let isBusy = false;
/** The one that the payer took: kept when the page is drawn anew. */
let taken: { readonly wallet: FoundWallet; readonly account: string } | null = null;
const followed = new Set<Provider>();

/** Shows the wallets of this browser, and what can be done with one. */
export function startWallet(): void {
  const panel = document.getElementById("wallet");
  if (!panel) return;
  panel.hidden = false;
  if (!isSearching) recall(panel);
  // What was sent came to nothing: it can be paid again.
  if (document.getElementById("checkout")?.dataset.phase === "failed" && isSent()) forget();
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

/** Says again what was sent before the page was loaded anew. */
function recall({ dataset }: HTMLElement): void {
  if (dataset.facts === undefined) return;
  const facts = JSON.parse(dataset.facts) as Facts;
  const sent = sentBefore(idShown(), facts.amount, Date.now());
  if (sent) tellSent(sent.hash, facts);
}

const idShown = () => document.querySelector<HTMLElement>("[data-id]")?.dataset.id ?? "";

function draw(): void {
  const list = document.getElementById("wallets");
  const actions = document.getElementById("wallet-actions");
  if (!list || !actions) return;
  list.replaceChildren(...wallets.map(walletButton));
  actions.hidden = taken === null;
  const destination = document.getElementById("destination") as HTMLInputElement | null;
  if (taken && destination?.value === "") destination.value = taken.account;
  if (wallets.length > 0 && isTold("walletNone")) tell("walletFind");
  if (wallets.length === 0 && isAll && !isSent()) tell("walletNone");
  drawNote();
  drawButtons();
}

/** A second press while the first is at work, or when it was sent, would pay twice. */
function drawButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("#wallet button"))
    button.disabled = isBusy || isSent();
}

const isSent = () => isTold("walletSent", "walletUnknown");

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
    take(wallet, account);
    followAccount(wallet);
    document.querySelector<HTMLElement>("#wallet-actions button")?.focus();
  });
}

function take(wallet: FoundWallet, account: string): void {
  taken = { wallet, account };
  tell("walletConnected", { account: shortened(account) });
  draw();
}

/** Whose account has too little takes another one in the wallet, and goes on here. */
function followAccount(wallet: FoundWallet): void {
  if (followed.has(wallet.provider)) return;
  followed.add(wallet.provider);
  wallet.provider.on?.("accountsChanged", ([account]) => {
    if (taken?.wallet.id !== wallet.id || isBusy || isSent()) return;
    if (account) take(wallet, account);
    else {
      taken = null;
      tell("walletFind");
      draw();
    }
  });
}

async function act(button: HTMLButtonElement): Promise<void> {
  const panel = document.getElementById("wallet");
  if (!panel || !taken || isBusy) return;
  const { wallet, account } = taken;
  const { provider } = wallet;
  const id = idShown();
  const { payer, facts } = panel.dataset;
  isBusy = true;
  drawButtons();
  if (payer) await attempt(() => claimRefund({ provider, account, payer, id, tell }));
  else {
    const paying = { provider, account, id, tell, showEnd, facts: JSON.parse(facts ?? "{}") };
    await pay(button.dataset.do ?? "", paying);
  }
  isBusy = false;
  drawButtons();
}

async function pay(name: string, paying: Paying): Promise<void> {
  const way = ways[name];
  const { provider, facts, id } = paying;
  if (!way) return;
  await attempt(async () => {
    await ensureNetwork(provider, facts);
    const hash = await way(paying);
    tellSent(hash, facts);
    // Of a signature the server knows, and tells the page that is loaded again.
    if (hash !== null && way !== paySigned) keepSent(id, { hash, amount: facts.amount, atMs: Date.now() });
  }, facts);
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
  if (error instanceof Unsure) return ["walletUnsure"];
  if (error instanceof Held) return ["walletHeld"];
  if (error instanceof Changed) return ["walletChanged"];
  if (error instanceof WrongNetwork) return ["walletChain"];
  if (error instanceof NoAddress) return ["walletAddress"];
  if (error instanceof WrongAddress) return ["refund_destination"];
  if (error instanceof NothingWaits) return ["refund_nothing"];
  if (error instanceof OtherWallet) return ["walletOther", { account: shortened(payerShown()) }];
  if (codeOf(error) === PENDING) return ["walletConfirm"];
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
