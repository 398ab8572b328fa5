/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */

const signs: Readonly<Record<string, string>> = { USDC: "$", USDG: "$", EURC: "€" };

/** A coin's face: for the eye only, its name stands beside it. */
export function Coin({ asset }: { readonly asset: string }) {
  return (
    <span class={`coin coin-${asset.toLowerCase().replace(/[^a-z0-9]/g, "")}`} aria-hidden="true">
      {signs[asset] ?? asset.slice(0, 1)}
    </span>
  );
}
