import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { sandboxAccess } from "#api";
import { verifySigned } from "../../../api/provider/adapters/standard-webhook.ts";

const now = new Date("2026-08-11T09:30:00.000Z");
const secret = sandboxAccess("a master secret").webhookSecret;
const body = '{"a":1}';

function headersOf(
  over: Record<string, string> = {},
  signed: { body?: string; at?: Date; secret?: string } = {},
) {
  const at = signed.at ?? now;
  return new Headers({
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": new Webhook(signed.secret ?? secret).sign("evt_1", at, signed.body ?? body),
    ...over,
  });
}
function verify(raw: string | Uint8Array, headers: Headers) {
  return verifySigned({ raw: Buffer.from(raw as string), headers, now, secret });
}
const seconds = (count: number) => new Date(now.getTime() + count * 1_000);
const refused = expect.objectContaining({ code: "signature_invalid" });

describe("a signed callback", () => {
  it("is read when its signature fits its bytes", () => {
    expect(verify(body, headersOf())).toEqual({ id: "evt_1", content: { a: 1 } });
  });

  it("may carry several signatures, as while a secret is replaced", () => {
    const good = headersOf().get("webhook-signature") ?? "";
    const other = headersOf({}, { secret: sandboxAccess("another").webhookSecret }).get("webhook-signature");
    expect(verify(body, headersOf({ "webhook-signature": `v2,xyz ${other} ${good}` })).id).toBe("evt_1");
  });

  it.each([
    ["five minutes old", -300],
    ["five minutes ahead", 300],
  ])("is read when it is %s, and not a second more", (_, offset) => {
    expect(verify(body, headersOf({}, { at: seconds(offset) })).id).toBe("evt_1");
    expect(() => verify(body, headersOf({}, { at: seconds(offset + Math.sign(offset)) }))).toThrow(refused);
  });

  it.each<[string, string, Headers]>([
    ["another byte", '{"a":1} ', headersOf()],
    ["another spelling of the same JSON", '{ "a":1}', headersOf()],
    ["another secret", body, headersOf({}, { secret: sandboxAccess("another").webhookSecret })],
    ["another id", body, headersOf({ "webhook-id": "evt_2" })],
    ["another time", body, headersOf({ "webhook-timestamp": String(now.getTime() / 1_000 + 1) })],
    ["a time with words behind it", body, headersOf({ "webhook-timestamp": `${now.getTime() / 1_000}abc` })],
    ["a time in milliseconds", body, headersOf({ "webhook-timestamp": String(now.getTime()) })],
    ["no id", body, headersOf({ "webhook-id": "" })],
    ["no signature", body, headersOf({ "webhook-signature": "" })],
    ["a signature of another scheme", body, headersOf({ "webhook-signature": `v1a,${"A".repeat(43)}=` })],
  ])("is refused with %s", (_, raw, headers) => {
    expect(() => verify(raw, headers)).toThrow(refused);
  });

  it.each([
    ["no id", "", now],
    ["a time beyond all times", "evt_1", new Date(Number.NaN)],
  ])("is refused with %s, even where that was signed", (_, id, at) => {
    const signature = new Webhook(secret).sign(id, at, body);
    const time = Number.isNaN(at.getTime()) ? "9".repeat(20) : String(at.getTime() / 1_000);
    const over = { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature };
    expect(() => verify(body, headersOf(over))).toThrow(refused);
  });

  it("is refused when its bytes are no text: the signer would see replacement characters", () => {
    const headers = headersOf({}, { body: "\u{fffd}" });
    expect(() => verify(Buffer.from([0xff]), headers)).toThrow(refused);
  });

  it("is not parsed before its signature is good, and strictly after", () => {
    expect(() => verify("{", headersOf())).toThrow(refused);
    expect(() => verify("{", headersOf({}, { body: "{" }))).toThrow(
      expect.objectContaining({ code: "invalid_json" }),
    );
  });
});

describe("the access to the sandbox provider", () => {
  it("follows from the master secret, and nothing else", () => {
    expect(sandboxAccess("one")).toEqual(sandboxAccess("one"));
    const [one, other] = [sandboxAccess("one"), sandboxAccess("other")];
    expect(new Set([one.apiKey, other.apiKey, one.webhookSecret, other.webhookSecret]).size).toBe(4);
    expect(Buffer.from(one.webhookSecret.slice("whsec_".length), "base64")).toHaveLength(32);
  });
});
