import type { Hex } from "#kernel/bytes";
import type { SendResult } from "../port.ts";
import { hash32 } from "./answer.ts";
import type { Reply } from "./client.ts";
import type { Room } from "./room.ts";

/** More than one, so that a transaction does not depend on one endpoint's pool. */
const ENDPOINTS = 2;

/** From what tells most to what tells least: several answers count as the first of these among them. */
const BY_WEIGHT: readonly SendResult[] = [
  "accepted",
  "already-known",
  "nonce-too-low",
  "underpriced",
  "unknown",
  "refused",
];

/** How nodes word it. The first that fits counts; what fits none leaves the outcome open. */
const WORDS: readonly (readonly [RegExp, SendResult])[] = [
  [/already[ _]?(?:known|imported|exists|in)|known transaction/i, "already-known"],
  [/nonce (?:is )?too low|nonce too old|old ?nonce/i, "nonce-too-low"],
  [/underpriced|less than block base fee|below (?:the )?minimum|fee ?too ?low|price too low/i, "underpriced"],
  [
    /intrinsic gas|chain ?id|insufficient (?:funds|balance)|exceeds (?:the )?(?:block )?gas|gas limit too|oversized/i,
    "refused",
  ],
  [
    /priority fee per gas higher|exceeds the configured cap|decode|rlp|invalid (?:sender|signature)/i,
    "refused",
  ],
];

/** Gives raw bytes to two endpoints at once. Only when all of them refused is it known that no pool took them. */
export async function sendRaw({ rpc }: Room, raw: Hex): Promise<SendResult> {
  const question = { method: "eth_sendRawTransaction", params: [raw], parse: hash32 };
  const replies = await Promise.all(
    rpc
      .sources(ENDPOINTS)
      .slice(0, ENDPOINTS)
      .map((source) => source(question)),
  );
  const results = replies.map(sendResultOf);
  return BY_WEIGHT.find((result) => results.includes(result)) ?? "unknown";
}

/** What one endpoint's answer means; silence (null) means nothing. */
export function sendResultOf(reply: Reply<unknown> | null): SendResult {
  if (reply === null) return "unknown";
  if (reply.ok) return "accepted";
  const { message } = reply.error;
  return WORDS.find(([pattern]) => pattern.test(message))?.[1] ?? "unknown";
}
