/** What an operator sets for outside parts. */

export const KEY = `0x${"1a".repeat(32)}`;
export const OTHER_KEY = `0x${"2B".repeat(32)}`;
export const TREASURY_KEY = `0x${"3C".repeat(32)}`;
export const TREASURY = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
export const TOKEN = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
export const chain = {
  slug: "local",
  chainId: 31337,
  rpcUrls: ["http://127.0.0.1:8545"],
  treasury: TREASURY,
  assets: [{ symbol: "USDC", contract: TOKEN }],
};
export const outside = {
  DATABASE_URL: "postgres://farebox:pass@db.example:5432/farebox",
  FAREBOX_CHAINS: JSON.stringify([chain]),
  FAREBOX_SIGNER_KEYS: KEY,
  FAREBOX_MASTER_SECRET: "a master secret that is long enough",
};

/** The one chain of `FAREBOX_CHAINS`, with a change. */
export const chains = (change: object) => JSON.stringify([{ ...chain, ...change }]);
