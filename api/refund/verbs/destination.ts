import type { Facilitator } from "#facilitator";
import { type Address, address as addressOf, parseAddress } from "#kernel/bytes";
import { fault } from "../../http/faults.ts";

/** A merchant's word on where a refund goes. What is sent to a token's contract is lost, and what the treasury or the
 *  router is sent never leaves the house. Fault: `validation_failed` at `pointer`. */
export function checkDestination(
  facilitator: Pick<Facilitator, "rails">,
  named: string,
  { chain, pointer }: { readonly chain: string; readonly pointer: string },
): Address {
  const given = parseAddress(named);
  const taken = facilitator
    .rails()
    .filter((rail) => rail.chain === chain)
    .flatMap(({ contract, payTo, router }) => [contract, payTo, ...(router ? [router] : [])]);
  if (!given || taken.map(addressOf).includes(given)) throw fault("validation_failed", { pointer });
  return given;
}
