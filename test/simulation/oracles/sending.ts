/** What leaves for the chain, and what is committed for it. */
import type { Backend } from "../parts/backend.ts";
import { type Block, branchOf, FINAL_AFTER, type Transaction } from "../parts/node.ts";
import type { Owner } from "../parts/scheduler.ts";
import { decodeTransfer, type Signatures, type Transfer } from "../parts/token.ts";
import { Violation } from "./violation.ts";

/** Every transaction of our lanes has an attempt that was committed before its bytes first left, and no item of it was
 *  hopeless for as long as a view may lag. */
export function sendingOracle(backend: Backend, signatures: Signatures) {
  const known = new Set<string>();
  return async (transaction: Transaction, lastRead: Block): Promise<void> => {
    if (known.has(transaction.hash)) return;
    const rows = await backend.look("SELECT seq FROM attempt WHERE tx_hash = decode($1, 'hex')", [
      transaction.hash.slice(2),
    ]);
    if (rows.length === 0)
      throw new Violation("committed-before-sent", `${transaction.hash} was sent and no attempt is stored`);
    const isFirst = rows[0]?.seq === 1;
    known.add(transaction.hash);
    for (const call of isFirst ? transaction.calls : []) {
      const transfer = decodeTransfer(call);
      if (transfer && isHopeless(transfer, lastRead, signatures))
        throw new Violation(
          "checked-before-signed",
          `a transfer of ${transfer.payer} that no view would pass was sent`,
        );
    }
  };
}

/** Refused at every block that a view could have shown when the process last looked. */
function isHopeless(transfer: Transfer, lastRead: Block, signatures: Signatures): boolean {
  let depth = 0;
  for (const { token, ref } of branchOf(lastRead)) {
    // What is too early may be in time for the next block.
    const refusal = token.refusal(transfer, ref.timestamp, signatures);
    if (refusal === null || refusal === "authorization-not-yet-valid") return false;
    depth += 1;
    if (depth > 2 * FINAL_AFTER) return true;
  }
  return false;
}

/** Only who holds a lane may take its nonces: asked at each commit that took one. */
export async function checkFence(
  backend: Backend,
  chainId: number,
  owner: Owner,
  statements: readonly string[],
): Promise<void> {
  if (!statements.some((text) => text.includes('INSERT INTO "slot"'))) return;
  const rows = await backend.look<{ nonce: number; holder: string }>(
    `SELECT slot.nonce, signer.lease_holder AS holder FROM slot JOIN signer ON signer.chain_id = slot.chain_id
       AND signer.address = slot.signer WHERE slot.chain_id = $1
       AND slot.created_at = (SELECT max(created_at) FROM slot WHERE chain_id = $1)`,
    [chainId],
  );
  const [last] = rows;
  // Two lanes may take theirs at one moment.
  if (last && rows.every(({ holder }) => holder !== owner.name))
    throw new Violation(
      "fence-holds",
      `${owner.name} took nonce ${last.nonce} of a lane that ${last.holder} holds`,
    );
}
