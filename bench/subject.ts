/** A server that is measured, and the ground both stand on. */
import type { DevContracts } from "../src/dev/deploy.ts";
import type { Child } from "./child.ts";
import type { Name } from "./options.ts";
import type { Offer } from "./payments.ts";

export interface Ground {
  readonly dataDir: string;
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly blockTimeSeconds: number;
  readonly databaseUrl: string;
  readonly masterSecret: string;
  readonly contracts: DevContracts;
}

export interface Subject {
  readonly name: Name;
  readonly child: Child;
  readonly baseUrl: string;
  readonly verifyPath: string;
  readonly settlePath: string;
  /** Addresses that pay its gas. */
  readonly signers: readonly string[];
  readonly offer: Offer;
}
