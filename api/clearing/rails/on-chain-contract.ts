import type { OrderRail } from "./rail.ts";

/** The payer calls our router with the signed order, which moves exactly its amount or nothing. */
export const onChainContract: OrderRail = {
  path: "on-chain-contract",
  uri: () => null,
};
