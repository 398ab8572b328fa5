/** What payers, token owners and strangers do on the chain. */
import { encodeFunctionData, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Body } from "../bad-input/row.ts";
import { domainOf, type Payer } from "./payment.ts";
import type { Trial } from "./trial.ts";

const abi = parseAbi([
  "function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
  "function cancelAuthorization(address,bytes32,bytes)",
  "function pause()",
  "function unpause()",
  "function block(address)",
  "function unblock(address)",
]);
/** An account that the runner borrows; it has nothing to do with either side. */
const bystander = "0x00000000000000000000000000000000000b157a";

/** The call that uses a payer's authorization, as anybody may send it. */
function authorizationCall({ paymentPayload }: Body) {
  const { authorization, signature } = paymentPayload.payload;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const times = [BigInt(validAfter), BigInt(validBefore)] as const;
  return encodeFunctionData({
    abi,
    functionName: "transferWithAuthorization",
    args: [from as never, to as never, BigInt(value), ...times, nonce as never, signature as never],
  });
}

export function submitAuthorization({ chain, offer }: Trial, body: Body) {
  return chain.transact(bystander, { to: offer.option.asset, data: authorizationCall(body) });
}

/** The same, ahead of what waits already: with a higher tip, and without waiting for a block. */
export async function overtake({ chain, offer }: Trial, body: Body): Promise<void> {
  await chain.ask("anvil_impersonateAccount", [bystander]);
  await chain.ask("anvil_setBalance", [bystander, "0x8ac7230489e80000"]);
  const fees = { maxFeePerGas: "0x174876e800", maxPriorityFeePerGas: "0x174876e800", gas: "0x4c4b40" };
  const call = { from: bystander, to: offer.option.asset, data: authorizationCall(body) };
  await chain.ask("eth_sendTransaction", [{ ...call, ...fees }]);
}

export async function cancel({ chain, offer }: Trial, payer: Payer, body: Body): Promise<void> {
  const { nonce } = body.paymentPayload.payload.authorization;
  const signature = await privateKeyToAccount(payer.key).signTypedData({
    domain: domainOf(offer.option),
    types: {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    primaryType: "CancelAuthorization",
    message: { authorizer: payer.address, nonce: nonce as never },
  });
  const args = [payer.address, nonce as never, signature] as const;
  const data = encodeFunctionData({ abi, functionName: "cancelAuthorization", args });
  await chain.transact(bystander, { to: offer.option.asset, data });
}

/** As the token's owner. */
export async function administer(
  { chain, offer, tokenOwner }: Trial,
  functionName: "pause" | "unpause" | "block" | "unblock",
  account?: string,
): Promise<void> {
  if (!tokenOwner) throw new Error("nobody owns the token");
  const args = account === undefined ? [] : [account as never];
  await chain.transact(tokenOwner, {
    to: offer.option.asset,
    data: encodeFunctionData({ abi, functionName, args } as never),
  });
}
