/** What merchants make for others to pay, and do to it: by chance. */
import type { Choices } from "../payments/random.ts";
import type { Shop } from "../payments/shop.ts";
import { type Payer, payerOf } from "./payer.ts";

export interface Life {
  readonly id: string;
  readonly payer: Payer;
  act(): Promise<void>;
}

type Acts = Readonly<Record<string, () => Promise<unknown>>>;

/** A currency with cents, one without, one with a spread between rates, and a coin. */
const currencies = ["USD", "USD", "EUR", "JPY", "GBP", "USDC"] as const;
const decimals: Readonly<Record<string, number>> = { JPY: 0, USDC: 6 };

export function priceOf(chance: Choices, asset: string = chance.of(currencies)) {
  const whole = asset === "JPY" ? 100 + chance.below(20_000) : 1 + chance.below(200);
  const places = decimals[asset] ?? 2;
  const fraction = String(chance.below(10 ** places)).padStart(places, "0");
  return { amount: places === 0 ? `${whole}` : `${whole}.${fraction}`, asset };
}

async function made(shop: Shop, path: string, body: unknown): Promise<string> {
  const { status, body: answer } = await shop.call("POST", path, body);
  if (status !== 201)
    throw new Error(`${path}: ${status} ${JSON.stringify(answer)} of ${JSON.stringify(body)}`);
  return answer.id;
}

export function productOf(shop: Shop, chance: Choices, sku: string): Promise<string> {
  return made(shop, "/v1/catalog/products", { sku, name: "Coffee", prices: [priceOf(chance, "USD")] });
}

function lifeOf(id: string, payer: Payer, acts: Acts, chance: Choices): Life {
  return {
    id,
    payer,
    async act() {
      if (chance.chance(0.5)) await payer.act();
      else await acts[chance.of(Object.keys(acts))]?.();
    },
  };
}

const linesOf = (chance: Choices, currency: string) =>
  Array.from({ length: 1 + chance.below(3) }, (_, i) => ({
    name: `line ${i}`,
    unitPrice: priceOf(chance, currency),
    quantity: 1 + chance.below(4),
  }));

export async function invoiceLife(shop: Shop, chance: Choices): Promise<Life> {
  const currency = chance.of(currencies);
  const id = await made(shop, "/v1/invoices", {
    buyer: { name: "Ada", email: "ada@buyer.example" },
    currency,
    lines: linesOf(chance, currency),
    issue: chance.chance(0.8),
    sendEmail: chance.chance(0.5),
    daysUntilDue: chance.below(10),
  });
  const payer = payerOf(shop, chance);
  const post = (word: string) => shop.call("POST", `/v1/invoices/${id}/${word}`);
  const pay = () =>
    payer.begin({ checkout: `/v1/invoices/${id}/checkout`, agentUrl: `/x402/payables/${id}` });
  const dueAt = () => new Date(shop.now().getTime() + chance.below(20) * 86_400_000).toISOString();
  const acts = {
    pay,
    payAgain: pay,
    payOnceMore: pay,
    issue: () => post("issue"),
    void: () => (chance.chance(0.4) ? post("void") : pay()),
    giveUp: () => (chance.chance(0.4) ? post("mark-uncollectible") : pay()),
    send: () => post("send"),
    list: () => post(chance.of(["list", "unlist"])),
    edit: () => shop.call("PATCH", `/v1/invoices/${id}`, { lines: linesOf(chance, currency) }),
    extend: () => shop.call("PATCH", `/v1/invoices/${id}`, { dueAt: dueAt() }),
    drop: () => shop.call("DELETE", `/v1/invoices/${id}`),
  };
  return lifeOf(id, payer, acts, chance);
}

/** The most that a link was ever allowed, while it was bounded; null when it was ever unbounded. */
export interface LinkLife extends Life {
  readonly most: () => number | null;
}

