import { describe, expect, it } from "vitest";
import { accountsOf } from "../../src/open-chain.ts";

const masterSecret = "the master secret of several processes";

describe("accountsOf", () => {
  it("is the same operator and the same deposit addresses in every role, but ROLE=web moves no deposit", () => {
    const [all, worker, web] = (["all", "worker", "web"] as const).map((role) =>
      accountsOf({ masterSecret, role }),
    );
    for (const other of [worker, web]) {
      expect(other?.operator.address).toBe(all?.operator.address);
      expect(other?.depositAccount.addressOf(7)).toBe(all?.depositAccount.addressOf(7));
    }
    expect([all, worker, web].map((accounts) => accounts?.depositAccount.sign !== null)).toEqual([
      true,
      true,
      false,
    ]);
  });
});
