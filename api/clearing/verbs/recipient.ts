import type { Facilitator } from "#facilitator";
import { type Address, address as addressOf, checksum } from "#kernel/bytes";
import { fault as kernelFault } from "#kernel/fault";
import type { Tx } from "#store";
import { invalid } from "../../http/faults.ts";

interface Named {
  readonly chain: string;
  readonly recipient: Address;
  /** The field that named it. */
  readonly pointer: string;
}

/** Whether money may go there, be it a return, a refund or a payout. What is sent to a token's contract is lost, and what
 *  an address of ours is sent never left. Faults: `validation_failed`, `recipient_is_ours`. */
export async function checkRecipient(
  { facilitator }: { readonly facilitator: Pick<Facilitator, "rails" | "outgoing"> },
  tx: Tx,
  { chain, recipient, pointer }: Named,
): Promise<void> {
  const onChain = facilitator.rails().filter((rail) => rail.chain === chain);
  const [rail] = onChain;
  // Nothing is sent on a chain that is not served; what is decided about it waits.
  if (!rail) return;
  if (onChain.some(({ contract }) => addressOf(contract) === recipient))
    throw invalid(pointer, "an address that is no token's contract");
  if (await facilitator.outgoing.isOurs(tx, { chainId: rail.domain.chainId, recipient }))
    throw kernelFault("recipient_is_ours", { recipient: checksum(recipient), pointer });
}
