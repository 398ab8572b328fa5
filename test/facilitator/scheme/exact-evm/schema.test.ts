import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checksum } from "#kernel/bytes";
import { readPayload } from "../../../../facilitator/scheme/exact-evm/schema.ts";
import { anyUint128, payloadOf, sign, unsigned } from "../samples.ts";

const signature = await sign(unsigned);
const good = payloadOf(unsigned, signature);
const read = { ...unsigned, signature };

type Field = keyof typeof good.authorization;
function withField(field: Field, value: unknown) {
  return { ...good, authorization: { ...good.authorization, [field]: value } };
}
function without(field: Field) {
  const { [field]: _left, ...rest } = good.authorization;
  return { ...good, authorization: rest };
}

describe("an eip3009 payload", () => {
  it("is read to bytes and numbers", () => {
    expect(readPayload(good)).toEqual(read);
  });

  it("is read from an object without prototype", () => {
    const bare = Object.assign(Object.create(null), good, {
      authorization: Object.assign(Object.create(null), good.authorization),
    });
    expect(readPayload(bare)).toEqual(read);
  });

  it("reads addresses, nonce and signature in any letter case to the same", () => {
    const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`;
    const { from, to, nonce, ...rest } = good.authorization;
    expect(
      readPayload({
        signature: upper(signature),
        authorization: { ...rest, from: upper(from), to: checksum(unsigned.payTo), nonce: upper(nonce) },
      }),
    ).toEqual(read);
  });

  it("ignores keys that nobody signs", () => {
    const authorization = { ...good.authorization, memo: "x", __proto__: { value: "1" } };
    expect(readPayload({ ...good, authorization, more: [1] })).toEqual(read);
  });

  it("takes the amounts and times that fit, to the limit", () => {
    fc.assert(
      fc.property(anyUint128, (value) => {
        expect(readPayload(withField("value", value.toString()))).toEqual({ ...read, value });
      }),
    );
    expect(readPayload(withField("validBefore", "253402300799"))).toEqual({
      ...read,
      validBefore: 253_402_300_799n,
    });
    expect(readPayload(withField("validAfter", "0"))).toEqual({ ...read, validAfter: 0n });
  });
});

const notNumbers: readonly [string, unknown][] = [
  ["empty", ""],
  ["a number", 1],
  ["a big number", 2 ** 60],
  ["negative", "-1"],
  ["signed", "+1"],
  ["a fraction", "1.0"],
  ["an exponent", "1e6"],
  ["hex", "0x10"],
  ["a leading zero", "01"],
  ["leading zeros only", "00"],
  ["a space before", " 1"],
  ["a space behind", "1 "],
  ["a line end", "1\n"],
  ["a NUL", "1\0"],
  ["full-width digits", "１００"],
  ["Arabic digits", "١٢٣"],
  ["a lone surrogate", "1\ud800"],
  ["a separator", "1_000"],
  ["a comma", "1,000"],
  ["2^128", (1n << 128n).toString()],
  ["2^256", (1n << 256n).toString()],
  ["ten thousand digits", "9".repeat(10_000)],
  ["Infinity", "Infinity"],
  ["null", null],
  ["an array", ["1"]],
  ["an object", { value: "1" }],
  ["true", true],
];
describe.each(["value", "validAfter", "validBefore"] as const)("%s", (field) => {
  it.each(notNumbers)("is refused when it is %s", (_name, value) => {
    expectInvalid(withField(field, value), `payload.authorization.${field}: expected`);
  });
});

describe.each(["validAfter", "validBefore"] as const)("%s", (field) => {
  it.each(["253402300800", (1n << 63n).toString(), ((1n << 128n) - 1n).toString()])(
    "is refused at %s",
    (value) => {
      expectInvalid(withField(field, value), `payload.authorization.${field}: expected seconds`);
    },
  );
});

const wrongChecksum = checksum(unsigned.payTo).replace(/[a-f]/, (digit) => digit.toUpperCase());
describe.each(["from", "to"] as const)("%s", (field) => {
  it.each<[string, unknown]>([
    ["empty", ""],
    ["without 0x", unsigned.payTo.slice(2)],
    ["with 0X", `0X${unsigned.payTo.slice(2)}`],
    ["of 19 bytes", unsigned.payTo.slice(0, 40)],
    ["of 21 bytes", `${unsigned.payTo}00`],
    ["of a wrong checksum", wrongChecksum],
    ["not hex", `0x${"g".repeat(40)}`],
    ["followed by a line end", `${unsigned.payTo}\n`],
    ["followed by a NUL", `${unsigned.payTo}\0`],
    ["with a full-width digit", `0x${"１".repeat(40)}`],
    ["with a lone surrogate", `${unsigned.payTo.slice(0, 41)}\udc00`],
    ["a name", "vitalik.eth"],
    ["a number", 0],
    ["null", null],
  ])("is refused when it is %s", (_name, value) => {
    expectInvalid(withField(field, value), `payload.authorization.${field}: expected an address`);
  });
});

describe("nonce", () => {
  it.each<[string, unknown]>([
    ["decimal", "7"],
    ["of 31 bytes", unsigned.nonce.slice(0, 64)],
    ["of 33 bytes", `${unsigned.nonce}00`],
    ["of half a byte too much", `${unsigned.nonce}0`],
    ["without 0x", unsigned.nonce.slice(2)],
    ["not hex", `0x${"z".repeat(64)}`],
    ["followed by a NUL", `${unsigned.nonce}\0`],
    ["null", null],
  ])("is refused when it is %s", (_name, value) => {
    expectInvalid(withField("nonce", value), "payload.authorization.nonce: expected 32 bytes");
  });
});

describe("a payload of the wrong shape", () => {
  it.each([undefined, null, 0, "", "payload", true])("is refused when it is %j", (payload) => {
    expectInvalid(payload, "payload: expected an object");
  });
  it("is refused when it is an array", () => {
    expectInvalid([good], "payload: expected an object");
  });
  it.each(["from", "to", "value", "validAfter", "validBefore", "nonce"] as const)(
    "is refused without %s, which it names",
    (field) => {
      expectInvalid(without(field), `payload.authorization.${field}: expected`);
      expect(readPayload(without(field))).toMatchObject({
        message: expect.stringContaining("received nothing"),
      });
    },
  );
  it("is refused without authorization", () => {
    expectInvalid({ signature }, "payload.authorization: expected an object");
    expectInvalid({ signature, authorization: "x" }, "payload.authorization: expected an object");
    expectInvalid({ signature, authorization: null }, "payload.authorization: expected an object");
  });
  it.each([undefined, null, 1, ["0x"], {}])("is refused when its signature is %j", (value) => {
    expectInvalid({ ...good, signature: value }, "payload.signature: expected a string of hex");
  });
});

describe("a signature that is text but no hex", () => {
  const reason = "invalid_exact_evm_failed_to_parse_signature";
  it.each(["", "0x", "0x1", "0X12", "12", "0xzz", `${signature} `, `${signature}\0`, "\ud800", "０x12"])(
    "is refused with its own reason: %j",
    (value) => {
      expect(readPayload({ ...good, signature: value })).toEqual({
        reason,
        message: expect.stringMatching(/^payload\.signature: expected hex bytes; received /),
      });
    },
  );
  it("comes second where the authorization is broken too", () => {
    expectInvalid({ ...without("to"), signature: "" }, "payload.authorization.to");
  });
});

describe("a payload of another transfer method", () => {
  const unsupported = { reason: "unsupported_payload_type", message: expect.stringContaining("eip3009") };
  const permit2Authorization = { from: unsigned.payer, spender: unsigned.payTo, nonce: "1", deadline: "2" };
  it("permit2 is not offered yet", () => {
    expect(readPayload({ signature, permit2Authorization })).toEqual(unsupported);
  });
  it("erc7710 is not offered", () => {
    const delegator = unsigned.payer;
    expect(readPayload({ delegationManager: unsigned.payTo, permissionContext: "0x", delegator })).toEqual(
      unsupported,
    );
    expect(readPayload({ permissionContext: "0x", delegator })).toEqual(unsupported);
    expect(readPayload({ delegationManager: unsigned.payTo, delegator })).toEqual(unsupported);
  });
  it("two methods at once are neither", () => {
    expect(readPayload({ ...good, permit2Authorization })).toEqual(unsupported);
  });
});

describe("the message of a refusal", () => {
  it("shows what came when it is one short word", () => {
    expect(readPayload(withField("value", "1e6"))).toMatchObject({
      message: expect.stringContaining('received "1e6"'),
    });
  });
  it("never carries a caller's sentence, markup, control or bidi character", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("<b>", "ignore the above", "\u202e1", "\u0007"),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const answer = readPayload(withField("value", text));
        if ("reason" in answer) expect(answer.message).toMatch(/^[ -~]{1,300}$/);
        else expect(answer.value.toString()).toBe(text);
      }),
    );
    expect(readPayload(withField("value", "ignore the above"))).toMatchObject({
      message: expect.stringContaining("received a string of 16 characters"),
    });
  });
});

it("reads any JSON at all without throwing", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (whole, part) => {
      expect(readPayload(whole)).toHaveProperty("reason");
      expect(readPayload({ ...good, authorization: part })).toHaveProperty("reason");
    }),
  );
});

function expectInvalid(payload: unknown, start: string): void {
  const answer = readPayload(payload);
  expect(answer).toEqual({ reason: "invalid_payload", message: expect.any(String) });
  if ("message" in answer) expect(answer.message.startsWith(start), answer.message).toBe(true);
}
