import type { DevChain } from "../support/dev-chain.ts";

/** Runs `during` while transactions wait and no block comes; blocks come again however it ends. `release` ends it
 *  early. */
export async function whileBlocksAreHeld<T>(
  { anvil }: Pick<DevChain, "anvil">,
  during: (release: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const release = async () => {
    await anvil.rpc("evm_setAutomine", [true]);
    await anvil.mine(1);
  };
  await anvil.rpc("evm_setAutomine", [false]);
  try {
    return await during(release);
  } finally {
    await release();
  }
}
