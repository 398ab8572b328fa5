import { describe, expect, it } from "vitest";
import { address, hash } from "#kernel/bytes";
import type { Chain, MoneyLog } from "../../../../facilitator/chain/port.ts";
import { claimKey } from "../../../../facilitator/scheme/index.ts";
import { findUse } from "../../../../facilitator/settlement/verify/examine.ts";

const chainId = 8_453;
const one = (digit: string) => address(`0x${digit.repeat(40)}`);
const [token, payer, treasury, other] = [one("1"), one("3"), one("5"), one("7")];
const nonce = hash(`0x${"c".repeat(64)}`);
const key = claimKey({ chainId, nonceDomain: token, payer, nonce });
const block = { number: 7, hash: hash(`0x${"b".repeat(64)}`), parentHash: hash(`0x${"a".repeat(64)}`) };
const place = { token, txHash: hash(`0x${"d".repeat(64)}`), blockNumber: 7, blockHash: block.hash };
const spent = (event: "authorization-used" | "authorization-canceled", by = payer): MoneyLog => ({
  ...place,
  ...{ event, payer: by, nonce, logIndex: 1 },
});
const moved = (to = treasury, amount = 10n): MoneyLog => ({
  ...place,
  ...{ event: "transfer", from: payer, to, amount, logIndex: 2 },
});

/** What a used nonce was used for, where the chain has these logs; none where an endpoint names no block. */
async function useOf(logs: readonly MoneyLog[] | null, isFound = true) {
  const chain = {
    row: { chainId },
    findAuthorizationUse: async () => (isFound ? block : null),
    moneyLogs: async () => logs,
  } as unknown as Chain;
  const use = { token, payer, nonce, claimKey: key, amount: 10n, payTo: treasury, fromBlock: 0 };
  return (await findUse(chain, use)).kind;
}

describe("what a used nonce was used for", () => {
  it("to pay, where its use stands before the very transfer", async () => {
    expect(await useOf([spent("authorization-used"), moved()])).toBe("paid");
  });

  it("for something else, where it was cancelled, moved another amount, or moved it elsewhere", async () => {
    for (const logs of [
      [spent("authorization-canceled")],
      [spent("authorization-used")],
      [spent("authorization-used"), moved(treasury, 9n)],
      [spent("authorization-used"), moved(other)],
    ])
      expect(await useOf(logs)).toBe("elsewhere");
  });

  it("is not known by one endpoint's word: the block's own logs must show it", async () => {
    for (const logs of [null, [], [moved()], [spent("authorization-used", other), moved()]])
      expect(await useOf(logs)).toBe("not-found");
    expect(await useOf([spent("authorization-used"), moved()], false)).toBe("not-found");
  });
});
