import { describe, expect, it } from "vitest";
import { reasons } from "#facilitator";
import { stableHash } from "#kernel/codec";
import { presentReason } from "../../../api/x402/present.ts";
import { v1Networks, v1Reasons } from "../../../api/x402/v1.ts";
import { readPayment, toHeader } from "../../../api/x402/wire.ts";
import { requirements, v1Body, v2Body } from "../world.ts";

const networks = v1Networks([
  { network: "eip155:8453", v1Name: "base" },
  { network: "eip155:31337", v1Name: null },
]);
const { maxTimeoutSeconds: _t, extra: _e, ...selection } = requirements;

function read(body: unknown) {
  const reading = readPayment(body, networks);
  if (!reading.ok) throw new Error(reading.refusal.message);
  return reading.payment;
}

function refusal(body: unknown) {
  const reading = readPayment(body, networks);
  return reading.ok ? null : reading.refusal.reason;
}

describe("a v2 body", () => {
  it("gives the carried requirements as selection and the accepted option beside them", () => {
    const { payloadHash, ...payment } = read(v2Body);
    expect(payloadHash()).toBe(stableHash(v2Body.paymentPayload));
    expect(payment).toEqual({
      version: 2,
      selection,
      accepted: selection,
      payload: v2Body.paymentPayload.payload,
      paymentIdentifier: null,
      resourceUrl: "https://api.m.example/weather?city=Oslo",
      payer: v2Body.paymentPayload.payload.authorization.from,
    });
  });

  it("selects by the accepted option alone where the requirements are missing", () => {
    const payment = read({ ...v2Body, paymentRequirements: undefined });
    expect(payment).toMatchObject({ selection, accepted: null });
  });

  it("selects by the requirements alone where nothing was accepted", () => {
    const { accepted: _none, ...payload } = v2Body.paymentPayload;
    expect(read({ ...v2Body, paymentPayload: payload })).toMatchObject({ selection, accepted: null });
  });

  it("keeps two options that disagree apart, for the engine to refuse", () => {
    const other = { ...requirements, amount: "1" };
    const payment = read({ ...v2Body, paymentPayload: { ...v2Body.paymentPayload, accepted: other } });
    expect(payment.selection.amount).toBe("10000");
    expect(payment.accepted?.amount).toBe("1");
  });

  it("is too long where it is when written out, however short its text was", () => {
    const text = JSON.stringify({ ...v2Body, paymentPayload: { ...v2Body.paymentPayload, many: [] } });
    const short = text.replace('"many":[]', `"many":[${Array(800).fill("1e20").join(",")}]`);
    expect(short.length).toBeLessThan(6_000);
    const reading = readPayment(JSON.parse(short), networks, short.length);
    expect(reading.ok ? null : reading.refusal.message).toBe(
      "paymentPayload is longer than 16384 characters.",
    );
  });

  it("has one hash whatever the order of its keys", () => {
    const shuffled = Object.fromEntries(Object.entries(v2Body.paymentPayload).reverse());
    expect(read({ ...v2Body, paymentPayload: shuffled }).payloadHash()).toBe(read(v2Body).payloadHash());
  });

  it("gives a payment identifier of 16 to 128 characters", () => {
    const withId = (id: unknown) => ({
      ...v2Body,
      paymentPayload: {
        ...v2Body.paymentPayload,
        extensions: { "payment-identifier": { info: { required: false, id } } },
      },
    });
    expect(read(withId("pay_0123456789abcdef")).paymentIdentifier).toBe("pay_0123456789abcdef");
    for (const id of ["short", "x".repeat(129), "with spaces in the middle", 5])
      expect(refusal(withId(id))).toBe("invalid_payload");
  });

  it.each([
    ["not an object", 7],
    ["an array", []],
    ["without a payload", { x402Version: 2 }],
    ["whose payload is a string", { ...v2Body, paymentPayload: "eyJ4" }],
    ["without scheme data", { ...v2Body, paymentPayload: { ...v2Body.paymentPayload, payload: undefined } }],
    [
      "without any option",
      {
        ...v2Body,
        paymentRequirements: undefined,
        paymentPayload: { ...v2Body.paymentPayload, accepted: undefined },
      },
    ],
    ["whose amount is a number", { ...v2Body, paymentRequirements: { ...requirements, amount: 10_000 } }],
    ["whose requirements are an array", { ...v2Body, paymentRequirements: [requirements] }],
    [
      "whose payload is far too long",
      { ...v2Body, paymentPayload: { ...v2Body.paymentPayload, payload: { signature: "0".repeat(17_000) } } },
    ],
  ])("%s is an invalid_payload", (_name, body) => {
    expect(refusal(body)).toBe("invalid_payload");
  });

  it.each([
    ["3", { ...v2Body, x402Version: 3, paymentPayload: { ...v2Body.paymentPayload, x402Version: 3 } }],
    ["missing", { paymentPayload: { ...v2Body.paymentPayload, x402Version: undefined } }],
    ["at odds with the payload's", { ...v2Body, x402Version: 1 }],
  ])("an x402Version that is %s is refused as such", (_name, body) => {
    expect(refusal(body)).toBe("invalid_x402_version");
  });
});

