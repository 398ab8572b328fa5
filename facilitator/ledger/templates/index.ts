/** One named template per business event; nobody writes rows by hand. */
export * from "./gas.ts";
export * from "./opening.ts";
export * from "./outflow.ts";
export * from "./payout.ts";
export * from "./unmatched.ts";
export * from "./x402.ts";
