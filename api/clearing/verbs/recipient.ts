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
  { facilitator }: { readonly facilitator: Pick<Facilitator, "chains" | "outgoing"> },
  tx: Tx,
  { chain, recipient, pointer }: Named,
): Promise<void> {
  const served = facilitator.chains().find((each) => each.chain === chain);
  // Nothing is sent on a chain that is not served; what is decided about it waits.
  if (!served) return;
  // A token that is paused or refused keeps what is sent to it as any other.
  if (served.tokens.some(({ contract }) => addressOf(contract) === recipient))
    throw invalid(pointer, "an address that is no token's contract");
  if (await facilitator.outgoing.isOurs(tx, { chainId: served.chainId, recipient }))
    throw kernelFault("recipient_is_ours", { recipient: checksum(recipient), pointer });
}