export async function linkLife(shop: Shop, chance: Choices, products: readonly string[]): Promise<LinkLife> {
  const kind = chance.of(["fixed", "cart", "open"] as const);
  const currency = kind === "cart" ? "USD" : chance.of(currencies);
  let most: number | null = chance.chance(0.8) ? 1 + chance.below(3) : null;
  const terms = {
    fixed: { amount: priceOf(chance, currency) },
    cart: {
      currency,
      lines: [{ productId: chance.of(products), quantity: 1 + chance.below(3) }],
    },
    open: { currency },
  };
  const later = () => new Date(shop.now().getTime() + (1 + chance.below(100_000)) * 1_000).toISOString();
  const id = await made(shop, "/v1/payment-links", {
    kind,
    ...terms[kind],
    ...(most !== null && { maxPayments: most }),
    ...(chance.chance(0.3) && { expiresAt: later() }),
  });
  const path = `/v1/payment-links/${id}`;
  const payer = payerOf(shop, chance);
  const pay = () => {
    const amount = kind === "open" ? priceOf(chance, currency) : null;
    const agentUrl = `/x402/payables/${id}${amount ? `?amount=${amount.amount}` : ""}`;
    return payer.begin({ checkout: `${path}/checkout`, agentUrl }, amount ? { amount } : {});
  };
  const acts = {
    pay,
    payAgain: pay,
    payOnceMore: pay,
    switch: () => shop.call("POST", `${path}/${chance.of(["disable", "enable", "enable"])}`),
    list: () => shop.call("POST", `${path}/${chance.of(["list", "unlist"])}`),
    price: () =>
      shop.call("PATCH", `/v1/catalog/products/${chance.of(products)}`, {
        prices: [priceOf(chance, "USD")],
        active: chance.chance(0.8),
      }),
    expire: () => shop.call("PATCH", path, { expiresAt: chance.of([null, later()]) }),
    async bound() {
      const maxPayments = 1 + chance.below(4);
      const { status } = await shop.call("PATCH", path, { maxPayments });
      if (status === 200 && most !== null) most = Math.max(most, maxPayments);
    },
  };
  return { ...lifeOf(id, payer, acts, chance), most: () => most };
}

/** A pause, until null while it lasts. */
export interface Pause {
  readonly from: Date;
  until: Date | null;
}

export interface SubscriptionLife extends Life {
  readonly pauses: readonly Pause[];
  readonly terms: {
    readonly interval: string;
    readonly intervalCount: number;
    readonly anchorAt: string;
    readonly maxCycles?: number;
  };
}

export async function subscriptionLife(shop: Shop, chance: Choices): Promise<SubscriptionLife> {
  const interval = chance.of(["day", "week", "month", "month", "month", "year"]);
  const anchor = new Date(shop.now().getTime() + chance.below(40 * 86_400) * 1_000);
  // Often at the end of a month.
  if (chance.chance(0.5)) anchor.setUTCMonth(anchor.getUTCMonth() + 1, 0);
  if (chance.chance(0.3)) anchor.setUTCHours(chance.of([0, 23]), chance.of([0, 59]), chance.of([0, 59]), 0);
  const [customer, currency] = [chance.below(3), chance.of(currencies)];
  const terms = {
    interval,
    intervalCount: chance.of([1, 1, 1, 2, 3]),
    anchorAt: new Date(Math.max(anchor.getTime(), shop.now().getTime())).toISOString(),
    ...(chance.chance(0.3) && { maxCycles: 1 + chance.below(4) }),
  };
  const id = await made(shop, "/v1/subscriptions", {
    customer: { name: "Ada", email: `ada${customer}@buyer.example` },
    description: "Hosting",
    amount: priceOf(chance, currency),
    daysUntilDue: chance.below(9),
    sendEmail: chance.chance(0.5),
    ...terms,
  });
  const path = `/v1/subscriptions/${id}`;
  const payer = payerOf(shop, chance);
  const pauses: Pause[] = [];
  const running = () => pauses.find(({ until }) => until === null);

  async function pay(): Promise<void> {
    const { body } = await shop.call("GET", path);
    if (body.cycles.length === 0) return;
    const invoice = chance.of<{ readonly id: string }>(body.cycles).id;
    const agentUrl = `/x402/payables/${invoice}`;
    await payer.begin({ checkout: `/v1/invoices/${invoice}/checkout`, agentUrl });
  }
  const acts = {
    pay,
    payAgain: pay,
    payOnceMore: pay,
    async pause() {
      const { body } = await shop.call("POST", `${path}/pause`, {});
      if (body.state === "paused" && !running()) pauses.push({ from: new Date(body.pausedAt), until: null });
    },
    async resume() {
      const before = (await shop.call("GET", path)).body.subscription;
      // It was paused by itself.
      if (before.state === "paused" && !running())
        pauses.push({ from: new Date(before.pausedAt), until: null });
      const { status } = await shop.call("POST", `${path}/resume`);
      const pause = running();
      if (status === 200 && pause) pause.until = shop.now();
    },
    change: () => shop.call("PATCH", path, { amount: priceOf(chance), daysUntilDue: chance.below(9) }),
    cancel: async () => {
      if (chance.chance(0.3))
        await shop.call("POST", `${path}/cancel`, {
          at: chance.of(["now", "period-end", "period-end"]),
          voidOpenInvoices: chance.chance(0.5),
        });
    },
  };
  return { ...lifeOf(id, payer, acts, chance), pauses, terms };
}
