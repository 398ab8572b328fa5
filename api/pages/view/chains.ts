/** How people call a network. */
const names: Readonly<Record<string, string>> = {
  base: "Base",
  ethereum: "Ethereum",
  polygon: "Polygon",
  arbitrum: "Arbitrum",
  optimism: "Optimism",
  avalanche: "Avalanche",
  ink: "Ink",
  robinhood: "Robinhood Chain",
  "base-sepolia": "Base Sepolia",
  sepolia: "Sepolia",
  local: "Local chain",
};

export function chainName(slug: string): string {
  return names[slug] ?? slug;
}
