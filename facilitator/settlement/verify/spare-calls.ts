import { fault } from "#kernel/fault";
import type { Chain } from "../../chain/port.ts";
import type { Engine } from "../engine.ts";

/** To be asked before each call of a chain that serves a payment's first look. Fault: `rate_limited`. */
export type DemandCalls = (chain: Chain) => void;

/** Of settle, whose payment follows: it is never held back. */
export const anyCalls: DemandCalls = () => {};

/** Of verify, which may be asked by anybody, and for nothing: what its endpoints take in a second is not used up by it. */
export function spareCalls({ meter }: Pick<Engine, "meter">): DemandCalls {
  return ({ row: { slug }, hasSpareCalls }) => {
    if (hasSpareCalls()) return;
    meter.count("rpc_refusals", { chain: slug });
    const why = `the endpoints of ${slug} are asked as often as they may be`;
    throw fault("rate_limited", { why, retryAfterSeconds: 1 });
  };
}
