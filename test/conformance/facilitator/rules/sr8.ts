import { encodeFunctionData, type Hex, parseAbi, toFunctionSelector } from "viem";
import { multicall3Address } from "../../../../src/dev/deploy.ts";
import { inPayload, stranger } from "../../bad-input/row.ts";
import { type Check, type Rule, verdictOf } from "../check.ts";
import { neverSent, refused, settled } from "../expect.ts";
import type { Trial } from "../trial.ts";
import { counterfactual } from "./sr2.ts";

const transfers = [
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
].map(toFunctionSelector);
const batch = toFunctionSelector("aggregate3((address,bool,bytes)[])");
const erc20 = parseAbi(["function transfer(address,uint256)", "function approve(address,uint256)"]);

/** Wallets that are not there, whose "factory" does something worth doing. */
const factories: readonly Check[] = (
  [
    ["token", "the token itself, with a transfer", (trial) => trial.offer.option.asset, "transfer"],
    ["allowance", "the token itself, with an approval", (trial) => trial.offer.option.asset, "approve"],
    ["batch", "the batching contract", () => multicall3Address, "transfer"],
    ["caller", "a contract that the caller brings", (trial) => trial.props.oddToken, "transfer"],
  ] as const satisfies readonly (readonly [
    string,
    string,
    (trial: Trial) => string,
    "transfer" | "approve",
  ])[]
).map(([name, does, factory, functionName]) => ({
  id: `SR8.factory.${name}`,
  does: `a wallet that is not deployed, whose factory is ${does}`,
  ...refused(async (trial) => {
    const good = await trial.payment({}, await trial.payer(BigInt(trial.offer.option.amount)));
    const data = encodeFunctionData({ abi: erc20, functionName, args: [stranger, 1n] });
    const { signature } = good.paymentPayload.payload;
    return inPayload({ signature: counterfactual(factory(trial) as Hex, data, signature as Hex) })(good);
  }),
}));

const callersToken: Check = {
  id: "SR8.asset",
  does: "a contract that the caller brings is named as the token",
  ...neverSent(async (trial) => {
    const offer = await trial.props.oddOffer(trial.offer, "honest", trial.rich.address);
    return trial.payment({}, trial.rich, offer);
  }),
};

interface Sent {
  readonly from: string;
  readonly to: string | null;
  readonly input: Hex;
  readonly value: Hex;
}

/** A transfer, a batch, or the empty transaction to oneself that fills a gap in an account's nonces. */
function isKnown({ from, to, input, value }: Sent, asset: string): boolean {
  const target = to?.toLowerCase();
  const selector = input.slice(0, 10) as Hex;
  if (BigInt(value) !== 0n) return false;
  if (target === asset) return transfers.includes(selector);
  if (target === multicall3Address.toLowerCase()) return selector === batch;
  return input === "0x" && target === from.toLowerCase();
}

/** Everything that was sent from the first check to this one, which is among the last. */
const shapes: Check = {
  id: "SR8.shapes",
  does: "every transaction that the facilitator sent during all checks",
  expects: "the token or the batching contract is called, by a known selector and without value",
  isLast: true,
  async run(trial) {
    const asset = trial.offer.option.asset.toLowerCase();
    const mined = await trial.chain.minedOf(trial.signers, trial.beganAt);
    const strange: string[] = [];
    for (const { transactionHash } of mined) {
      const sent = await trial.chain.ask<Sent>("eth_getTransactionByHash", [transactionHash]);
      if (!isKnown(sent, asset)) strange.push(`${sent.to ?? "a new contract"} ${sent.input.slice(0, 10)}`);
    }
    const kinds = [...new Set(strange)];
    return verdictOf(
      mined.length === 0 && "nothing was sent at all",
      kinds.length > 0 && `${strange.length} transaction(s) of another shape: ${kinds.join(", ")}`,
    );
  },
};

export const sr8: Rule = {
  id: "SR8",
  says: "only calls of known shapes are sent",
  checks: [
    { id: "SR8.good", does: "a payment without fault", ...settled((trial) => trial.payment()) },
    ...factories,
    callersToken,
    shapes,
  ],
};
