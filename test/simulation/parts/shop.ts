/** What is sold in every seed, and the room that seeds leave when they are over. */
import { projectPayable } from "#facilitator";
import { openDatabase } from "#store";
import { databaseAt } from "../../support/database-at.ts";
import type { Backend } from "./backend.ts";

const silent = { info() {}, warn() {}, error() {} };

export async function openShops(server: string, database: string): Promise<void> {
  const url = databaseAt(server, database);
  const db = openDatabase({ url, log: silent, name: "shop", maxConnections: 1 });
  try {
    await db.tx(async (tx) => {
      await tx.execute("SET LOCAL simulated.now = '2026-08-11 09:30Z'");
      await projectPayable(tx, template);
    });
  } finally {
    await db.close();
  }
}

/** What oracles read whole is gone before the next seed. */
export async function tidyUp(backend: Backend): Promise<void> {
  await backend.look("DELETE FROM outbox");
  await backend.look("DELETE FROM ledger_transfer");
}

/** Every row of every seed: one that is lived again must find nothing of its own. Truncating takes as long as some seeds,
 *  and every statement is planned anew, so it is done once for many; the template of what is sold stays. */
export async function sweepUp(backend: Backend): Promise<void> {
  const tables = await tablesOf(backend);
  if (tables.length > 0) await backend.look(`TRUNCATE ${tables.join(", ")} RESTART IDENTITY CASCADE`);
  await backend.look("DELETE FROM payable WHERE id <> 'template'");
}

/** The same where it is done for each life: quicker, and leaves behind what is swept up in the end. */
export async function wipe(backend: Backend): Promise<void> {
  const deletions = (await tablesOf(backend)).map((name, i) => `gone${i} AS (DELETE FROM ${name}), `);
  await backend.look(
    `WITH ${deletions.join("")} last AS (DELETE FROM payable WHERE id <> 'template') SELECT`,
  );
}

/** Those that have rows, or had. */
async function tablesOf(backend: Backend): Promise<readonly string[]> {
  const tables = await backend.look<{ name: string }>(
    `SELECT format('%I', tablename) AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'payable'
       AND pg_relation_size(format('public.%I', tablename)::regclass) > 0 ORDER BY tablename`,
  );
  return tables.map(({ name }) => name);
}

const opened = new Date("2026-08-11T09:30:00Z");
const template = {
  id: "template",
  kind: "resource",
  merchantId: "mer_simulated",
  merchantName: "Simulated",
  url: "https://shop.test/template",
  title: null,
  description: "What is sold in a simulation",
  mimeType: "application/json",
  price: { amount: 1_000_000n, asset: "USDC" },
  rails: [],
  maxTimeoutSeconds: 60,
  paymentFlow: "authorization",
  serviceName: null,
  tags: [],
  iconUrl: null,
  extensions: {},
  feeBps: 50,
  once: false,
  listed: false,
  closedAt: null,
  createdAt: opened,
  updatedAt: opened,
} as const;
