import { describe, expect, it } from "vitest";
import { address } from "#kernel/bytes";
import { defaultDestination, type Origin } from "../../../api/refund/destination.ts";

const [sender, other] = [address(`0x${"bb".repeat(20)}`), address(`0x${"cc".repeat(20)}`)];
const deposit: Origin = { executionPath: "deposit-match", senders: [sender], declared: null };

describe("where a refund goes by itself", () => {
  it.each(["x402", "on-chain-contract"] as const)("%s: to who signed", (executionPath) => {
    expect(defaultDestination({ ...deposit, executionPath, declared: other })).toEqual({ to: sender });
    expect(defaultDestination({ ...deposit, executionPath, senders: [] })).toBeNull();
  });

  it("deposit-match: to the sender that was named before; another one is asked for its code", () => {
    expect(defaultDestination({ ...deposit, declared: sender })).toEqual({ to: sender });
    expect(defaultDestination({ ...deposit, declared: other })).toEqual({ ask: sender });
    expect(defaultDestination(deposit)).toEqual({ ask: sender });
  });

  it("deposit-match: a sender that paid in several pieces is one sender", () => {
    expect(defaultDestination({ ...deposit, senders: [sender, sender] })).toEqual({ ask: sender });
  });

  it("deposit-match: nobody can tell between two senders, even if one of them was named", () => {
    expect(defaultDestination({ ...deposit, senders: [sender, other], declared: sender })).toBeNull();
    expect(defaultDestination({ ...deposit, senders: [] })).toBeNull();
  });
});
