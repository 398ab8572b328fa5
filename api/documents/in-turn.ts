import type { Context } from "hono";
import { fault } from "../http/faults.ts";
import { clientAddress } from "../http/limit.ts";

/** Documents that one caller may wait for: they are drawn one at a time for all, and some take most of a second. */
const MOST_OF_ONE = 8;
const RETRY_SECONDS = 2;

/** How many each caller waits for; who waits for none is not in it. */
const waiting = new Map<string, number>();

/** A document for whoever asks: a merchant, wherever its keys are used from, or an address. Fault: `rate_limited` for who
 *  waits for many already. */
export async function inTurn<T>(c: Context, draw: () => Promise<T>): Promise<T> {
  const who = c.get("merchant")?.merchantId ?? clientAddress(c, c.var.edge);
  const mine = waiting.get(who) ?? 0;
  if (mine >= MOST_OF_ONE) throw fault("rate_limited", { retryAfterSeconds: RETRY_SECONDS });
  waiting.set(who, mine + 1);
  try {
    return await draw();
  } finally {
    const left = (waiting.get(who) ?? 1) - 1;
    if (left > 0) waiting.set(who, left);
    else waiting.delete(who);
  }
}
