/** Who pays what lives ask for, and what merchants do with the payments: by chance. */
import { type Address, address, checksum, fromBytes, hash } from "#kernel/bytes";
import { keccak256 } from "#kernel/keccak";
import { tokens } from "../../simulation/world.ts";
import { authorize } from "../../support/authorization.ts";
import { type Choices, choices } from "../payments/random.ts";
import type { Shop } from "../payments/shop.ts";

/** A payer who never runs out. */
const RICH = 10n ** 15n;

/** An intent that was begun. */
interface Begun {
  readonly id: string;
  readonly path: string;
  /** Where to send how much of what; null until it is confirmed. */
  order: { readonly to: Address; readonly amount: bigint; readonly token: Address } | null;
}

export interface Payer {
  /** Begins to pay what can be paid at this path; an agent pays it at once. */
  begin(at: { readonly checkout: string; readonly agentUrl: string }, body?: object): Promise<void>;
  payAsAgent(url: string): Promise<void>;
  /** Does one thing to a payment that was begun. */
  act(): Promise<void>;
  answered(): Promise<unknown>;
}

export function payerOf(shop: Shop, chance: Choices = choices(1)): Payer {
  const { sim, row } = shop.world;
  const wallet = shop.world.payer(tokens.USDC, RICH);
  sim.mint(tokens.EURC, wallet.address, RICH);
  const begun: Begun[] = [];
  const waiting: Promise<unknown>[] = [];
  let refunds: string[] = [];

  async function confirm(payment: Begun): Promise<void> {
    const { status, body } = await shop.call("POST", `/v1/payment-intents/${payment.id}/confirm`);
    if (status !== 200 || !body.clearing) return;
    const { sourceAmount } = body.clearing;
    const amount = BigInt(sourceAmount.amount.replace(".", ""));
    const token = tokens[sourceAmount.asset as keyof typeof tokens];
    if (payment.path === "on-chain-contract") payment.order = { to: row.treasury, amount, token };
    else if (body.deposit) payment.order = { to: address(body.deposit.address), amount, token };
  }

  async function pay({ id, path, order }: Begun): Promise<void> {
    if (!order) return;
    const { to, amount: due, token } = order;
    const part = (due * BigInt(1 + chance.below(98))) / 100n + 1n;
    if (path === "on-chain-contract") {
      const paymentRef = hash(fromBytes(keccak256(Buffer.from(id))));
      sim.route({ token, payer: wallet.address, payTo: to, amount: due, paymentRef });
    } else {
      const amount = chance.of([due, due, due, due, part, due - part + 1n, due + part]);
      const other = token === tokens.USDC ? tokens.EURC : tokens.USDC;
      sim.transfer(chance.chance(0.05) ? other : token, wallet.address, to, amount);
    }
  }

  async function payAsAgent(url: string): Promise<void> {
    const seen = await shop.visit(url);
    const asked = seen.headers.get("payment-required");
    if (seen.status !== 402 || !asked) return;
    const { accepts, resource } = JSON.parse(Buffer.from(asked, "base64").toString("utf8"));
    const accepted = chance.of<Accepted>(accepts);
    const { chain } = sim;
    const { timestamp } = await chain.head();
    const terms = {
      to: accepted.payTo,
      value: BigInt(accepted.amount),
      validAfter: 0n,
      validBefore: BigInt(timestamp + 300),
    };
    const domain = {
      ...accepted.extra,
      chainId: chain.row.chainId,
      verifyingContract: address(accepted.asset.toLowerCase()),
    };
    const { signature, nonce } = await authorize({ domain, key: wallet.key, ...terms });
    const authorization = {
      from: checksum(wallet.address),
      to: terms.to,
      value: accepted.amount,
      validAfter: "0",
      validBefore: `${terms.validBefore}`,
      nonce,
    };
    const payment = { x402Version: 2, resource, accepted, payload: { signature, authorization } };
    const header = Buffer.from(JSON.stringify(payment)).toString("base64");
    waiting.push(shop.visit(url, { method: "POST", headers: { "payment-signature": header } }));
    // What it waits for comes with the next turn.
    await new Promise((resolve) => setImmediate(resolve));
  }

  async function refund({ id }: Begun): Promise<void> {
    const { body } = await shop.call("GET", `/v1/payments/${id}`);
    const settled = body.clearing?.settlementAmount;
    const price = body.paymentIntent?.amount;
    if (!settled) return;
    const part = (of: { amount: string; asset: string }) => ({
      ...of,
      amount: scaled(of.amount, 1 + chance.below(99)),
      formatted: undefined,
      display: undefined,
    });
    const amount = chance.of([null, null, part(settled), part(price), part(price)]);
    const made = await shop.call("POST", `/v1/payments/${id}/refunds`, amount ? { amount } : {});
    if (made.status !== 201) return;
    refunds.push(made.body.id);
    if (made.body.state === "requires-destination")
      await shop.call("POST", `/v1/refunds/${made.body.id}/destination`, {
        address: checksum(wallet.address),
      });
  }

  const acts: Readonly<Record<string, (payment: Begun) => Promise<unknown>>> = {
    confirm,
    pay,
    cancel: ({ id }) => shop.call("POST", `/v1/payment-intents/${id}/cancel`),
    refund,
    retry: ({ id }) => shop.call("POST", `/v1/payments/${id}/retry`),
    async review({ id }) {
      const action = chance.of(["accept", "return", "extend"]);
      const destination = action === "return" ? { destination: checksum(wallet.address) } : {};
      await shop.call("POST", `/v1/payments/${id}/review`, { action, ...destination });
    },
    async takeBack() {
      for (const id of refunds) await shop.call("POST", `/v1/refunds/${id}/cancel`);
      refunds = [];
    },
  };
  const likely = "pay pay pay pay confirm refund refund review retry takeBack cancel".split(" ");

  return {
    async begin({ checkout, agentUrl }, body = {}) {
      const path = chance.of(["deposit-match", "deposit-match", "on-chain-contract", "agent"]);
      if (path === "agent") return payAsAgent(agentUrl);
      const asset = chance.of(["USDC", "USDC", "EURC"]);
      const wishes = { executionPath: path, payment: { chain: "local", asset } };
      const { status, body: made } = await shop.ask(checkout, { ...wishes, ...body });
      if (status !== 201) return;
      const payment: Begun = { id: made.id, path, order: null };
      begun.push(payment);
      if (chance.chance(0.9)) await confirm(payment);
    },
    payAsAgent,
    async act() {
      if (begun.length > 0) await acts[chance.of(likely)]?.(chance.of(begun));
    },
    answered: () => Promise.all(waiting),
  };
}

interface Accepted {
  readonly payTo: Address;
  readonly amount: string;
  readonly asset: string;
  readonly extra: { readonly name: string; readonly version: string };
}

/** So many percent of a decimal, with as many decimals; a unit more than nothing. */
function scaled(text: string, percent: number): string {
  const [whole = "0", fraction = ""] = text.split(".");
  const digits = String((BigInt(whole + fraction) * BigInt(percent)) / 100n + 1n).padStart(
    fraction.length + 1,
    "0",
  );
  return fraction === "" ? digits : `${digits.slice(0, -fraction.length)}.${digits.slice(-fraction.length)}`;
}
