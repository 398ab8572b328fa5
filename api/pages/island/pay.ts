import { authorizationOf, fromHeader, type Option, toHeader, typedData } from "./authorization.ts";
import { isRefusal, type Provider } from "./eip1193.ts";
import {
  allowanceCall,
  approveCall,
  balanceCall,
  payCall,
  type SignedOrder,
  transferCall,
} from "./encode.ts";

/** What the page shows, and so what may be signed. Amounts in atomic units. */
export interface Facts {
  readonly chainId: number;
  readonly chainName: string;
  readonly explorer: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly token: string;
  readonly payTo: string;
  readonly router: string | null;
  /** Of a plain transfer; null on another path. */
  readonly to: string | null;
  readonly amount: string;
}
/** A wallet's account at work on a payment. */
export interface Paying {
  readonly provider: Provider;
  readonly account: string;
  readonly facts: Facts;
  readonly id: string;
  /** Says what the payer is to do next: a key of the words. */
  readonly tell: (key: string) => void;
  /** Shows until when a signature is good, before the wallet asks for it. Seconds, as they are signed. */
  readonly showEnd: (validBefore: string) => void;
}

/** The account has less than the amount. Atomic units. */
export class TooPoor extends Error {
  readonly balance: bigint;
  constructor(balance: bigint) {
    super();
    this.balance = balance;
  }
}
/** What was to be signed is not what the page shows. */
export class Changed extends Error {}
/** What was signed before did not pay, but still can. */
export class Held extends Error {}
/** It was signed and sent, and nobody could say what became of it: it may be charged. */
export class Unknown extends Error {}
/** The wallet failed while it sent, and did not say that it sent nothing. */
export class Unsure extends Error {}

const same = (a: string | null, b: string) => a?.toLowerCase() === b.toLowerCase();

/** A plain transfer to the order's address; its transaction. */
export async function sendTransfer({ provider, account, facts, tell }: Paying): Promise<string> {
  if (facts.to === null) throw new Changed();
  await demandBalance(provider, account, facts);
  tell("walletConfirm");
  return sendPayment(provider, account, facts.token, transferCall(facts.to, BigInt(facts.amount)));
}

/** Through the router, as the signed order says: an allowance first where there is none. */
export async function payContract({ provider, account, facts, id, tell }: Paying): Promise<string> {
  await demandBalance(provider, account, facts);
  const response = await fetch(`/checkout/${id}/order`, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Changed();
  const signed = (await response.json()) as SignedOrder;
  const { order, router } = signed;
  const isShown =
    same(facts.router, router) && same(facts.token, order.token) && same(facts.payTo, order.payTo);
  if (!isShown || order.amount !== facts.amount) throw new Changed();
  const allowed = await read(provider, facts.token, allowanceCall(account, router));
  if (allowed < BigInt(facts.amount)) {
    tell("walletApprove");
    const approval = await send(provider, account, facts.token, approveCall(router, BigInt(facts.amount)));
    await mined(provider, approval);
  }
  tell("walletConfirm");
  return sendPayment(provider, account, router, payCall(signed));
}

interface Required {
  readonly resource: { readonly url: string };
  readonly accepts: readonly Option[];
}

/** By a signature alone, as an agent pays: x402. Its transaction; null while that is not known. */
export async function paySigned({
  provider,
  account,
  facts,
  id,
  tell,
  showEnd,
}: Paying): Promise<string | null> {
  await demandBalance(provider, account, facts);
  const url = `/x402/payables/${id}`;
  const asked = await fetch(url, { headers: { Accept: "application/json" } });
  const header = asked.headers.get("PAYMENT-REQUIRED");
  if (asked.status === 409) throw new Held();
  if (asked.status !== 402 || header === null) throw new Changed();
  const { resource, accepts } = fromHeader<Required>(header);
  const option = accepts.find((each) => isShown(each, facts));
  if (!option) throw new Changed();
  const machineNow = Date.parse(asked.headers.get("Date") ?? "") || Date.now();
  const authorization = authorizationOf(option, account, machineNow);
  const data = typedData(option, facts.chainId, authorization);
  showEnd(authorization.validBefore);
  tell("walletConfirm");
  const signature = await provider.request({
    method: "eth_signTypedData_v4",
    params: [account, JSON.stringify(data)],
  });
  tell("walletSent");
  const payload = { signature, authorization };
  const payment = toHeader({ x402Version: 2, resource, accepted: option, payload });
  return sendSigned(url, { Accept: "application/json", "PAYMENT-SIGNATURE": payment });
}

const SENDS = 5;

/** The identical request again where an answer is lost: what is signed moves once, however often it comes. */
async function sendSigned(url: string, headers: Readonly<Record<string, string>>): Promise<string | null> {
  for (let sends = 1; sends <= SENDS; sends += 1) {
    const answer = await fetch(url, { headers }).then(readAnswer, () => null);
    if (answer?.isSent) return answer.transaction;
    // A refusal tells nothing of an earlier request, whose answer was lost.
    if (answer && sends === 1) throw new Error(answer.reason);
    if (sends < SENDS) await pause(ASK_MS);
  }
  throw new Unknown();
}

function isShown({ scheme, network, amount, asset, payTo }: Option, facts: Facts): boolean {
  return (
    scheme === "exact" &&
    network === `eip155:${facts.chainId}` &&
    amount === facts.amount &&
    same(facts.token, asset) &&
    same(facts.payTo, payTo)
  );
}

interface Answer {
  readonly isSent: boolean;
  readonly transaction: string | null;
  readonly reason: string | undefined;
}

/** Null where it does not say what became of the payment. A pending one is no failure: the page hears how it ends. */
async function readAnswer(response: Response): Promise<Answer | null> {
  const body = (await response.json().catch(() => ({}))) as {
    readonly transaction?: string;
    readonly errorReason?: string;
  };
  const { transaction, errorReason: reason } = body;
  const isSent = response.status === 200 || reason === "settlement_pending" || Boolean(transaction);
  if (!isSent && response.status >= 500) return null;
  return { isSent, transaction: transaction || null, reason };
}

async function demandBalance(provider: Provider, account: string, { token, amount }: Facts): Promise<void> {
  const balance = await read(provider, token, balanceCall(account));
  if (balance < BigInt(amount)) throw new TooPoor(balance);
}

async function read(provider: Provider, to: string, data: string): Promise<bigint> {
  const answer = String(await provider.request({ method: "eth_call", params: [{ to, data }, "latest"] }));
  return answer === "0x" ? 0n : BigInt(answer);
}

async function send(provider: Provider, from: string, to: string, data: string): Promise<string> {
  return String(await provider.request({ method: "eth_sendTransaction", params: [{ from, to, data }] }));
}

/** An answer may be lost after the transaction went out: what is no refusal is not told as if nothing was charged. */
async function sendPayment(provider: Provider, from: string, to: string, data: string): Promise<string> {
  try {
    return await send(provider, from, to, data);
  } catch (error) {
    throw isRefusal(error) ? error : new Unsure();
  }
}

const ASK_MS = 1_000;
const PATIENCE_MS = 180_000;

/** Waits until a transaction is in a block. Throws when it failed there, or when it takes too long. */
async function mined(provider: Provider, hash: string): Promise<void> {
  for (let waited = 0; waited < PATIENCE_MS; waited += ASK_MS) {
    const receipt = (await provider.request({ method: "eth_getTransactionReceipt", params: [hash] })) as {
      readonly status: string;
    } | null;
    if (receipt?.status === "0x1") return;
    if (receipt) throw new Error("the approval failed");
    await pause(ASK_MS);
  }
  throw new Error("the approval takes too long");
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
