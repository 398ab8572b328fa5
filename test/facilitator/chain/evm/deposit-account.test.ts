import { recoverAddress } from "viem";
import { HDKey, hdKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { hash } from "#kernel/bytes";
import { depositAccountOf } from "../../../../facilitator/chain/evm/index.ts";

const seed = Buffer.alloc(64, 7);
const digest = hash(`0x${"5a".repeat(32)}`);
/** viem's own walk down the same path, over private keys. */
const expected = (addressIndex: number) =>
  hdKeyToAccount(HDKey.fromMasterSeed(seed), { accountIndex: 1, changeIndex: 0, addressIndex });

describe("depositAccountOf", () => {
  it.each([0, 1, 2, 1_000_000, 2 ** 31 - 1])(
    "derives address %i as BIP-44 does, with and without keys",
    (index) => {
      const address = expected(index).address.toLowerCase();
      for (const canSign of [true, false]) {
        const account = depositAccountOf(seed, { canSign });
        expect(account.addressOf(index)).toBe(address);
        expect(account.addressOf(index)).toBe(address); // from memory
      }
    },
  );

  it("signs as the address of the index", async () => {
    const { sign, addressOf } = depositAccountOf(seed, { canSign: true });
    const signature = (await sign?.(3, digest)) ?? "0x";
    expect(signature).toHaveLength(2 + 130);
    expect((await recoverAddress({ hash: digest, signature })).toLowerCase()).toBe(addressOf(3));
    expect(signature).toBe(await expected(3).sign({ hash: digest }));
  });

  it("cannot sign where it may not", () => {
    expect(depositAccountOf(seed, { canSign: false }).sign).toBeNull();
  });

  it("gives other addresses for another seed", () => {
    const [one, other] = [seed, Buffer.alloc(64, 8)].map((each) =>
      depositAccountOf(each, { canSign: false }),
    );
    expect(one?.addressOf(0)).not.toBe(other?.addressOf(0));
  });

  it.each([-1, 0.5, 2 ** 31, Number.NaN])("has no address %d", (index) => {
    expect(() => depositAccountOf(seed, { canSign: false }).addressOf(index)).toThrow("below 2^31");
  });
});
