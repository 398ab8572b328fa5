/** A chain for one facilitator, made for the checks, and the node through which the facilitator sees it. */
import { address } from "#kernel/bytes";
import { type DevContracts, deployDevContracts } from "../../../src/dev/deploy.ts";
import { startAnvil } from "../../support/anvil.ts";
import { controlledChain } from "./chain.ts";
import { facilitatorAt } from "./client.ts";
import { type LyingNode, startLyingNode } from "./lying-node.ts";
import { newPayer, type Offer } from "./payment.ts";
import { deployProps } from "./props.ts";
import { openTrial, type Trial } from "./trial.ts";

export interface LocalChain {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly contracts: DevContracts;
  /** The way to the chain that the facilitator is given. */
  readonly node: LyingNode;
}

export interface LocalSubject {
  /** `verify`, `settle` and `supported` are found below it. */
  readonly baseUrl: string;
  readonly offer: Offer;
  /** Accounts that pay its gas. */
  readonly signers: readonly string[];
}

export async function startLocalChain(
  masterSecret: string,
): Promise<LocalChain & { readonly stop: () => Promise<void> }> {
  const anvil = await startAnvil();
  const { rpcUrl, chainId } = anvil;
  const contracts = await deployDevContracts({ rpcUrl, masterSecret });
  const node = await startLyingNode(rpcUrl);
  return {
    rpcUrl,
    chainId,
    contracts,
    node,
    async stop() {
      await node.stop();
      await anvil.stop();
    },
  };
}

export async function localTrial(
  { rpcUrl, contracts, node }: LocalChain,
  { baseUrl, offer, signers }: LocalSubject,
): Promise<Trial> {
  const chain = controlledChain(rpcUrl);
  return openTrial({
    chain,
    client: facilitatorAt(baseUrl),
    offer,
    signers,
    rich: newPayer(),
    tokenOwner: address(contracts.deployer.address),
    funder: null,
    props: await deployProps(chain, newPayer().address),
    node,
    canMoveClock: true,
  });
}
