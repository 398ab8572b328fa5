import type { Facilitator, Offer, Payable, PaymentOption, SettleAnswer, VerifyAnswer } from "#facilitator";
import { parseStrict } from "../http/strict-json.ts";
import { type Carried, carriedInHeaders, carriedPayment } from "./header.ts";
import { presentReason, presentRequired, presentSettle, presentVerify, type Voice } from "./present.ts";
import { presentReceipt } from "./receipt.ts";
import { readSpend } from "./spend.ts";
import { v1Networks } from "./v1.ts";
import type { WireVersion } from "./wire.ts";

const inBase64 = (value: unknown) =>
  typeof value === "string" && value.startsWith("{") ? Buffer.from(value).toString("base64") : value;

/** Everything that knows how payments look outside, for a room that must not: it is handed to MCP where the house is
 *  composed. Source: DESIGN 4.1. */
export function paymentCodec({
  facilitator,
  baseUrl,
}: {
  readonly facilitator: Pick<Facilitator, "chains" | "boundTo">;
  readonly baseUrl: string;
}) {
  const voice = (version: WireVersion): Voice => ({
    version,
    networks: v1Networks(facilitator.chains()),
    baseUrl,
  });
  return {
    /** JSON as payment routes take it. Fault: `invalid_json`. */
    parse: parseStrict,
    /** One payment out of the places where it may be; several must be the same. Also as its JSON, since models write
     *  objects out as text. */
    carried: (values: readonly unknown[]): Carried => carriedPayment(values.map(inBase64)),
    carriedInHeaders: (headers: Headers): Carried => carriedInHeaders((name) => headers.get(name)),
    /** A payload, and the requirements beside it where they came, for what is on offer. */
    read: (payload: unknown, offer: Offer, requirements?: unknown) =>
      readSpend(payload, { offer, networks: voice(2).networks, claims: facilitator, requirements }),
    required: presentRequired,
    verified: (answer: VerifyAnswer, version: WireVersion) => presentVerify(answer, { version }),
    settled: (answer: SettleAnswer, version: WireVersion) => presentSettle(answer, voice(version)),
    reason: (reason: Parameters<typeof presentReason>[0], version: WireVersion) =>
      presentReason(reason, { version }),
    receipt: (answer: SettleAnswer, payable: Payable, asset: string) =>
      presentReceipt(answer, { payable, asset, chains: facilitator.chains(), baseUrl }),
    /** v1's name of an option's network, where it has one. */
    v1Name: ({ network }: PaymentOption): string | null => {
      const name = voice(1).networks.toName(network);
      return name === network ? null : name;
    },
  };
}
