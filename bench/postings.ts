/** How many payments the books take in a second: fifty in one transaction, next to one in each. Several at a time, all
 *  on the same accounts, as a busy merchant's are. `node --import tsx bench/postings.ts [--strict]`. */
import { parseArgs } from "node:util";
import { sha256 } from "#kernel/codec";
import { post, templates } from "#ledger";
import { type Database, openDatabase } from "#store";
import { openBenchPostgres, silent } from "./ground.ts";

const CLIENTS = 8;
const SECONDS = 3;
const ROUNDS = 3;
const BATCH = 50;
const AIM = 5;
const say = (line: string) => void process.stdout.write(`${line}\n`);

let made = 0;
function payment() {
  made += 1;
  return templates.x402Credited({
    claimKey: sha256(`bench payment ${made}`),
    epoch: 0,
    settlementId: `stl_${made}`,
    merchantId: "mer_bench",
    asset: "USDC@base",
    gross: 10_000n,
    fee: 50n,
    blockNumber: made,
  });
}

/** Payments posted in a second by clients that post `size` in each transaction. */
async function rate(db: Database, size: number): Promise<number> {
  const began = performance.now();
  const until = began + SECONDS * 1_000;
  let posted = 0;
  const client = async () => {
    while (performance.now() < until) {
      const entries = Array.from({ length: size }, payment);
      await db.tx((tx) => post(tx, entries));
      posted += size;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return posted / ((performance.now() - began) / 1_000);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { strict: { type: "boolean", default: false } } });
  const server = await openBenchPostgres();
  try {
    const url = await server.database("postings");
    const db = openDatabase({
      url,
      log: silent,
      name: "bench",
      maxConnections: CLIENTS,
      role: "farebox_app",
    });
    await rate(db, BATCH);
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const [single, batched] = [await rate(db, 1), await rate(db, BATCH)];
      ratios.push(batched / single);
      say(`payments per second: ${single.toFixed(0)} one by one, ${batched.toFixed(0)} by ${BATCH}`);
    }
    await db.close();
    const ratio = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
    say(`\nposting in batches of ${BATCH}: ${ratio.toFixed(1)} times as many; aim at least ${AIM}`);
    if (values.strict && ratio < AIM) process.exitCode = 1;
  } finally {
    await server.stop();
  }
}

await main();