describe("a v1 body", () => {
  it("is translated: names to CAIP-2, the signed value for the amount, the envelope for the accepted option", () => {
    expect(read(v1Body)).toMatchObject({
      version: 1,
      selection,
      accepted: selection,
      payload: v1Body.paymentPayload.payload,
      paymentIdentifier: null,
      resourceUrl: "https://api.m.example/weather",
    });
  });

  it("takes what was signed for the amount, or maxAmountRequired where that is more", () => {
    const amountOf = (maxAmountRequired: string) => {
      const paymentRequirements = { ...v1Body.paymentRequirements, maxAmountRequired };
      const { selection, accepted } = read({ ...v1Body, paymentRequirements });
      return [selection.amount, accepted?.amount];
    };
    expect(amountOf("9999")).toEqual(["10000", "10000"]);
    expect(amountOf("10001")).toEqual(["10001", "10001"]);
  });

  it("leaves a network that v1 has no name for as it is, for the engine to refuse", () => {
    const strange = { ...v1Body, paymentRequirements: { ...v1Body.paymentRequirements, network: "iotex" } };
    expect(read(strange)).toMatchObject({
      selection: { network: "iotex" },
      accepted: { network: "eip155:8453" },
    });
  });

  it("for a chain that v1 has no name for is refused in words, also by the name that v2 has for it", () => {
    const on = (network: string) => ({
      ...v1Body,
      paymentPayload: { ...v1Body.paymentPayload, network },
      paymentRequirements: { ...v1Body.paymentRequirements, network },
    });
    expect(readPayment(on("eip155:31337"), networks)).toEqual({
      ok: false,
      version: 1,
      refusal: {
        reason: "invalid_network",
        message: "Version 1 of x402 has no name for eip155:31337. Pay there with version 2.",
      },
    });
    expect(read(on("eip155:8453")).selection.network).toBe("eip155:8453");
  });

  it("without requirements is an invalid_payload", () => {
    expect(refusal({ ...v1Body, paymentRequirements: undefined })).toBe("invalid_payload");
  });
});

describe("reasons on v1", () => {
  it("are there for every reason of ours and no other", () => {
    expect(Object.keys(v1Reasons).sort()).toEqual([...reasons].sort());
  });

  it("never turn an unknown outcome or an outage of ours into a refusal", () => {
    for (const reason of [
      "settlement_pending",
      "unexpected_verify_error",
      "unexpected_settle_error",
    ] as const)
      expect(presentReason(reason, { version: 1 })).toBe(reason);
  });

  it("use v1's words", () => {
    expect(presentReason("invalid_exact_evm_signature", { version: 1 })).toBe(
      "invalid_exact_evm_payload_signature",
    );
    expect(presentReason("invalid_exact_evm_signature", { version: 2 })).toBe("invalid_exact_evm_signature");
    expect(presentReason("invalid_exact_evm_nonce_already_used", { version: 1 })).toBe(
      "invalid_transaction_state",
    );
    expect(presentReason("invalid_payment_requirements", { version: 1 })).toBe("invalid_payment");
  });
});

describe("a payment header", () => {
  it("is padded base64 of the standard alphabet over UTF-8", () => {
    const header = toHeader({ description: "Ärger ??>>" });
    expect(header).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    expect(JSON.parse(Buffer.from(header, "base64").toString("utf8"))).toEqual({ description: "Ärger ??>>" });
  });
});
