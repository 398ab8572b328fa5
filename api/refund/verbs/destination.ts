import type { Facilitator } from "#facilitator";
import { type Address, address as addressOf, checksum, parseAddress } from "#kernel/bytes";
import { fault as kernelFault } from "#kernel/fault";
import type { Tx } from "#store";
import { fault, invalid } from "../../http/faults.ts";

interface At {
  readonly chain: string;
  readonly asset: string;
  readonly pointer: string;
}

/** A merchant's word on where a refund goes. What is sent to a token's contract is lost, and what an address of ours is
 *  sent never left. Faults: `validation_failed`, `recipient_is_ours`, `rail_unsupported`. */
export async function checkDestination(
  { facilitator }: { readonly facilitator: Pick<Facilitator, "rails" | "outgoing"> },
  tx: Tx,
  named: string,
  { chain, asset, pointer }: At,
): Promise<Address> {
  const recipient = parseAddress(named);
  const onChain = facilitator.rails().filter((rail) => rail.chain === chain);
  const rail = onChain.find((each) => each.asset === asset);
  if (!rail) throw fault("rail_unsupported", { rail: `${asset}@${chain}` });
  if (!recipient || onChain.some(({ contract }) => addressOf(contract) === recipient))
    throw invalid(pointer, "an address, in mixed case with a right checksum, that is no token");
  if (await facilitator.outgoing.isOurs(tx, { chainId: rail.domain.chainId, recipient }))
    throw kernelFault("recipient_is_ours", { recipient: checksum(recipient), pointer });
  return recipient;
}
