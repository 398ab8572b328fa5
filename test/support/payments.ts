/** A merchant who asks to be paid, and payers who pay: intents and their payments over HTTP. */
import { randomBytes } from "node:crypto";
import { address, type Hash, type Hex, hash } from "#kernel/bytes";
import type { Clock } from "#kernel/clock";
import { systemClock } from "#kernel/system";
import { paymentRefOf } from "../../api/clearing/orders.ts";
import { lockPayment } from "../../api/clearing/verbs/payment.ts";
import type { TestDatabase } from "./db.ts";
import { transferData } from "./deposits.ts";
import type { DevChain } from "./dev-chain.ts";
import { newMerchant, newPayer, type Payer, type RunningHouse, until } from "./house.ts";
import { payOrder } from "./router.ts";
import { shared } from "./shared.ts";

export interface PaymentPlace extends RunningHouse {
  readonly dev: DevChain;
  readonly database: TestDatabase;
}

/** The machine's clock, set forward as far as a test wants. */
export interface MovableClock extends Clock {
  forward(ms: number): void;
}
export function movableClock(): MovableClock {
  let offset = 0;
  return {
    ...systemClock,
    now: () => new Date(systemClock.now().getTime() + offset),
    forward(ms) {
      offset += ms;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: an answer off the wire, compared whole by the tests
type Body = any;
export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Intents of 10 dollars unless told otherwise; the merchant's fee is 50 basis points. */
export async function newSeller(place: PaymentPlace, { feeBps = 50 } = {}) {
  const merchant = await newMerchant(place, feeBps);
  const ask = async (method: string, path: string, body?: unknown, headers = {}): Promise<Told> => {
    const response = await merchant.call(path, {
      method,
      headers: { "Idempotency-Key": randomBytes(8).toString("hex"), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const must = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const told = await ask(method, path, body);
    if (told.status >= 300) throw new Error(`${method} ${path}: ${told.status} ${JSON.stringify(told.body)}`);
    return told.body;
  };
  const read = (id: string): Promise<Body> => must("GET", `/v1/payments/${id}`);
  return {
    ...merchant,
    ask,
    must,
    read,
    intent: (body: Record<string, unknown> = {}): Promise<Body> =>
      must("POST", "/v1/payment-intents", { amount: { amount: "10.00", asset: "USD" }, ...body }),
    confirm: (id: string, body?: unknown): Promise<Body> =>
      must("POST", `/v1/payment-intents/${id}/confirm`, body),
    /** A confirmed intent: its position. */
    async asked(body: Record<string, unknown> = {}): Promise<Body> {
      const { id } = await this.intent(body);
      return this.confirm(id);
    },
    cancel: (id: string) => ask("POST", `/v1/payment-intents/${id}/cancel`),
    retry: (id: string) => ask("POST", `/v1/payments/${id}/retry`),
    review: (id: string, body: unknown) => ask("POST", `/v1/payments/${id}/review`, body),
    /** Waits for a state; gives the position. */
    async reaches(id: string, state: string): Promise<Body> {
      await until(async () => (await read(id)).clearing?.state === state, `${id} is ${state}`);
      return read(id);
    },
    async available(): Promise<string | undefined> {
      const [line] = await must("GET", "/v1/balances");
      return line?.available.amount;
    },
  };
}
export type Seller = Awaited<ReturnType<typeof newSeller>>;

/** One for all tests of the file. */
export function sharedSeller(place: PaymentPlace): Seller {
  return shared(() => newSeller(place));
}

/** Sends so many atomic units to the address that a position shows; a fresh payer unless one is given. */
export async function sendTo(
  place: PaymentPlace,
  to: string,
  amount: bigint,
  { payer, token = place.dev.usdc }: { readonly payer?: Payer; readonly token?: string } = {},
): Promise<{ readonly txHash: Hash; readonly payer: Payer }> {
  const from = payer ?? (await newPayer(place.dev, 0n));
  await place.dev.administer("mint", [from.address, amount], address(token));
  await place.dev.anvil.rpc("anvil_setBalance", [from.address, "0xde0b6b3a7640000"]);
  const data = transferData(address(to), amount);
  return { txHash: hash(await place.dev.transact(from.address, { to: token, data })), payer: from };
}

/** While `work` runs the loop leaves the intent alone, as it does with what somebody else has in hand. */
export async function heldBack<T>(
  { database }: PaymentPlace,
  { merchantId, id }: { readonly merchantId: string; readonly id: string },
  work: (letGo: () => void) => Promise<T>,
): Promise<T> {
  let letGo = () => {};
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let isHeld = () => {};
  const held = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  const holding = database.db.tx(async (tx) => {
    await lockPayment(tx, merchantId, id);
    isHeld();
    await released;
  });
  await Promise.race([held, holding]);
  try {
    return await work(letGo);
  } finally {
    letGo();
    await holding;
  }
}

/** So many wait for the lock of an intent in this database, as callers do; what hears of money waits for a clearing's.
 *  Those of other tests are on the same server, with locks of their own. */
export async function isIntentAwaited({ database }: PaymentPlace, by = 1): Promise<boolean> {
  const waiting = await database.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND query LIKE '%from "payment_intent"%for update%'`,
  );
  return waiting.length >= by;
}

/** Pays a confirmed order through the router, as the signed order of its page says. */
export async function routeOrder({ dev, database }: PaymentPlace, position: Body) {
  const [order] = await database.query<{
    amount: string;
    token: string;
    pay_to: string;
    signature: Hex;
    expires_at: Date;
  }>("SELECT amount, token, pay_to, signature, expires_at FROM clearing_order WHERE id = $1", [
    position.clearing.providerReference,
  ]);
  if (!order) throw new Error("the position has no order");
  const payer = await newPayer(dev, BigInt(order.amount));
  const terms = {
    paymentRef: paymentRefOf(position.paymentIntent.id),
    token: address(order.token),
    payTo: address(order.pay_to),
    amount: BigInt(order.amount),
    deadline: BigInt(order.expires_at.getTime() / 1000),
  };
  return { payer, txHash: await payOrder(dev, payer.address, { order: terms, signature: order.signature }) };
}

/** Where a clearing has been whose money came as it should. */
export const statesToSettled = [
  "created",
  "awaiting-funds",
  "funds-detected",
  "funds-received",
  "settling",
  "settled",
];

/** States of the timeline, in their order; what happened beside in brackets. */
export function statesOf(position: Body): readonly string[] {
  return position.timeline.map(({ state, from }: { state: string; from: string | null }) =>
    state === from ? `(${state})` : state,
  );
}

/** Everything that was told of a payment, without the facilitator's own. */
export async function toldOf(database: TestDatabase, ...ids: readonly string[]): Promise<readonly string[]> {
  const rows = await database.query<{ type: string }>(
    "SELECT type FROM outbox WHERE subject = ANY($1) AND type LIKE 'payment.%' ORDER BY occurred_at, id",
    [ids],
  );
  return rows.map(({ type }) => type);
}
