import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Address, address, type Hash, hash } from "#kernel/bytes";
import type { MoneyLog } from "../../../../facilitator/chain/port.ts";
import { claimKey } from "../../../../facilitator/scheme/index.ts";
import { pairTransfers, spentKeys } from "../../../../facilitator/settlement/observer/pairing.ts";

const chainId = 8_453;
const one = (digit: string) => address(`0x${digit.repeat(40)}`);
const word = (digit: string) => hash(`0x${digit.repeat(64)}`);
const [token, otherToken, payer, other, treasury] = [one("1"), one("2"), one("3"), one("4"), one("5")];

interface Place {
  readonly logIndex: number;
  readonly token?: Address;
  readonly txHash?: Hash;
}
const placed = ({ logIndex, ...over }: Place) => ({
  token,
  txHash: word("a"),
  blockNumber: 7,
  blockHash: word("b"),
  ...over,
  logIndex,
});
const used = (place: Place, nonce = word("c"), by = payer): MoneyLog => ({
  ...placed(place),
  event: "authorization-used",
  payer: by,
  nonce,
});
const cancelled = (place: Place, nonce = word("c")): MoneyLog => ({
  ...placed(place),
  event: "authorization-canceled",
  payer,
  nonce,
});
const moved = (place: Place, from = payer, to = treasury): MoneyLog => ({
  ...placed(place),
  event: "transfer",
  from,
  to,
  amount: 10n,
});
const keyOf = (nonce = word("c"), by = payer, of = token) =>
  claimKey({ chainId, nonceDomain: of, payer: by, nonce });
const keys = (logs: readonly MoneyLog[]) =>
  pairTransfers(chainId, logs).map(({ authorizationKey }) => authorizationKey);

describe("the proof of payment", () => {
  it("is a use and, right behind it, the transfer of its payer, by one token in one transaction", () => {
    expect(keys([used({ logIndex: 4 }), moved({ logIndex: 5 })])).toEqual([keyOf()]);
  });

  it.each<[string, readonly MoneyLog[]]>([
    ["a transfer without a use", [moved({ logIndex: 5 })]],
    ["a use after the transfer", [moved({ logIndex: 4 }), used({ logIndex: 5 })]],
    ["something between the two", [used({ logIndex: 3 }), moved({ logIndex: 5 })]],
    ["another token's use", [used({ logIndex: 4, token: otherToken }), moved({ logIndex: 5 })]],
    ["another payer's use", [used({ logIndex: 4 }, word("c"), other), moved({ logIndex: 5 })]],
    ["another transaction's use", [used({ logIndex: 4, txHash: word("d") }), moved({ logIndex: 5 })]],
    ["a cancellation before it", [cancelled({ logIndex: 4 }), moved({ logIndex: 5 })]],
  ])("is not: %s", (_, logs) => {
    expect(keys(logs)).toEqual([null]);
  });

  it("serves one transfer: the second behind one use proves nothing", () => {
    expect(keys([used({ logIndex: 4 }), moved({ logIndex: 5 }), moved({ logIndex: 6 })])).toEqual([
      keyOf(),
      null,
    ]);
  });

  it("finds every payment of a batch, each with its own key", () => {
    const nonces = fc.uniqueArray(
      fc
        .uint8Array({ minLength: 32, maxLength: 32 })
        .map((bytes) => hash(`0x${Buffer.from(bytes).toString("hex")}`)),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(nonces, (batch) => {
        const logs = batch.flatMap((nonce, i) => [
          used({ logIndex: 2 * i }, nonce),
          moved({ logIndex: 2 * i + 1 }),
        ]);
        expect(keys(logs)).toEqual(batch.map((nonce) => keyOf(nonce)));
        expect(spentKeys(chainId, logs, pairTransfers(chainId, logs))).toEqual([]);
      }),
    );
  });
});

