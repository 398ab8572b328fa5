import type { RailFacts } from "#facilitator";
import { checksum } from "#kernel/bytes";
import type { OrderRail } from "./rail.ts";

/** The payer transfers to an address that is this order's alone; nothing else has to match. */
export const depositMatch: OrderRail = {
  path: "deposit-match",
  uri: (order, missing, { network }: RailFacts) => {
    const chainId = network.slice("eip155:".length);
    const [token, to] = [checksum(order.token), checksum(order.address)];
    return `ethereum:${token}@${chainId}/transfer?address=${to}&uint256=${missing}`;
  },
};
