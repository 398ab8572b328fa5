/** Resources as a large index has them: many small merchants, a few with hundreds of endpoints, words of all
 *  frequencies. The same for the same number. */
import type { Payable } from "#facilitator";
import type { Database } from "#store";
import { listingRow } from "../facilitator/payable/listing.ts";
import { toRow } from "../facilitator/payable/row.ts";
import { listing, payable } from "../facilitator/payable/tables.ts";

const WORDS = 4_000;
const AT_ONCE = 500;
const syllables = [
  "ba",
  "co",
  "di",
  "fu",
  "ge",
  "ho",
  "ki",
  "lu",
  "me",
  "no",
  "pa",
  "ru",
  "si",
  "to",
  "ve",
  "zu",
];

/** A word by its frequency: the first is the most frequent. */
export function word(rank: number): string {
  const digits = (rank + 16 * 16).toString(16);
  return [...digits].map((digit) => syllables[Number.parseInt(digit, 16)]).join("");
}

function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function payableAt(i: number): Payable {
  const random = randomOf(i + 1);
  // Frequency falls with rank, as in any language.
  const some = () => word(Math.floor(WORDS ** random()) - 1);
  const text = (length: number) => Array.from({ length }, some).join(" ");
  const shop = Math.floor(20_000 * random() ** 2);
  const at = new Date(Date.UTC(2026, 0, 1) + i * 60_000);
  return {
    id: `x402r_${String(i).padStart(26, "0")}`,
    kind: "resource",
    merchantId: `mer_${shop}`,
    merchantName: `Shop ${shop}`,
    url: `https://api.shop${shop}.example/${some()}/${some()}-${i}`,
    title: null,
    description: text(15),
    mimeType: "application/json",
    price: { amount: BigInt(Math.floor(1_000 + 50_000 * random())), asset: "USD" },
    rails: random() < 0.8 ? [] : [{ chain: "base", asset: "USDC" }],
    maxTimeoutSeconds: 300,
    paymentFlow: "authorization",
    serviceName: some(),
    tags: [some(), some()],
    iconUrl: null,
    extensions:
      random() < 0.5 ? {} : { bazaar: { info: { input: { type: "http", method: "GET" } }, schema: {} } },
    feeBps: 0,
    once: false,
    listed: true,
    closedAt: null,
    createdAt: at,
    updatedAt: at,
  };
}

/** Fills an index: two in three answered their last probe, one in ten has been paid for. */
export async function fillIndex(db: Database, count: number): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const items = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => payableAt(from + i));
    await db.tx(async (tx) => {
      await tx.insert(payable).values(items.map((item) => ({ ...toRow(item), heldBy: null, heldFor: null })));
      await tx
        .insert(listing)
        .values(items.map((item, i) => ({ ...listingRow(item), standing: standingAt(from + i) })));
    });
  }
}

function standingAt(i: number): number {
  const random = randomOf(~i);
  return (random() < 0.67 ? 1_000 : 0) + (random() < 0.1 ? 10 * Math.floor(1 + 8 * random()) : 0);
}
