/** Contracts that misbehave, put on the chain for the checks. */
import { type Abi, encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from "viem";
import { type Address, address, checksum } from "#kernel/bytes";
import { type Artifact, loadArtifacts } from "../../../contracts/index.ts";
import type { ControlledChain } from "./chain.ts";
import type { Offer } from "./payment.ts";

/** As `OddToken.Mode` counts them. */
export const odd = { honest: 0, keepsFee: 1, saysFalse: 3, liesTrue: 4, burnsGas: 6 } as const;
/** As `Wallet1271.Mode` counts them. */
export const wallets = { honest: 0, burnGas: 1, onlySimulated: 2 } as const;

export interface Props {
  /** The same offer, in a token that the caller brings. */
  oddOffer(offer: Offer, mode: keyof typeof odd, richPayer: Address): Promise<Offer>;
  wallet(owner: Address, mode: keyof typeof wallets): Promise<Address>;
  readonly oddToken: Address;
  readonly oddTokenAbi: Abi;
}

export async function deployProps(chain: ControlledChain, deployer: Address): Promise<Props> {
  const { oddToken: oddArtifact, wallet1271 } = await loadArtifacts();
  const deploy = async ({ abi, bytecode }: Artifact, args: readonly unknown[] = []): Promise<Address> => {
    const nonce = BigInt(await chain.ask<Hex>("eth_getTransactionCount", [deployer, "latest"]));
    await chain.transact(deployer, { data: encodeDeployData({ abi, bytecode, args }) });
    return address(getContractAddress({ from: deployer, nonce }));
  };
  const call = (to: Address, abi: Abi, functionName: string, args: readonly unknown[]) =>
    chain.transact(deployer, { to, data: encodeFunctionData({ abi, functionName, args }) });
  const oddToken = await deploy(oddArtifact);
  return {
    oddToken,
    oddTokenAbi: oddArtifact.abi,
    async oddOffer({ url, option }, mode, richPayer) {
      await call(oddToken, oddArtifact.abi, "mint", [richPayer, BigInt(option.amount) * 10n]);
      await call(oddToken, oddArtifact.abi, "setMode", [odd[mode]]);
      return {
        url,
        option: { ...option, asset: checksum(oddToken), extra: { name: "Odd Token", version: "1" } },
      };
    },
    async wallet(owner, mode) {
      const wallet = await deploy(wallet1271, [owner]);
      if (wallets[mode] !== 0) await call(wallet, wallet1271.abi, "setMode", [wallets[mode]]);
      return wallet;
    },
  };
}
