/** A facilitator that somebody else runs, on a chain that the runner controls. */
import { decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { address, checksum } from "#kernel/bytes";
import { controlledChain } from "./chain.ts";
import { facilitatorAt } from "./client.ts";
import type { Foreign } from "./options.ts";
import { newPayer, type Offer } from "./payment.ts";
import { deployProps } from "./props.ts";
import { openTrial, type Trial } from "./trial.ts";

const abi = parseAbi(["function name() view returns (string)", "function version() view returns (string)"]);

export async function foreignTrial(foreign: Foreign): Promise<Trial> {
  const chain = controlledChain(foreign.rpcUrl);
  const client = facilitatorAt(foreign.facilitator);
  const signers = [...(await client.signers()), ...foreign.signers];
  if (signers.length === 0) throw new Error("--signers is needed: supported names no gas account");
  return openTrial({
    chain,
    client,
    offer: await offerOf(foreign),
    signers,
    rich: newPayer(),
    tokenOwner: await chain.ownerOf(foreign.asset),
    funder: foreign.payerKey ? address(privateKeyToAccount(foreign.payerKey as Hex).address) : null,
    props: await deployProps(chain, newPayer().address),
    node: null,
    canMoveClock: foreign.canMoveClock,
  });
}

async function offerOf({ rpcUrl, asset, payTo, amount, resource }: Foreign): Promise<Offer> {
  const { ask } = controlledChain(rpcUrl);
  const read = async (functionName: "name" | "version") => {
    const data = encodeFunctionData({ abi, functionName });
    const answer = await ask<Hex>("eth_call", [{ to: asset, data }, "latest"]);
    return decodeFunctionResult({ abi, functionName, data: answer });
  };
  return {
    url: resource,
    option: {
      scheme: "exact",
      network: `eip155:${Number(await ask<Hex>("eth_chainId"))}`,
      amount,
      asset: checksum(address(asset)),
      payTo: checksum(address(payTo)),
      maxTimeoutSeconds: 300,
      extra: { name: await read("name"), version: await read("version") },
    },
  };
}
