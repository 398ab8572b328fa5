/** Tells the customer that something changed, signed as Standard Webhooks asks, until it says that it heard. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Webhook } from "standardwebhooks";

export interface Callbacks {
  /** Returns at once; delivery goes on by itself. */
  tell(
    type: "clearing.updated" | "refund.updated",
    about: { readonly id: string; readonly reference: string },
  ): void;
}

const PAUSES_MS = [500, 2_000, 10_000, 60_000];
const TIMEOUT_MS = 10_000;

/** What is not delivered when the process ends is not told: the customer reads our state, callbacks only hurry it. */
export function callbacksTo({ url, secret }: { readonly url: string; readonly secret: string }): Callbacks {
  const signer = new Webhook(secret);
  async function deliver(id: string, body: string): Promise<boolean> {
    const at = new Date();
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": signer.sign(id, at, body),
    };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(url, { method: "POST", headers, body, signal }).catch(() => undefined);
    return answer?.ok ?? false;
  }
  return {
    tell(type, { id, reference }) {
      const event = `sbe_${randomUUID()}`;
      const body = JSON.stringify({
        id: event,
        type,
        timestamp: new Date().toISOString(),
        data: { id, reference },
      });
      const attempts = async () => {
        for (const pause of [0, ...PAUSES_MS]) {
          await sleep(pause);
          if (await deliver(event, body)) return;
        }
      };
      void attempts();
    },
  };
}
