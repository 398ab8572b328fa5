import type { Facilitator } from "#facilitator";
import { type Address, address } from "#kernel/bytes";
import { fault } from "../../http/faults.ts";

/** What a refund is paid in. A paused token is as good as another: an order waits in the queue, which knows when it is
 *  taken again. Fault: `rail_unsupported`, where it is no longer served. */
export function tokenOf(
  facilitator: Pick<Facilitator, "chains">,
  { chain, asset }: { readonly chain: string; readonly asset: string },
): { readonly chainId: number; readonly token: Address } {
  const served = facilitator.chains().find((each) => each.chain === chain);
  const token = served?.tokens.find((each) => each.asset === asset);
  if (!served || !token) throw fault("rail_unsupported", { rail: `${asset}@${chain}` });
  return { chainId: served.chainId, token: address(token.contract) };
}
