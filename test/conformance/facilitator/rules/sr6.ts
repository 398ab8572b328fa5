import { setTimeout as sleep } from "node:timers/promises";
import type { Receipt } from "../chain.ts";
import { type Check, type Rule, verdictOf } from "../check.ts";
import { isSuccess, told } from "../client.ts";
import { ownPayment, refused } from "../expect.ts";
import { newPayer } from "../payment.ts";
import type { Trial } from "../trial.ts";

/** Several times what any known token takes for a transfer by authorization, batch overhead included. */
const gasCap = 500_000n;
/** A hundredth of an ether for one payment. */
const weiCap = 10n ** 16n;
const spikeGwei = 5_000n;
const spikeMs = 2_000;

const most = (values: readonly bigint[]) => [0n, ...values].sort((a, b) => (a < b ? -1 : 1)).at(-1) ?? 0n;
const cost = ({ gasUsed, effectiveGasPrice }: Receipt) => BigInt(gasUsed) * BigInt(effectiveGasPrice);
const gwei = (value: bigint) => `0x${(value * 10n ** 9n).toString(16)}`;

async function spent(trial: Trial, after: number) {
  const mined = await trial.chain.minedOf(trial.signers, after);
  return { gas: most(mined.map(({ gasUsed }) => BigInt(gasUsed))), wei: most(mined.map(cost)) };
}

const bounded: Check = {
  id: "SR6.payment",
  does: "a plain payment",
  expects: `it settles for at most ${gasCap.toLocaleString("en-US")} gas`,
  async run(trial) {
    const after = await trial.chain.head();
    const answer = await trial.client.settle(await ownPayment(trial));
    const { gas } = await spent(trial, after);
    return verdictOf(!isSuccess(answer) && `settle: ${told(answer)}`, gas > gasCap && `${gas} gas spent`);
  },
};

const burningToken: Check = {
  id: "SR6.token",
  does: "a token that the caller brings, which burns two million gas",
  expects: `refused, or at most ${gasCap.toLocaleString("en-US")} gas spent`,
  async run(trial) {
    const offer = await trial.props.oddOffer(trial.offer, "burnsGas", trial.rich.address);
    const body = await trial.payment({}, trial.rich, offer);
    const after = await trial.chain.head();
    const answer = await trial.client.settle(body);
    const { gas } = await spent(trial, after);
    return verdictOf(gas > gasCap && `settle: ${told(answer)}; ${gas} gas spent`);
  },
};

const burningWallet: Check = {
  id: "SR6.wallet",
  does: "a contract wallet that burns all gas it is given",
  ...refused(async (trial) => {
    const owner = newPayer();
    const wallet = await trial.props.wallet(owner.address, "burnGas");
    const amount = BigInt(trial.offer.option.amount);
    const funded = await trial.payer(amount);
    await trial.chain.transfer(funded.address, trial.offer.option.asset, wallet, amount);
    return trial.payment({ from: wallet }, owner);
  }),
};

const feeSpike: Check = {
  id: "SR6.fees",
  does: `the base fee rises to ${spikeGwei.toLocaleString("en-US")} gwei`,
  expects: "the payment waits or is refused; less than 0.01 ether is spent on it",
  async run(trial) {
    const { chain, client } = trial;
    const body = await ownPayment(trial);
    const after = await chain.head();
    await chain.ask("anvil_setNextBlockBaseFeePerGas", [gwei(spikeGwei)]);
    await chain.mine();
    await chain.ask("anvil_setNextBlockBaseFeePerGas", [gwei(spikeGwei)]);
    const settling = client.settle(body).catch(() => null);
    await Promise.race([settling, sleep(spikeMs)]);
    await chain.ask("anvil_setNextBlockBaseFeePerGas", [gwei(1n)]);
    await chain.mine();
    await settling;
    const { wei } = await spent(trial, after);
    return verdictOf(wei > weiCap && `${wei} wei spent on a payment`);
  },
};

export const sr6: Rule = {
  id: "SR6",
  says: "gas and fees are bounded",
  checks: [bounded, burningToken, burningWallet, feeSpike],
};
