import type { ExecutionPath } from "../../rate/schema.ts";
import { depositMatch } from "./deposit-match.ts";
import { onChainContract } from "./on-chain-contract.ts";
import type { OrderRail } from "./rail.ts";

/** Null for `x402`: there the authorization is all there is. */
const rails: Readonly<Record<ExecutionPath, OrderRail | null>> = {
  "deposit-match": depositMatch,
  "on-chain-contract": onChainContract,
  x402: null,
};

export function orderRail(path: ExecutionPath): OrderRail | null {
  return rails[path];
}
