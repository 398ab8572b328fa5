import { describe, expect, it } from "vitest";
import { hash } from "#kernel/bytes";
import type { PaymentRequest, VerifyAnswer } from "../../../../facilitator/settlement/verify/request.ts";
import {
  firstSightMemory,
  shortMemory,
  verdictCache,
} from "../../../../facilitator/settlement/verify/short-memory.ts";
import { manualClock } from "../../../support/manual-clock.ts";

const key = hash(`0x${"c".repeat(64)}`);
const request = (over: Partial<PaymentRequest> = {}): PaymentRequest => ({
  target: { by: "id", id: "x402r_1" },
  selection: { scheme: "exact", network: "eip155:8453", asset: "0x1", amount: "10", payTo: "0x2" },
  accepted: null,
  payload: {},
  payloadHash: () => hash(`0x${"a".repeat(64)}`),
  paymentIdentifier: null,
  idempotencyKey: null,
  requestId: "req_1",
  ...over,
});
const invalid = (reason: "invalid_exact_evm_signature" | "insufficient_funds"): VerifyAnswer => ({
  outcome: "invalid",
  reason,
  message: "no",
  payer: null,
});

describe("a short memory", () => {
  it("forgets when its time is up, not before", async () => {
    const clock = manualClock();
    const memory = shortMemory<string>(clock, 1_000);
    memory.set("a", "one");
    await clock.advance(999);
    expect(memory.get("a")).toBe("one");
    await clock.advance(1);
    expect(memory.get("a")).toBeNull();
  });

  it("stays small: the oldest entry makes room", () => {
    const memory = shortMemory<number>(manualClock(), 1_000);
    for (let i = 0; i <= 10_000; i += 1) memory.set(`${i}`, i);
    expect(memory.get("0")).toBeNull();
    expect(memory.get("1")).toBe(1);
    expect(memory.get("10000")).toBe(10_000);
  });
});

describe("remembered forgeries", () => {
  it("are answered from memory for a minute, for the very same request only", async () => {
    const clock = manualClock();
    const verdicts = verdictCache(clock);
    const no = invalid("invalid_exact_evm_signature");
    verdicts.keep(request(), no);
    expect(verdicts.badSignature(request({ requestId: "req_2" }))).toBe(no);
    expect(verdicts.badSignature(request({ payloadHash: () => key }))).toBeNull();
    expect(verdicts.badSignature(request({ target: { by: "id", id: "x402r_2" } }))).toBeNull();
    await clock.advance(60_000);
    expect(verdicts.badSignature(request())).toBeNull();
  });

  it("are all that is remembered: what can be cured is looked at anew", () => {
    const verdicts = verdictCache(manualClock());
    verdicts.keep(request(), invalid("insufficient_funds"));
    verdicts.keep(request(), { outcome: "valid", payer: `0x${"1".repeat(40)}` as never });
    expect(verdicts.badSignature(request())).toBeNull();
  });
});

describe("where an authorization was seen first", () => {
  it("is remembered by the first payable, for ten minutes", async () => {
    const clock = manualClock();
    const seen = firstSightMemory(clock);
    expect(seen.isOther(key, "x402r_1")).toBe(false);
    seen.note(key, "x402r_1");
    seen.note(key, "x402r_2");
    expect([seen.isOther(key, "x402r_1"), seen.isOther(key, "x402r_2")]).toEqual([false, true]);
    await clock.advance(600_000);
    expect(seen.isOther(key, "x402r_2")).toBe(false);
  });
});
