import { sharedDatabase } from "../support/db.ts";
import { type Ended, farebox } from "./service.ts";

export const MASTER_SECRET = "the master secret of the command line";

/** The command line as an operator has it, on a database of the file's own. */
export function commandLine() {
  const database = sharedDatabase();
  const chain = {
    slug: "local",
    chainId: 31337,
    rpcUrls: ["http://127.0.0.1:1"], // nothing here asks the chain
    treasury: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
    assets: [{ symbol: "USDC", contract: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" }],
  };
  const settings = (): Record<string, string> => ({
    DATABASE_URL: database.url,
    FAREBOX_CHAINS: JSON.stringify([chain]),
    FAREBOX_SIGNER_KEYS: `0x${"1a".repeat(32)}`,
    FAREBOX_MASTER_SECRET: MASTER_SECRET,
  });
  return {
    database,
    settings,
    run: (...args: readonly string[]) => farebox(settings(), ...args),
  };
}

/** Its lines. */
export const shown = ({ stdout }: Ended) => stdout.trimEnd().split("\n");
