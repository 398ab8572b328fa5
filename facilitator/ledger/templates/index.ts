/** One named template per business event; nobody writes rows by hand. */
export * from "./clearing.ts";
export * from "./deposit.ts";
export * from "./gas.ts";
export * from "./opening.ts";
export * from "./outflow.ts";
export * from "./payout.ts";
export * from "./provider.ts";
export * from "./refund.ts";
export * from "./return.ts";
export * from "./sweep.ts";
export * from "./unmatched.ts";
export * from "./x402.ts";
