/** Until nothing waits for a block any more, and what lies on the chain then. */
import { tokens } from "../../simulation/world.ts";
import type { Shop } from "./shop.ts";

/** Far more than it takes. */
const MOST_TURNS = 240;

/** Blocks come until nothing waits for one. */
export async function comeToRest(shop: Shop): Promise<void> {
  for (let turns = 0; turns < MOST_TURNS; turns += 1) {
    await hurryWaiting(shop);
    shop.world.sim.mine();
    await shop.turn();
    if ((await moving(shop)).length === 0) return;
  }
  throw new Error(`it does not come to rest: ${(await moving(shop)).join("; ")}`);
}

/** Sweeps wait for payments to travel with, and what was reserved waits, too: by the database's clock, of which
 *  turns take the less the faster the machine is. */
async function hurryWaiting({ world }: Shop): Promise<void> {
  await world.database.query(
    "UPDATE claim SET created_at = created_at - interval '1 hour', taken_until = NULL WHERE state = 'claimed'",
  );
}

async function moving({ world }: Shop): Promise<readonly string[]> {
  const rows = await world.database.query<{ what: string }>(`
    SELECT kind || ' ' || id || ' is ' || state || ' after ' || attempts || ' attempts' AS what FROM claim
      WHERE state IN ('claimed','submitting','included')
    UNION ALL SELECT path || ' has pending money' FROM ledger_balance JOIN ledger_account ON id = account_id
      WHERE debits_pending <> 0 OR credits_pending <> 0
    UNION ALL SELECT 'slot ' || id || ' is open' FROM slot WHERE open
    UNION ALL SELECT 'fact ' || id || ' ' || type || ' is not told' FROM outbox WHERE delivered_at IS NULL`);
  return rows.map(({ what }) => what);
}

/** Of the treasury and of every deposit address. */
export async function heldOnChain({ world }: Shop, symbol: keyof typeof tokens): Promise<bigint> {
  const { sim, row, database } = world;
  const rows = await database.query<{ address: string }>(
    "SELECT '0x' || encode(address, 'hex') AS address FROM deposit_order WHERE path = 'deposit-match'",
  );
  const ours = [row.treasury, ...new Set(rows.map(({ address }) => address as typeof row.treasury))];
  return ours.reduce((sum, account) => sum + sim.balance(tokens[symbol], account), 0n);
}