describe("a payment through the router", () => {
  const routed = (
    place: Place,
    over: { payTo?: Address; amount?: bigint; payer?: Address } = {},
  ): MoneyLog => ({
    ...placed(place),
    ...{ event: "routed", paymentRef: word("e"), payer, payTo: treasury, amount: 10n },
    ...over,
  });
  const references = (logs: readonly MoneyLog[]) =>
    pairTransfers(chainId, logs).map(({ paymentRef }) => paymentRef);

  it("is a transfer and, behind it in its transaction, what the router says of it", () => {
    expect(references([moved({ logIndex: 4 }), routed({ logIndex: 5 })])).toEqual([word("e")]);
    // a token may tell more than its transfer
    expect(references([moved({ logIndex: 4 }), routed({ logIndex: 7 })])).toEqual([word("e")]);
  });

  it.each<[string, readonly MoneyLog[]]>([
    ["a transfer alone", [moved({ logIndex: 4 })]],
    ["what was said before it", [routed({ logIndex: 3 }), moved({ logIndex: 4 })]],
    ["another transaction's", [moved({ logIndex: 4 }), routed({ logIndex: 5, txHash: word("d") })]],
    ["another token's", [moved({ logIndex: 4 }), routed({ logIndex: 5, token: otherToken })]],
    ["another payer's", [moved({ logIndex: 4 }), routed({ logIndex: 5 }, { payer: other })]],
    ["another payee's", [moved({ logIndex: 4 }), routed({ logIndex: 5 }, { payTo: other })]],
    ["another amount's", [moved({ logIndex: 4 }), routed({ logIndex: 5 }, { amount: 9n })]],
  ])("is not: %s", (_, logs) => {
    expect(references(logs)).toEqual([null]);
  });

  it("names the last transfer before it, and that one only", () => {
    const logs = [moved({ logIndex: 4 }), moved({ logIndex: 5 }), routed({ logIndex: 6 })];
    expect(references(logs)).toEqual([null, word("e")]);
  });
});

describe("the rank of a transfer", () => {
  it("counts those of its transaction to its recipient", () => {
    const logs = [
      moved({ logIndex: 1 }),
      moved({ logIndex: 2 }, payer, other),
      moved({ logIndex: 3, token: otherToken }),
      moved({ logIndex: 4, txHash: word("d") }),
    ];
    expect(pairTransfers(chainId, logs).map(({ ordinal }) => ordinal)).toEqual([0, 0, 1, 0]);
  });

  it("is not given to a transfer of nothing, nor to one from an account to itself: they are none", () => {
    const nothing = { ...moved({ logIndex: 1 }), amount: 0n } as MoneyLog;
    const nowhere = { ...moved({ logIndex: 2 }), from: treasury, to: treasury } as MoneyLog;
    expect(pairTransfers(chainId, [nothing, nowhere, moved({ logIndex: 3 })])).toMatchObject([
      { logIndex: 3, ordinal: 0 },
    ]);
  });
});

describe("a nonce that was spent without paying us", () => {
  const spent = (logs: readonly MoneyLog[]) => spentKeys(chainId, logs, pairTransfers(chainId, logs));

  it("is one that was cancelled, or used with no transfer that we look at", () => {
    expect(spent([cancelled({ logIndex: 1 }, word("e")), used({ logIndex: 2 }, word("f"))])).toEqual([
      keyOf(word("e")),
      keyOf(word("f")),
    ]);
  });

  it("is not one that the router tells of: that spends no authorization", () => {
    const order = { event: "routed" as const, paymentRef: word("d"), payTo: treasury, amount: 5n };
    const logs = [moved({ logIndex: 1 }), { ...moved({ logIndex: 2 }), ...order, payer }];
    expect(spent(logs)).toEqual([]);
    expect(pairTransfers(chainId, logs)).toMatchObject([{ logIndex: 1, authorizationKey: null }]);
  });

  it("is not one whose transfer stands behind it", () => {
    expect(spent([used({ logIndex: 1 }), moved({ logIndex: 2 })])).toEqual([]);
  });
});
