/** How people call a network, and where they look up its transactions. */
interface ChainFace {
  readonly name: string;
  /** Of a block explorer; null where there is none. */
  readonly explorer: string | null;
}

const faces: Readonly<Record<string, ChainFace>> = {
  base: { name: "Base", explorer: "https://basescan.org" },
  ethereum: { name: "Ethereum", explorer: "https://etherscan.io" },
  polygon: { name: "Polygon", explorer: "https://polygonscan.com" },
  arbitrum: { name: "Arbitrum", explorer: "https://arbiscan.io" },
  optimism: { name: "Optimism", explorer: "https://optimistic.etherscan.io" },
  avalanche: { name: "Avalanche", explorer: "https://snowtrace.io" },
  ink: { name: "Ink", explorer: "https://explorer.inkonchain.com" },
  "base-sepolia": { name: "Base Sepolia", explorer: "https://sepolia.basescan.org" },
  sepolia: { name: "Sepolia", explorer: "https://sepolia.etherscan.io" },
  local: { name: "Local chain", explorer: null },
};

export function chainName(slug: string): string {
  return faces[slug]?.name ?? slug;
}

/** Null where no explorer shows it. */
export function transactionUrl(slug: string | null, hash: string): string | null {
  const explorer = slug === null ? null : (faces[slug]?.explorer ?? null);
  return explorer && `${explorer}/tx/${hash}`;
}

export function explorerOf(slug: string): string {
  return faces[slug]?.explorer ?? "";
}
