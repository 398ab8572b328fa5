/** One payment's life: what its merchant, its payer and the world do to it, by chance. */
import { type Address, address, checksum, fromBytes, hash } from "#kernel/bytes";
import { keccak256 } from "#kernel/keccak";
import { tokens } from "../../simulation/world.ts";
import { authorize } from "../../support/authorization.ts";
import type { Choices } from "./random.ts";
import type { Shop } from "./shop.ts";

type Path = "deposit-match" | "on-chain-contract" | "x402";

export interface Life {
  /** Does one thing. */
  act(): Promise<void>;
  /** Resolves when what an agent was waiting for has been answered. */
  answered(): Promise<unknown>;
}

/** A payer who never runs out. */
const RICH = 10n ** 15n;

export async function beginLife(shop: Shop, chance: Choices): Promise<Life> {
  const path = chance.of<Path>(["deposit-match", "deposit-match", "on-chain-contract", "x402"]);
  const cents = 100 + chance.below(100_000);
  const made = await shop.call("POST", "/v1/payment-intents", {
    amount: { amount: (cents / 100).toFixed(2), asset: "USD" },
    executionPath: path,
    payment: { chain: "local", asset: "USDC" },
  });
  if (made.status !== 201) throw new Error(`an intent: ${made.status} ${JSON.stringify(made.body)}`);
  const id = String(made.body.id);
  const due = BigInt(cents) * 10_000n;
  const payer = shop.world.payer(tokens.USDC, RICH);
  shop.world.sim.mint(tokens.EURC, payer.address, RICH);
  const waiting: Promise<unknown>[] = [];
  let depositAddress: Address | null = null;
  let refunds: string[] = [];

  async function confirm(): Promise<void> {
    const { status, body } = await shop.call("POST", `/v1/payment-intents/${id}/confirm`);
    if (status === 200 && path === "deposit-match" && body.deposit)
      depositAddress = address(body.deposit.address);
  }

  function pay(token: Address, amount: bigint): void {
    const { sim, row } = shop.world;
    if (path === "on-chain-contract") {
      sim.route({
        token,
        payer: payer.address,
        payTo: row.treasury,
        amount,
        paymentRef: hash(fromBytes(keccak256(Buffer.from(id)))),
      });
    } else if (depositAddress) sim.transfer(token, payer.address, depositAddress, amount);
  }

  async function payAsAgent(): Promise<void> {
    const { chain } = shop.world.sim;
    const { timestamp } = await chain.head();
    const terms = {
      to: checksum(shop.world.row.treasury),
      value: due,
      validAfter: 0n,
      validBefore: BigInt(timestamp + 300),
    };
    const domain = { name: "USDC", version: "2", chainId: chain.row.chainId, verifyingContract: tokens.USDC };
    const { signature, nonce } = await authorize({ domain, key: payer.key, ...terms });
    const accepted = {
      scheme: "exact",
      network: chain.row.network,
      amount: `${due}`,
      asset: checksum(tokens.USDC),
      payTo: terms.to,
      maxTimeoutSeconds: 300,
      extra: { name: "USDC", version: "2" },
    };
    const authorization = {
      from: checksum(payer.address),
      to: terms.to,
      value: `${due}`,
      validAfter: "0",
      validBefore: `${terms.validBefore}`,
      nonce,
    };
    const paymentPayload = {
      x402Version: 2,
      resource: { url: `http://farebox.test/x402/payables/${id}` },
      accepted,
      payload: { signature, authorization },
    };
    waiting.push(shop.ask("/x402/settle", { x402Version: 2, paymentPayload, paymentRequirements: accepted }));
  }

  async function payByChance(): Promise<void> {
    if (path === "x402") return payAsAgent();
    const part = (due * BigInt(1 + chance.below(98))) / 100n;
    const amount = path === "on-chain-contract" ? due : chance.of([due, due, due, part, part, due + part]);
    pay(path === "deposit-match" && chance.chance(0.05) ? tokens.EURC : tokens.USDC, amount);
  }

  const acts: Readonly<Record<string, () => Promise<unknown>>> = {
    confirm,
    pay: payByChance,
    cancel: () => shop.call("POST", `/v1/payment-intents/${id}/cancel`),
    retry: () => shop.call("POST", `/v1/payments/${id}/retry`),
    review: () =>
      shop.call("POST", `/v1/payments/${id}/review`, { action: chance.of(["accept", "return", "extend"]) }),
    async refund() {
      const part = { amount: `${1 + chance.below(5)}.00`, asset: "USD" };
      const body = chance.chance(0.5) ? { amount: part } : {};
      const made = await shop.call("POST", `/v1/payments/${id}/refunds`, body);
      if (made.status === 201) refunds.push(made.body.id);
    },
    async takeBack() {
      for (const refund of refunds) await shop.call("POST", `/v1/refunds/${refund}/cancel`);
      refunds = [];
    },
    read: () => shop.call("GET", `/v1/payments/${id}`),
  };
  const likely = [
    "pay",
    "pay",
    "pay",
    "confirm",
    "refund",
    "refund",
    "review",
    "retry",
    "read",
    "takeBack",
    "cancel",
  ];

  // Most are confirmed at once, as a checkout does; the rest by chance or never.
  if (chance.chance(0.9)) await confirm();
  return {
    act: async () => {
      await acts[chance.of(likely)]?.();
    },
    answered: () => Promise.all(waiting),
  };
}
