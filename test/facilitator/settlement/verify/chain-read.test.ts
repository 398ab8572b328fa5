import { describe, expect, it } from "vitest";
import { address, type Hash, type Hex, hash } from "#kernel/bytes";
import { fault } from "#kernel/fault";
import type { AuthorizationRead, AuthorizationState, Chain } from "../../../../facilitator/chain/port.ts";
import { authorizationReader, readApart } from "../../../../facilitator/settlement/verify/chain-read.ts";

const token = address(`0x${"1".repeat(40)}`);
const lane = address(`0x${"9".repeat(40)}`);
const delegated = address(`0x${"77".padStart(40, "0")}`);
const hex = (number: number, bytes: number) => `0x${number.toString(16).padStart(2 * bytes, "0")}`;

type Item = AuthorizationRead & { readonly claimKey: Hash };

/** A payer's authorization number `nonce`. */
function item(payer: number, nonce: number, data: Hex = "0x01"): Item {
  return {
    claimKey: hash(hex(1_000 * payer + nonce, 32)),
    token,
    payer: address(hex(payer, 20)),
    nonce: hash(hex(nonce, 32)),
    transfer: { to: token, data },
  };
}

const passes: AuthorizationState = {
  block: { number: 1, timestamp: 1, baseFeePerGas: 1n },
  balance: 10n,
  used: false,
  transfer: { ok: true, data: "0x" },
};
const fails: AuthorizationState = {
  ...passes,
  transfer: { ok: false, revert: "insufficient-balance", data: "0x" },
};

/** A chain that remembers what it was asked, and judges by the given rule. */
function chainThat(judge: (items: readonly AuthorizationRead[]) => readonly AuthorizationState[]) {
  const asked: (readonly AuthorizationRead[])[] = [];
  const chain = {
    async readAuthorizations(_from: string, items: readonly AuthorizationRead[]) {
      asked.push(items);
      return judge(items);
    },
    haveCode: async (accounts: readonly string[]) => accounts.map((account) => account === delegated),
    simulate: async () => [burns.transfer],
  } as unknown as Chain;
  return { asked, chain, read: authorizationReader(chain, lane, async () => {}) };
}
const burns: AuthorizationState = { ...fails, transfer: { ok: false, revert: "out-of-gas", data: "0x" } };
/** Who stands behind somebody whose code burns the gas of a call has none. */
const burntBy = (items: readonly AuthorizationRead[]) => {
  const burning = items.findIndex(({ payer }) => payer === delegated);
  return items.map((_, i) => (burning >= 0 && i >= burning ? burns : passes));
};

/** Every payer has the money for one payment: in a group only its first passes. */
const oneEach = (items: readonly AuthorizationRead[]) =>
  items.map(({ payer }, i) => (items.findIndex((other) => other.payer === payer) === i ? passes : fails));

describe("reading authorizations against the chain", () => {
  it("tells of each payer whether there is code at the account, and nothing more where there is", async () => {
    const { read } = chainThat((items) => items.map(() => passes));
    expect(await Promise.all([read(item(1, 1)), read(item(0x77, 1))])).toEqual([
      { ...passes, payerHasCode: false },
      { payerHasCode: true },
    ]);
  });

  it("nobody's code burns the gas of others, or of the whole call", async () => {
    const whole = (items: readonly AuthorizationRead[]) => {
      if (items.some(({ payer }) => payer === delegated) && items.length > 1)
        throw fault("chain_unavailable", { chain: "base" });
      return burntBy(items);
    };
    for (const judge of [burntBy, whole]) {
      const { read, chain } = chainThat(judge);
      const items = [item(1, 1), item(0x77, 1), item(2, 1)];
      expect(await Promise.all(items.map(read))).toMatchObject([passes, { payerHasCode: true }, passes]);
      expect(await readApart(chain, lane, items)).toMatchObject([passes, burns, passes]);
    }
  });

  it("a hundred callers at once cost two calls at most", async () => {
    const { asked, read } = chainThat((items) => items.map(() => passes));
    const states = await Promise.all(Array.from({ length: 100 }, (_, i) => read(item(i + 1, 1))));
    expect(states).toMatchObject(Array(100).fill(passes));
    expect(asked.length).toBeLessThanOrEqual(2);
  });

  it("repetitions of one authorization share one place, and get one answer", async () => {
    const { asked, read } = chainThat((items) => items.map(() => passes));
    await Promise.all(Array.from({ length: 50 }, () => read(item(1, 1))));
    expect(asked.flat()).toHaveLength(1);
  });

  it("another signature of the same authorization is judged for itself", async () => {
    const { read } = chainThat((items) =>
      items.map(({ transfer }) => (transfer.data === "0x01" ? passes : fails)),
    );
    expect(await Promise.all([read(item(1, 1, "0x01")), read(item(1, 1, "0x02"))])).toMatchObject([
      passes,
      fails,
    ]);
  });

  it("an item that failed behind another of its payer is judged again, without it", async () => {
    const { asked, read } = chainThat(oneEach);
    expect(await Promise.all([read(item(1, 1)), read(item(1, 2))])).toMatchObject([passes, passes]);
    expect(asked.map(({ length }) => length)).toEqual([2, 1]);
  });

  it("an item that fails at the head of its payer's is not asked about twice", async () => {
    const { asked, read } = chainThat((items) => items.map(() => fails));
    expect(await read(item(1, 1))).toMatchObject(fails);
    expect(asked).toHaveLength(1);
  });

  it("a payer's flood is judged in a few rounds, not in one per item", async () => {
    const { asked, read } = chainThat((items) => items.map(() => fails));
    await Promise.all(Array.from({ length: 30 }, (_, i) => read(item(1, i))));
    expect(asked.length).toBeLessThanOrEqual(4);
  });

  it("an outage reaches everybody who waited, and is forgotten with them", async () => {
    let isDown = true;
    const { read } = chainThat((items) => {
      if (isDown) throw fault("chain_unavailable", { chain: "base" });
      return items.map(() => passes);
    });
    const outcomes = await Promise.allSettled([read(item(1, 1)), read(item(1, 1)), read(item(2, 1))]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    isDown = false;
    expect(await read(item(1, 1))).toMatchObject(passes);
  });

  it("an endpoint that answers for fewer than it was asked is no answer", async () => {
    const { read } = chainThat((items) => items.slice(1).map(() => passes));
    await expect(read(item(1, 1))).rejects.toThrow("fewer authorizations");
  });
});
