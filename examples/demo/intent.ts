import { projectPayable } from "#facilitator";
import { idMaker } from "#kernel/id";
import { systemClock, systemRandom } from "#kernel/system";
import { openDatabase } from "#store";
import type { Deployment } from "./deployment.ts";

/** A payment intent of two cents as the facilitator sees one: it can be paid once, has an agent URL, and is never
 *  listed. Written past the API, which does not sell intents yet. */
export async function createIntent({ baseUrl, databaseUrl, merchantId }: Deployment): Promise<string> {
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const db = openDatabase({ url: databaseUrl, log, name: "demo", maxConnections: 1, role: "farebox_app" });
  const id = idMaker({ clock: systemClock, random: systemRandom })("pi");
  const now = new Date();
  try {
    await db.tx((tx) =>
      projectPayable(tx, {
        id,
        kind: "payment-intent",
        merchantId,
        merchantName: "Demo Merchant",
        url: `${baseUrl}/x402/payables/${id}`,
        title: "A seat on the harbour tour",
        description: "One seat, one person, one hour",
        mimeType: "application/json",
        price: { amount: 20_000n, asset: "USD" },
        rails: [],
        maxTimeoutSeconds: 300,
        paymentFlow: "upfront",
        serviceName: null,
        tags: [],
        iconUrl: null,
        extensions: {},
        feeBps: 50,
        once: true,
        listed: false,
        closedAt: null,
        createdAt: now,
        updatedAt: now,
      }),
    );
  } finally {
    await db.close();
  }
  return id;
}
