import { shapeProblem } from "#facilitator";

/** The header `EXTENSION-RESPONSES` of verify and settle: whether the bazaar block that the merchant's 402 declared, and
 *  the buyer's payload echoes, could stand in the index. Stock servers log it; buyers never see it. Empty without such
 *  a block. Source: agents.md §6.3. */
export function extensionResponses(body: unknown): Readonly<Record<string, string>> {
  const block = memberOf(memberOf(memberOf(body, "paymentPayload"), "extensions"), "bazaar");
  if (block === undefined) return {};
  const problem = isObject(block) ? shapeProblem(block) : "it is no object.";
  const bazaar = problem === null ? { status: "success" } : { status: "rejected", rejectedReason: problem };
  return { "EXTENSION-RESPONSES": Buffer.from(JSON.stringify({ bazaar }), "utf8").toString("base64") };
}

function memberOf(holder: unknown, key: string): unknown {
  return isObject(holder) ? holder[key] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
